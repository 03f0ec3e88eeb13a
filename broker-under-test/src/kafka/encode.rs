//! Responses to Kafka clients, encoded by the wire crate from the core's typed answers.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};
use kafka_protocol::messages::{
    ApiVersionsResponse, BrokerId, CreateTopicsResponse, FetchResponse, FindCoordinatorResponse,
    InitProducerIdResponse, ListOffsetsResponse, MetadataResponse, OffsetForLeaderEpochResponse,
    ProduceResponse, ProducerId, TopicName, api_versions_response, create_topics_response,
    fetch_response, find_coordinator_response, list_offsets_response, metadata_response,
    offset_for_leader_epoch_response, produce_response,
};
use kafka_protocol::protocol::{Encodable, StrBytes};
use thiserror::Error;
use uuid::Uuid;

use super::admin::{
    delete_topics, describe_cluster, describe_configs, describe_log_dirs, elect_leaders,
    incremental_alter_configs,
};
use super::api::Api;
use super::decode::Header;
use crate::core::errors::ErrorCode;
use crate::core::messages::ClientResponse;
use crate::core::messages::client as typed;
use crate::core::messages::fetch::FetchedPartition;

/// What clients are told the cluster is called.
pub(super) const CLUSTER_ID: &str = "plimsoll";

/// An answer that the wire format cannot hold; a bug of ours.
#[derive(Debug, Error)]
#[error("the answer to {api:?} version {version} cannot be encoded: {reason}")]
pub struct EncodeError {
    api: Api,
    version: i16,
    reason: String,
}

type Encoded = Result<Bytes, EncodeError>;

/// The answer to a request that came with `header`, length included.
///
/// # Errors
/// Where the answer does not fit the request's API or version.
pub fn response(header: &Header, response: ClientResponse) -> Encoded {
    match response {
        ClientResponse::Produce(results) => frame(header, &produce(results)),
        ClientResponse::Fetch(answer) => {
            frame(header, &fetch(header.version, answer.partitions, 0))
        }
        ClientResponse::ListOffsets(results) => {
            frame(header, &list_offsets(header.version, results))
        }
        ClientResponse::Metadata(answer) => frame(header, &metadata(header.version, answer)),
        ClientResponse::CreateTopics(results) => frame(header, &create_topics(results)),
        ClientResponse::InitProducerId {
            error,
            producer_id,
            producer_epoch,
        } => frame(
            header,
            &init_producer_id(error, producer_id, producer_epoch),
        ),
        ClientResponse::OffsetForLeaderEpoch(answers) => frame(header, &epoch_ends(answers)),
        ClientResponse::DeleteTopics(results) => {
            frame(header, &delete_topics::encode(header.version, results))
        }
        ClientResponse::DescribeConfigs(results) => {
            frame(header, &describe_configs::encode(header.version, results))
        }
        ClientResponse::DescribeLogDirs(answer) => {
            frame(header, &describe_log_dirs::encode(answer))
        }
        ClientResponse::ElectLeaders(answer) => {
            frame(header, &elect_leaders::encode(header.version, answer))
        }
        ClientResponse::AlterConfigs(results) => {
            frame(header, &incremental_alter_configs::encode(results))
        }
        ClientResponse::DescribeCluster(answer) => {
            frame(header, &describe_cluster::encode(header.version, answer))
        }
    }
}

/// Refuses a fetch within a session that is not known here.
///
/// # Errors
/// As [`response`].
pub fn unknown_fetch_session(header: &Header) -> Encoded {
    let code = ErrorCode::FETCH_SESSION_ID_NOT_FOUND.0;
    frame(header, &fetch(header.version, Vec::new(), code))
}

/// Says that no key has a coordinator here.
///
/// # Errors
/// As [`response`].
pub fn no_coordinator(header: &Header, keys: Vec<String>) -> Encoded {
    let code = ErrorCode::COORDINATOR_NOT_AVAILABLE.0;
    let message = Some(text("consumer groups are not served".to_owned()));
    let mut body = FindCoordinatorResponse::default();
    if header.version >= 4 {
        body.coordinators = keys
            .into_iter()
            .map(|key| {
                find_coordinator_response::Coordinator::default()
                    .with_key(text(key))
                    .with_node_id(BrokerId(-1))
                    .with_port(-1)
                    .with_error_code(code)
                    .with_error_message(message.clone())
            })
            .collect();
    } else {
        body = body
            .with_error_code(code)
            .with_node_id(BrokerId(-1))
            .with_port(-1);
        if header.version >= 1 {
            body = body.with_error_message(message);
        }
    }
    frame(header, &body)
}

/// Lists what is served. A request in an unknown version is answered in version 0, with the error
/// that makes the client ask again (KIP-511).
///
/// # Errors
/// As [`response`].
pub fn api_versions(version: i16, correlation_id: i32) -> Encoded {
    let known = Api::ApiVersions.serves(version);
    let header = Header {
        api: Api::ApiVersions,
        version: if known { version } else { 0 },
        correlation_id,
    };
    let error = if known {
        ErrorCode::NONE
    } else {
        ErrorCode::UNSUPPORTED_VERSION
    };
    let keys = Api::served().map(|(key, min, max)| {
        api_versions_response::ApiVersion::default()
            .with_api_key(key)
            .with_min_version(min)
            .with_max_version(max)
    });
    let body = ApiVersionsResponse::default()
        .with_error_code(error.0)
        .with_api_keys(keys.collect());
    frame(&header, &body)
}

/// Produce of before version 3: no topic is named in the answer, since none was read; by hand,
/// since the wire crate does not know these versions.
#[must_use]
pub fn ancient_produce(header: &Header) -> Bytes {
    let mut bytes = BytesMut::new();
    let throttle = header.version >= 1;
    bytes.put_i32(if throttle { 12 } else { 8 });
    bytes.put_i32(header.correlation_id);
    bytes.put_i32(0);
    if throttle {
        bytes.put_i32(0);
    }
    bytes.freeze()
}

fn frame(header: &Header, body: &impl Encodable) -> Encoded {
    let mut bytes = BytesMut::new();
    bytes.put_i32(0);
    bytes.put_i32(header.correlation_id);
    // The header of an ApiVersions response stays at version 0, so that any client can read it.
    if header.api.is_flexible(header.version) && header.api != Api::ApiVersions {
        bytes.put_u8(0);
    }
    let failed = |reason: String| EncodeError {
        api: header.api,
        version: header.version,
        reason,
    };
    body.encode(&mut bytes, header.version)
        .map_err(|error| failed(error.to_string()))?;
    let length = i32::try_from(bytes.len() - 4).map_err(|error| failed(error.to_string()))?;
    bytes[0..4].copy_from_slice(&length.to_be_bytes());
    Ok(bytes.freeze())
}

pub(super) fn host_and_port(addr: &str) -> (StrBytes, i32) {
    let (host, port) = addr.rsplit_once(':').unwrap_or((addr, "0"));
    (text(host.to_owned()), port.parse().unwrap_or(0))
}

fn text(text: String) -> StrBytes {
    StrBytes::from_string(text)
}

fn topic_name(name: &str) -> TopicName {
    TopicName(text(name.to_owned()))
}

/// Groups results by topic, topics in order, partitions as they come.
pub(super) fn by_topic<T, R>(
    results: Vec<T>,
    topic_of: impl Fn(&T) -> &str,
    convert: impl Fn(T) -> R,
) -> Vec<(String, Vec<R>)> {
    let mut topics: BTreeMap<String, Vec<R>> = BTreeMap::new();
    for result in results {
        let topic = topic_of(&result).to_owned();
        topics.entry(topic).or_default().push(convert(result));
    }
    topics.into_iter().collect()
}

fn produce(results: Vec<typed::ProduceResult>) -> ProduceResponse {
    let topics = by_topic(
        results,
        |result| &result.tp.topic,
        |result| {
            produce_response::PartitionProduceResponse::default()
                .with_index(result.tp.partition)
                .with_error_code(result.error.0)
                .with_base_offset(result.base_offset)
                .with_log_append_time_ms(-1)
                .with_log_start_offset(result.log_start)
                .with_error_message(result.message.map(text))
        },
    );
    let responses = topics.into_iter().map(|(name, partitions)| {
        produce_response::TopicProduceResponse::default()
            .with_name(topic_name(&name))
            .with_partition_responses(partitions)
    });
    ProduceResponse::default().with_responses(responses.collect())
}

fn fetch(version: i16, results: Vec<FetchedPartition>, error: i16) -> FetchResponse {
    let mut topics: BTreeMap<(String, u128), Vec<fetch_response::PartitionData>> = BTreeMap::new();
    for result in results {
        let key = (result.tp.topic.to_string(), result.topic_id);
        topics.entry(key).or_default().push(
            fetch_response::PartitionData::default()
                .with_partition_index(result.tp.partition)
                .with_error_code(result.error.0)
                .with_high_watermark(result.high_watermark)
                .with_last_stable_offset(result.high_watermark)
                .with_log_start_offset(result.log_start)
                .with_aborted_transactions(None)
                .with_preferred_read_replica(BrokerId(-1))
                .with_records(Some(result.records)),
        );
    }
    let responses = topics.into_iter().map(|((name, id), partitions)| {
        let topic = fetch_response::FetchableTopicResponse::default().with_partitions(partitions);
        if version >= 13 {
            topic.with_topic_id(Uuid::from_u128(id))
        } else {
            topic.with_topic(topic_name(&name))
        }
    });
    FetchResponse::default()
        .with_error_code(error)
        .with_responses(responses.collect())
}

fn list_offsets(version: i16, results: Vec<typed::ListOffsetResult>) -> ListOffsetsResponse {
    let topics = by_topic(
        results,
        |result| &result.tp.topic,
        |result| {
            let answer = list_offsets_response::ListOffsetsPartitionResponse::default()
                .with_partition_index(result.tp.partition)
                .with_error_code(result.error.0)
                .with_timestamp(-1)
                .with_offset(result.offset);
            if version >= 4 {
                answer.with_leader_epoch(result.leader_epoch)
            } else {
                answer
            }
        },
    );
    let topics = topics.into_iter().map(|(name, partitions)| {
        list_offsets_response::ListOffsetsTopicResponse::default()
            .with_name(topic_name(&name))
            .with_partitions(partitions)
    });
    ListOffsetsResponse::default().with_topics(topics.collect())
}

fn metadata(version: i16, answer: typed::MetadataResponse) -> MetadataResponse {
    let brokers = answer.brokers.into_iter().map(|(node, addr)| {
        let (host, port) = host_and_port(&addr);
        metadata_response::MetadataResponseBroker::default()
            .with_node_id(BrokerId(node))
            .with_host(host)
            .with_port(port)
    });
    let topics = answer
        .topics
        .into_iter()
        .map(|topic| metadata_topic(version, topic));
    let body = MetadataResponse::default()
        .with_brokers(brokers.collect())
        .with_controller_id(BrokerId(answer.controller))
        .with_topics(topics.collect());
    if version >= 2 {
        body.with_cluster_id(Some(StrBytes::from_static_str(CLUSTER_ID)))
    } else {
        body
    }
}

fn metadata_topic(
    version: i16,
    topic: typed::TopicMetadata,
) -> metadata_response::MetadataResponseTopic {
    let ids = |nodes: Vec<i32>| nodes.into_iter().map(BrokerId).collect();
    let partitions = topic.partitions.into_iter().map(|partition| {
        let answer = metadata_response::MetadataResponsePartition::default()
            .with_error_code(partition.error.0)
            .with_partition_index(partition.partition)
            .with_leader_id(BrokerId(partition.leader))
            .with_replica_nodes(ids(partition.replicas))
            .with_isr_nodes(ids(partition.isr));
        let answer = if version >= 7 {
            answer.with_leader_epoch(partition.leader_epoch)
        } else {
            answer
        };
        if version >= 5 {
            answer.with_offline_replicas(ids(partition.offline))
        } else {
            answer
        }
    });
    let name = match topic.name {
        Some(name) => Some(TopicName(text(name))),
        None if version >= 12 => None,
        None => Some(topic_name("")),
    };
    let answer = metadata_response::MetadataResponseTopic::default()
        .with_error_code(topic.error.0)
        .with_name(name)
        .with_partitions(partitions.collect());
    if version >= 10 {
        answer.with_topic_id(Uuid::from_u128(topic.id))
    } else {
        answer
    }
}

fn create_topics(results: Vec<typed::CreateTopicResult>) -> CreateTopicsResponse {
    let topics = results.into_iter().map(|result| {
        create_topics_response::CreatableTopicResult::default()
            .with_name(topic_name(&result.name))
            .with_topic_id(Uuid::from_u128(result.id))
            .with_error_code(result.error.0)
            .with_error_message(result.message.map(text))
            .with_num_partitions(result.partitions)
            .with_replication_factor(result.replication_factor)
            .with_configs(Some(Vec::new()))
    });
    CreateTopicsResponse::default().with_topics(topics.collect())
}

fn init_producer_id(error: ErrorCode, id: i64, epoch: i16) -> InitProducerIdResponse {
    InitProducerIdResponse::default()
        .with_error_code(error.0)
        .with_producer_id(ProducerId(id))
        .with_producer_epoch(epoch)
}

fn epoch_ends(answers: Vec<typed::EpochAnswer>) -> OffsetForLeaderEpochResponse {
    let topics = by_topic(
        answers,
        |answer| &answer.tp.topic,
        |answer| {
            offset_for_leader_epoch_response::EpochEndOffset::default()
                .with_error_code(answer.error.0)
                .with_partition(answer.tp.partition)
                .with_leader_epoch(answer.leader_epoch)
                .with_end_offset(answer.end_offset)
        },
    );
    let topics = topics.into_iter().map(|(name, partitions)| {
        offset_for_leader_epoch_response::OffsetForLeaderTopicResult::default()
            .with_topic(topic_name(&name))
            .with_partitions(partitions)
    });
    OffsetForLeaderEpochResponse::default().with_topics(topics.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ids::TopicPartition;
    use crate::core::messages::fetch::{FetchPartition, FetchResponse as Typed};

    fn header(api: Api, version: i16) -> Header {
        Header {
            api,
            version,
            correlation_id: 1,
        }
    }

    #[test]
    fn every_response_can_be_encoded_in_every_version_served() {
        let tp = TopicPartition::new("log", 0);
        let want = FetchPartition {
            tp: tp.clone(),
            topic_id: 9,
            current_leader_epoch: 0,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            max_bytes: 1,
            high_watermark: 0,
        };
        let answers = [
            (
                Api::Produce,
                3,
                ClientResponse::Produce(vec![typed::ProduceResult {
                    tp: tp.clone(),
                    error: ErrorCode::NOT_ENOUGH_REPLICAS,
                    base_offset: -1,
                    log_start: -1,
                    message: Some("1 in-sync replicas, 2 required".to_owned()),
                }]),
            ),
            (
                Api::Fetch,
                4,
                ClientResponse::Fetch(Typed {
                    partitions: vec![FetchedPartition::empty(&want, ErrorCode::NONE)],
                }),
            ),
            (
                Api::ListOffsets,
                1,
                ClientResponse::ListOffsets(vec![typed::ListOffsetResult {
                    tp: tp.clone(),
                    error: ErrorCode::NONE,
                    offset: 3,
                    leader_epoch: 1,
                }]),
            ),
            (
                Api::Metadata,
                0,
                ClientResponse::Metadata(typed::MetadataResponse {
                    brokers: vec![(1, "127.0.0.1:9092".into())],
                    controller: 1,
                    topics: vec![typed::TopicMetadata {
                        error: ErrorCode::NONE,
                        name: Some("log".to_owned()),
                        id: 9,
                        partitions: vec![typed::PartitionMetadata {
                            error: ErrorCode::NONE,
                            partition: 0,
                            leader: 1,
                            leader_epoch: 2,
                            replicas: vec![1, 2],
                            isr: vec![1],
                            offline: vec![2],
                        }],
                    }],
                }),
            ),
            (
                Api::CreateTopics,
                2,
                ClientResponse::CreateTopics(vec![typed::CreateTopicResult {
                    name: "log".to_owned(),
                    id: 9,
                    error: ErrorCode::INVALID_REPLICATION_FACTOR,
                    message: Some(
                        "Replication factor: 4 larger than available brokers: 3".to_owned(),
                    ),
                    partitions: -1,
                    replication_factor: -1,
                }]),
            ),
            (
                Api::InitProducerId,
                0,
                ClientResponse::InitProducerId {
                    error: ErrorCode::NONE,
                    producer_id: 4,
                    producer_epoch: 0,
                },
            ),
            (
                Api::OffsetForLeaderEpoch,
                2,
                ClientResponse::OffsetForLeaderEpoch(vec![typed::EpochAnswer {
                    tp,
                    error: ErrorCode::NONE,
                    leader_epoch: 1,
                    end_offset: 7,
                }]),
            ),
        ];
        for (api, first, answer) in answers {
            for version in (first..20).filter(|version| api.serves(*version)) {
                response(&header(api, version), answer.clone()).unwrap();
            }
        }
        for version in 0..=6 {
            no_coordinator(&header(Api::FindCoordinator, version), vec!["g".to_owned()]).unwrap();
        }
        for version in 0..=9 {
            api_versions(version, 1).unwrap();
        }
    }
}
