//! Requests as bytes, length in front.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::create_topics_request::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use kafka_protocol::messages::describe_log_dirs_request::{
    DescribableLogDirTopic, DescribeLogDirsRequest,
};
use kafka_protocol::messages::describe_quorum_request::DescribeQuorumRequest;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchRequest, FetchTopic};
use kafka_protocol::messages::init_producer_id_request::InitProducerIdRequest;
use kafka_protocol::messages::list_offsets_request::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use kafka_protocol::messages::metadata_request::{MetadataRequest, MetadataRequestTopic};
use kafka_protocol::messages::produce_request::{
    PartitionProduceData, ProduceRequest, TopicProduceData,
};
use kafka_protocol::messages::{ApiKey, BrokerId, RequestHeader, TopicName};
use kafka_protocol::protocol::{Encodable, StrBytes};

use super::{encode_batch, version};
use crate::clients::{Fetch, HighWatermarks, LogEnds, NewTopic, Produce, Request};

/// Encodes a request about one topic.
pub fn encode(
    request: &Request,
    topic: &str,
    correlation: i32,
    client: &str,
    timestamp_ms: i64,
) -> Result<Bytes, String> {
    let (key, version) = api(request);
    let mut body = BytesMut::with_capacity(256);
    body.extend_from_slice(&[0; 4]);
    RequestHeader::default()
        .with_request_api_key(key as i16)
        .with_request_api_version(version)
        .with_correlation_id(correlation)
        .with_client_id(Some(StrBytes::from_string(client.to_owned())))
        .encode(&mut body, key.request_header_version(version))
        .and_then(|()| encode_body(request, topic, timestamp_ms, &mut body, version))
        .map_err(|e| format!("a request could not be encoded: {e}"))?;
    let length = u32::try_from(body.len() - 4).map_err(|_| "a request is too long".to_owned())?;
    body[..4].copy_from_slice(&length.to_be_bytes());
    Ok(body.freeze())
}

fn api(request: &Request) -> (ApiKey, i16) {
    match request {
        Request::Metadata => (ApiKey::Metadata, version::METADATA),
        Request::CreateTopic(_) => (ApiKey::CreateTopics, version::CREATE_TOPICS),
        Request::InitProducerId => (ApiKey::InitProducerId, version::INIT_PRODUCER_ID),
        Request::Produce(_) => (ApiKey::Produce, version::PRODUCE),
        Request::Fetch(_) | Request::HighWatermarks(_) => (ApiKey::Fetch, version::FETCH),
        Request::LogEnds(_) => (ApiKey::ListOffsets, version::LIST_OFFSETS),
        Request::DescribeQuorum => (ApiKey::DescribeQuorum, version::DESCRIBE_QUORUM),
        Request::LogDirs(_) => (ApiKey::DescribeLogDirs, version::DESCRIBE_LOG_DIRS),
    }
}

fn encode_body(
    request: &Request,
    topic: &str,
    timestamp_ms: i64,
    out: &mut BytesMut,
    version: i16,
) -> Result<(), anyhow::Error> {
    match request {
        Request::Metadata => metadata(topic).encode(out, version)?,
        Request::CreateTopic(new) => create_topic(new).encode(out, version)?,
        Request::InitProducerId => InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_transaction_timeout_ms(60_000)
            .encode(out, version)?,
        Request::Produce(send) => produce(send, topic, timestamp_ms).encode(out, version)?,
        Request::Fetch(read) => fetch(read, topic).encode(out, version)?,
        Request::HighWatermarks(asked) => high_watermarks(asked, topic).encode(out, version)?,
        Request::LogEnds(asked) => log_ends(asked, topic).encode(out, version)?,
        Request::DescribeQuorum => describe_quorum().encode(out, version)?,
        Request::LogDirs(asked) => log_dirs(asked, topic).encode(out, version)?,
    }
    Ok(())
}

fn topic_name(topic: &str) -> TopicName {
    TopicName(StrBytes::from_string(topic.to_owned()))
}

fn metadata(topic: &str) -> MetadataRequest {
    let wanted = MetadataRequestTopic::default().with_name(Some(topic_name(topic)));
    MetadataRequest::default()
        .with_topics(Some(vec![wanted]))
        .with_allow_auto_topic_creation(false)
}

fn create_topic(new: &NewTopic) -> CreateTopicsRequest {
    let configs = new.configs.iter().map(|(name, value)| {
        CreatableTopicConfig::default()
            .with_name(StrBytes::from_string(name.clone()))
            .with_value(Some(StrBytes::from_string(value.clone())))
    });
    let topic = CreatableTopic::default()
        .with_name(topic_name(&new.name))
        .with_num_partitions(new.partitions)
        .with_replication_factor(new.replication_factor)
        .with_configs(configs.collect());
    CreateTopicsRequest::default()
        .with_topics(vec![topic])
        .with_timeout_ms(2000)
}

fn produce(send: &Produce, topic: &str, timestamp_ms: i64) -> ProduceRequest {
    let batch = encode_batch(send.value, timestamp_ms, send.sequence);
    let data = PartitionProduceData::default()
        .with_index(send.partition)
        .with_records(Some(batch));
    let topic = TopicProduceData::default()
        .with_name(topic_name(topic))
        .with_partition_data(vec![data]);
    ProduceRequest::default()
        .with_transactional_id(None)
        .with_acks(send.acks)
        .with_timeout_ms(send.timeout_ms)
        .with_topic_data(vec![topic])
}

/// A replica id of -2 is a tool that looks: followers answer it too, with their log's end.
const LOOKING: i32 = -2;
const LATEST: i64 = -1;

fn log_ends(asked: &LogEnds, topic: &str) -> ListOffsetsRequest {
    let partitions = asked.partitions.iter().map(|partition| {
        ListOffsetsPartition::default()
            .with_partition_index(*partition)
            .with_current_leader_epoch(-1)
            .with_timestamp(LATEST)
    });
    let topic = ListOffsetsTopic::default()
        .with_name(topic_name(topic))
        .with_partitions(partitions.collect());
    ListOffsetsRequest::default()
        .with_replica_id(BrokerId(LOOKING))
        .with_topics(vec![topic])
}

fn log_dirs(asked: &LogEnds, topic: &str) -> DescribeLogDirsRequest {
    let topic = DescribableLogDirTopic::default()
        .with_topic(topic_name(topic))
        .with_partitions(asked.partitions.clone());
    DescribeLogDirsRequest::default().with_topics(Some(vec![topic]))
}

fn describe_quorum() -> DescribeQuorumRequest {
    use kafka_protocol::messages::describe_quorum_request::{PartitionData, TopicData};
    let topic = TopicData::default()
        .with_topic_name(topic_name("__cluster_metadata"))
        .with_partitions(vec![PartitionData::default().with_partition_index(0)]);
    DescribeQuorumRequest::default().with_topics(vec![topic])
}

/// A read at the end of the log brings no records, but the high watermark.
fn high_watermarks(asked: &HighWatermarks, topic: &str) -> FetchRequest {
    let partitions = asked.from.iter().map(|(partition, offset)| {
        FetchPartition::default()
            .with_partition(*partition)
            .with_current_leader_epoch(-1)
            .with_fetch_offset(*offset)
            .with_log_start_offset(-1)
            .with_partition_max_bytes(1)
    });
    let topic = FetchTopic::default()
        .with_topic(topic_name(topic))
        .with_partitions(partitions.collect());
    FetchRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_max_wait_ms(0)
        .with_min_bytes(0)
        .with_max_bytes(1)
        .with_session_epoch(-1)
        .with_topics(vec![topic])
}

fn fetch(read: &Fetch, topic: &str) -> FetchRequest {
    let partition = FetchPartition::default()
        .with_partition(read.partition)
        .with_current_leader_epoch(read.leader_epoch)
        .with_fetch_offset(read.offset)
        .with_log_start_offset(-1)
        .with_partition_max_bytes(read.max_bytes);
    let topic = FetchTopic::default()
        .with_topic(topic_name(topic))
        .with_partitions(vec![partition]);
    FetchRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_max_wait_ms(read.max_wait_ms)
        .with_min_bytes(1)
        .with_max_bytes(read.max_bytes)
        .with_session_epoch(-1)
        .with_topics(vec![topic])
}
