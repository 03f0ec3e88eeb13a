//! Requests of Kafka clients, decoded by hand: the wire crate allocates by counts from the wire.
//!
//! Source of the layouts: Kafka's message definitions, as its protocol guide prints them.

use bytes::Bytes;
use thiserror::Error;

use super::admin::{
    delete_topics, describe_cluster, describe_configs, describe_log_dirs, elect_leaders,
    incremental_alter_configs,
};
use super::api::Api;
use super::reader::{Reader, WireError};
use crate::core::ids::{TopicId, TopicPartition};
use crate::core::messages::ClientRequest;
use crate::core::messages::client::{
    CreateTopicsRequest, EpochQuery, ListOffset, MetadataRequest, NewTopic, ProduceRequest,
    TopicRef,
};
use crate::core::messages::fetch::{FetchPartition, FetchRequest};

/// Bytes of one fetch response at the most (fetch.max.bytes of the broker).
const FETCH_BYTES_MAX: u32 = 16 << 20;

/// A request as it goes to the core, or what the shell answers by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Decoded {
    /// For the core.
    Core(ClientRequest),
    /// Which APIs are served?
    ApiVersions,
    /// Where is the coordinator of these keys? Nowhere.
    FindCoordinator(Vec<String>),
    /// A fetch within a session; none are kept.
    UnknownFetchSession,
    /// InitProducerId with a transactional id; transactions are not served.
    Transactional,
    /// Produce in a version of before record batches.
    AncientProduce,
}

/// The header of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which API.
    pub api: Api,
    /// In which version.
    pub version: i16,
    /// Repeated in the answer.
    pub correlation_id: i32,
}

/// Why a request cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// An API that is not served.
    #[error("API key {0} is not served")]
    UnknownApi(i16),
    /// A version that is not served.
    #[error("version {version} of {api:?} is not served")]
    UnknownVersion {
        /// Which API.
        api: Api,
        /// Which version.
        version: i16,
        /// Repeated in the answer.
        correlation_id: i32,
    },
    /// Bytes that are no message.
    #[error("{api:?} version {version}: {source}")]
    Malformed {
        /// Which API.
        api: Api,
        /// Which version.
        version: i16,
        /// What is wrong.
        source: WireError,
    },
    /// Not even a header.
    #[error("no request header: {0}")]
    Header(WireError),
}

/// Resolves a topic id; an unknown one gives an empty name, which the core refuses.
pub type NameOf<'a> = &'a dyn Fn(TopicId) -> Option<std::sync::Arc<str>>;

/// Reads one request.
///
/// # Errors
/// Where it is not one, or not one that is served.
pub fn request(frame: Bytes, name_of: NameOf<'_>) -> Result<(Header, Decoded), DecodeError> {
    let mut reader = Reader::new(frame, false);
    let (key, version, correlation_id) = header_start(&mut reader).map_err(DecodeError::Header)?;
    let api = Api::from_key(key).ok_or(DecodeError::UnknownApi(key))?;
    if !api.serves(version) {
        return Err(DecodeError::UnknownVersion {
            api,
            version,
            correlation_id,
        });
    }
    let header = Header {
        api,
        version,
        correlation_id,
    };
    let body =
        rest(&mut reader, api, version, name_of).map_err(|source| DecodeError::Malformed {
            api,
            version,
            source,
        })?;
    Ok((header, body))
}

fn header_start(reader: &mut Reader) -> Result<(i16, i16, i32), WireError> {
    let key = reader.i16("the API key")?;
    let version = reader.i16("the API version")?;
    Ok((key, version, reader.i32("the correlation id")?))
}

fn rest(
    reader: &mut Reader,
    api: Api,
    version: i16,
    name_of: NameOf<'_>,
) -> Result<Decoded, WireError> {
    // The client id keeps its classic length in a flexible header too.
    reader.nullable_string("the client id")?;
    reader.set_flexible(api.is_flexible(version));
    reader.tags()?;
    match api {
        // The body names the client's software; nothing in it matters, whatever its version.
        Api::ApiVersions => Ok(Decoded::ApiVersions),
        Api::Produce if version < 3 => Ok(Decoded::AncientProduce),
        Api::Produce => produce(reader),
        Api::Fetch => fetch(reader, version, name_of),
        Api::ListOffsets => list_offsets(reader, version),
        Api::Metadata => metadata(reader, version),
        Api::FindCoordinator => find_coordinator(reader, version),
        Api::CreateTopics => create_topics(reader),
        Api::InitProducerId => init_producer_id(reader),
        Api::OffsetForLeaderEpoch => epoch_ends(reader, version),
        admin => of_operators(reader, admin, version),
    }
}

fn of_operators(reader: &mut Reader, api: Api, version: i16) -> Result<Decoded, WireError> {
    let request = match api {
        Api::DeleteTopics => {
            delete_topics::decode(reader, version).map(ClientRequest::DeleteTopics)
        }
        Api::DescribeConfigs => {
            describe_configs::decode(reader, version).map(ClientRequest::DescribeConfigs)
        }
        Api::DescribeLogDirs => {
            describe_log_dirs::decode(reader).map(ClientRequest::DescribeLogDirs)
        }
        Api::ElectLeaders => {
            elect_leaders::decode(reader, version).map(ClientRequest::ElectLeaders)
        }
        Api::IncrementalAlterConfigs => {
            incremental_alter_configs::decode(reader).map(ClientRequest::AlterConfigs)
        }
        _ => describe_cluster::decode(reader, version).map(ClientRequest::DescribeCluster),
    };
    request.map(Decoded::Core)
}

/// Reads `topic -> [partition]` and gives the partitions in one list.
fn by_partition<T>(
    reader: &mut Reader,
    mut partition: impl FnMut(&mut Reader, &str) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    let topics = reader.array("topics", |reader| {
        let topic = reader.string("a topic's name")?;
        let partitions = reader.array("partitions", |reader| partition(reader, &topic))?;
        reader.tags()?;
        Ok(partitions)
    })?;
    Ok(topics.into_iter().flatten().collect())
}

fn produce(reader: &mut Reader) -> Result<Decoded, WireError> {
    reader.nullable_string("the transactional id")?;
    let acks = reader.i16("acks")?;
    let timeout_ms = millis(reader.i32("the time-out")?);
    let partitions = by_partition(reader, |reader, topic| {
        let index = reader.i32("a partition")?;
        let records = reader.nullable_bytes("records")?.unwrap_or_default();
        reader.tags()?;
        Ok((TopicPartition::new(topic, index), records))
    })?;
    reader.tags()?;
    Ok(Decoded::Core(ClientRequest::Produce(ProduceRequest {
        acks,
        timeout_ms,
        partitions,
    })))
}

fn fetch(reader: &mut Reader, version: i16, name_of: NameOf<'_>) -> Result<Decoded, WireError> {
    if version <= 14 {
        reader.i32("the replica id")?;
    }
    let max_wait_ms = millis(reader.i32("the longest wait")?);
    reader.i32("the least bytes")?;
    let max_bytes = bytes(reader.i32("the most bytes")?).min(FETCH_BYTES_MAX);
    reader.i8("the isolation level")?;
    let mut session = 0;
    if version >= 7 {
        session = reader.i32("the session")?;
        reader.i32("the session's epoch")?;
    }
    let topics = reader.array("topics", |reader| fetch_topic(reader, version, name_of))?;
    // Forgotten topics, rack and tagged fields follow; they belong to sessions and placement.
    if session != 0 {
        return Ok(Decoded::UnknownFetchSession);
    }
    Ok(Decoded::Core(ClientRequest::Fetch(FetchRequest {
        follower: None,
        any_replica: version >= 11,
        max_wait_ms,
        max_bytes,
        partitions: topics.into_iter().flatten().collect(),
    })))
}

fn fetch_topic(
    reader: &mut Reader,
    version: i16,
    name_of: NameOf<'_>,
) -> Result<Vec<FetchPartition>, WireError> {
    let (topic, topic_id) = if version >= 13 {
        let id = reader.u128("a topic's id")?;
        (name_of(id).unwrap_or_else(|| "".into()), id)
    } else {
        (reader.string("a topic's name")?.into(), 0)
    };
    let partitions = reader.array("partitions", |reader| {
        let partition = reader.i32("a partition")?;
        let mut want = FetchPartition {
            tp: TopicPartition {
                topic: std::sync::Arc::clone(&topic),
                partition,
            },
            topic_id,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            max_bytes: 0,
            high_watermark: -1,
        };
        if version >= 9 {
            want.current_leader_epoch = reader.i32("the leader's epoch")?;
        }
        want.fetch_offset = reader.i64("an offset")?;
        if version >= 12 {
            reader.i32("the last fetched epoch")?;
        }
        if version >= 5 {
            reader.i64("the log's start")?;
        }
        want.max_bytes = bytes(reader.i32("the most bytes")?);
        reader.tags()?;
        Ok(want)
    })?;
    reader.tags()?;
    Ok(partitions)
}

fn list_offsets(reader: &mut Reader, version: i16) -> Result<Decoded, WireError> {
    reader.i32("the replica id")?;
    if version >= 2 {
        reader.i8("the isolation level")?;
    }
    let wants = by_partition(reader, |reader, topic| {
        let index = reader.i32("a partition")?;
        let current_leader_epoch = match version {
            4.. => reader.i32("the leader's epoch")?,
            _ => -1,
        };
        let timestamp = reader.i64("a timestamp")?;
        reader.tags()?;
        Ok(ListOffset {
            tp: TopicPartition::new(topic, index),
            current_leader_epoch,
            timestamp,
        })
    })?;
    Ok(Decoded::Core(ClientRequest::ListOffsets(wants)))
}

fn metadata(reader: &mut Reader, version: i16) -> Result<Decoded, WireError> {
    let topics = reader.nullable_array("topics", |reader| {
        let id = match version {
            10.. => reader.u128("a topic's id")?,
            _ => 0,
        };
        let name = reader.nullable_string("a topic's name")?;
        reader.tags()?;
        Ok(match name {
            Some(name) => TopicRef::Name(name),
            None => TopicRef::Id(id),
        })
    })?;
    // In version 0 an empty list stands for all topics; later null does.
    let topics = topics.filter(|topics| version > 0 || !topics.is_empty());
    let allow_auto_create = match version {
        4.. => reader.bool("whether topics may be created")?,
        _ => true,
    };
    Ok(Decoded::Core(ClientRequest::Metadata(MetadataRequest {
        topics,
        allow_auto_create,
    })))
}

fn find_coordinator(reader: &mut Reader, version: i16) -> Result<Decoded, WireError> {
    if version < 4 {
        return Ok(Decoded::FindCoordinator(vec![reader.string("a key")?]));
    }
    reader.i8("the kind of key")?;
    let keys = reader.array("keys", |reader| reader.string("a key"))?;
    Ok(Decoded::FindCoordinator(keys))
}

fn create_topics(reader: &mut Reader) -> Result<Decoded, WireError> {
    let topics = reader.array("topics", |reader| {
        let topic = NewTopic {
            name: reader.string("a topic's name")?,
            partitions: reader.i32("the partitions")?,
            replication_factor: reader.i16("the replication factor")?,
            assignments: reader.array("assignments", |reader| {
                let index = reader.i32("a partition")?;
                let nodes = reader.array("brokers", |reader| reader.i32("a broker"))?;
                reader.tags()?;
                Ok((index, nodes))
            })?,
            configs: reader.array("configs", |reader| {
                let name = reader.string("a config's name")?;
                let value = reader.nullable_string("a config's value")?;
                reader.tags()?;
                Ok((name, value))
            })?,
        };
        reader.tags()?;
        Ok(topic)
    })?;
    let timeout_ms = millis(reader.i32("the time-out")?);
    let validate_only = reader.bool("whether only to validate")?;
    Ok(Decoded::Core(ClientRequest::CreateTopics(
        CreateTopicsRequest {
            topics,
            validate_only,
            timeout_ms,
        },
    )))
}

fn init_producer_id(reader: &mut Reader) -> Result<Decoded, WireError> {
    match reader.nullable_string("the transactional id")? {
        Some(_) => Ok(Decoded::Transactional),
        None => Ok(Decoded::Core(ClientRequest::InitProducerId)),
    }
}

fn epoch_ends(reader: &mut Reader, version: i16) -> Result<Decoded, WireError> {
    if version >= 3 {
        reader.i32("the replica id")?;
    }
    let queries = by_partition(reader, |reader, topic| {
        let query = EpochQuery {
            tp: TopicPartition::new(topic, reader.i32("a partition")?),
            current_leader_epoch: reader.i32("the leader's epoch")?,
            leader_epoch: reader.i32("an epoch")?,
        };
        reader.tags()?;
        Ok(query)
    })?;
    Ok(Decoded::Core(ClientRequest::OffsetForLeaderEpoch(queries)))
}

pub(super) fn millis(raw: i32) -> u64 {
    u64::try_from(raw).unwrap_or(0)
}

fn bytes(raw: i32) -> u32 {
    u32::try_from(raw).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::*;
    use kafka_protocol::protocol::{Encodable, StrBytes};
    use proptest::prelude::*;

    use super::*;

    fn frame(key: ApiKey, version: i16, body: &impl Encodable) -> Bytes {
        let mut bytes = bytes::BytesMut::new();
        RequestHeader::default()
            .with_request_api_key(key as i16)
            .with_request_api_version(version)
            .with_correlation_id(5)
            .with_client_id(Some(StrBytes::from_static_str("test")))
            .encode(&mut bytes, key.request_header_version(version))
            .unwrap();
        body.encode(&mut bytes, version).unwrap();
        bytes.freeze()
    }

    fn none(_: TopicId) -> Option<std::sync::Arc<str>> {
        None
    }

    #[test]
    fn every_version_of_produce_that_a_client_encodes_is_read_alike() {
        let body = kafka_protocol::messages::ProduceRequest::default()
            .with_acks(-1)
            .with_timeout_ms(700)
            .with_topic_data(vec![
                produce_request::TopicProduceData::default()
                    .with_name(TopicName(StrBytes::from_static_str("log")))
                    .with_partition_data(vec![
                        produce_request::PartitionProduceData::default()
                            .with_index(3)
                            .with_records(Some(Bytes::from_static(b"batch"))),
                    ]),
            ]);
        for version in 3..=12 {
            let (header, decoded) = request(frame(ApiKey::Produce, version, &body), &none).unwrap();
            let Decoded::Core(ClientRequest::Produce(produce)) = decoded else {
                panic!("version {version}: {decoded:?}");
            };
            assert_eq!((header.version, header.correlation_id), (version, 5));
            assert_eq!((produce.acks, produce.timeout_ms), (-1, 700));
            let partition = (TopicPartition::new("log", 3), Bytes::from_static(b"batch"));
            assert_eq!(produce.partitions, vec![partition]);
        }
    }

    #[test]
    fn every_version_of_fetch_and_metadata_that_a_client_encodes_is_read() {
        for version in 4..=17 {
            let topic = fetch_request::FetchTopic::default().with_partitions(vec![
                fetch_request::FetchPartition::default()
                    .with_partition(1)
                    .with_fetch_offset(42)
                    .with_partition_max_bytes(1000),
            ]);
            let topic = match version {
                13.. => topic.with_topic_id(uuid::Uuid::from_u128(9)),
                _ => topic.with_topic(TopicName(StrBytes::from_static_str("log"))),
            };
            let body = kafka_protocol::messages::FetchRequest::default()
                .with_max_bytes(5000)
                .with_topics(vec![topic]);
            let name_of = |id: TopicId| (id == 9).then(|| "log".into());
            let decoded = request(frame(ApiKey::Fetch, version, &body), &name_of)
                .unwrap()
                .1;
            let Decoded::Core(ClientRequest::Fetch(fetch)) = decoded else {
                panic!("version {version}: {decoded:?}");
            };
            assert_eq!(fetch.partitions[0].tp, TopicPartition::new("log", 1));
            assert_eq!(fetch.partitions[0].fetch_offset, 42);
            assert_eq!(fetch.any_replica, version >= 11);
        }
        for version in 0..=13 {
            let body =
                kafka_protocol::messages::MetadataRequest::default().with_topics(Some(vec![
                    metadata_request::MetadataRequestTopic::default()
                        .with_name(Some(TopicName(StrBytes::from_static_str("log")))),
                ]));
            let decoded = request(frame(ApiKey::Metadata, version, &body), &none)
                .unwrap()
                .1;
            let Decoded::Core(ClientRequest::Metadata(metadata)) = decoded else {
                panic!("version {version}: {decoded:?}");
            };
            assert_eq!(
                metadata.topics,
                Some(vec![TopicRef::Name("log".to_owned())])
            );
        }
    }

    #[test]
    fn a_metadata_request_of_two_billion_topics_is_refused() {
        let bytes = [0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff];
        let error = request(Bytes::copy_from_slice(&bytes), &none).unwrap_err();
        assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn random_bytes_behind_any_header_never_panic(
            key in proptest::sample::select(Api::served().map(|(key, _, _)| key).collect::<Vec<_>>()),
            version in 0_i16..18,
            tail in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut bytes = Vec::new();
            bytes.extend_from_slice(&key.to_be_bytes());
            bytes.extend_from_slice(&version.to_be_bytes());
            bytes.extend_from_slice(&[0, 0, 0, 1, 0xff, 0xff]);
            bytes.extend_from_slice(&tail);
            let _ = request(Bytes::from(bytes), &none);
        }
    }
}
