//! What Kafka clients ask and are told, independent of the protocol version they speak.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::configs::{
    AlterConfigsRequest, AlteredResource, DescribeConfigsRequest, DescribedResource,
};
use super::delete_topics::{DeleteTopicResult, DeleteTopicsRequest};
use super::describe::{
    ClusterDescription, DescribeClusterRequest, DescribeLogDirsRequest, LogDirDescription,
};
use super::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use super::fetch::{FetchRequest, FetchResponse};
use crate::core::errors::ErrorCode;
use crate::core::ids::{Addr, NodeId, TopicId, TopicPartition};

/// A request on the client port.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientRequest {
    /// Produce (key 0).
    Produce(ProduceRequest),
    /// Fetch (key 1).
    Fetch(FetchRequest),
    /// ListOffsets (key 2).
    ListOffsets(Vec<ListOffset>),
    /// Metadata (key 3).
    Metadata(MetadataRequest),
    /// CreateTopics (key 19).
    CreateTopics(CreateTopicsRequest),
    /// InitProducerId (key 22) without a transactional id.
    InitProducerId,
    /// OffsetForLeaderEpoch (key 23).
    OffsetForLeaderEpoch(Vec<EpochQuery>),
    /// DeleteTopics (key 20).
    DeleteTopics(DeleteTopicsRequest),
    /// DescribeConfigs (key 32).
    DescribeConfigs(DescribeConfigsRequest),
    /// DescribeLogDirs (key 35).
    DescribeLogDirs(DescribeLogDirsRequest),
    /// ElectLeaders (key 43).
    ElectLeaders(ElectLeadersRequest),
    /// IncrementalAlterConfigs (key 44).
    AlterConfigs(AlterConfigsRequest),
    /// DescribeCluster (key 60).
    DescribeCluster(DescribeClusterRequest),
}

/// The answer to the [`ClientRequest`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientResponse {
    /// One result a partition, in the order of the request.
    Produce(Vec<ProduceResult>),
    /// One result a partition, in the order of the request.
    Fetch(FetchResponse),
    /// One result a partition, in the order of the request.
    ListOffsets(Vec<ListOffsetResult>),
    /// The cluster as this node knows it.
    Metadata(MetadataResponse),
    /// One result a topic, in the order of the request.
    CreateTopics(Vec<CreateTopicResult>),
    /// A new producer id with epoch 0.
    InitProducerId {
        /// Whether an id could be had.
        error: ErrorCode,
        /// The id, or -1.
        producer_id: i64,
        /// Its epoch, or -1.
        producer_epoch: i16,
    },
    /// One result a partition, in the order of the request.
    OffsetForLeaderEpoch(Vec<EpochAnswer>),
    /// One result a topic, in the order of the request.
    DeleteTopics(Vec<DeleteTopicResult>),
    /// One result a resource, in the order of the request.
    DescribeConfigs(Vec<DescribedResource>),
    /// The log directory of this node.
    DescribeLogDirs(LogDirDescription),
    /// One result a partition, in the order of the request.
    ElectLeaders(ElectLeadersResponse),
    /// One result a resource, in the order of the request.
    AlterConfigs(Vec<AlteredResource>),
    /// The cluster as this node knows it.
    DescribeCluster(ClusterDescription),
}

/// Batches to append, as they came over the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct ProduceRequest {
    /// 0: no answer; 1: the leader's append; -1: the whole ISR. Anything else is an error.
    pub acks: i16,
    /// How long acks=-1 may wait, milliseconds.
    pub timeout_ms: u64,
    /// One raw record batch a partition.
    pub partitions: Vec<(TopicPartition, Bytes)>,
}

/// What became of one partition of a produce request.
#[derive(Clone, Debug, PartialEq)]
pub struct ProduceResult {
    /// Where.
    pub tp: TopicPartition,
    /// Whether it was appended and, with acks=-1, committed.
    pub error: ErrorCode,
    /// Offset of the batch's first record, or -1.
    pub base_offset: i64,
    /// First offset of the log.
    pub log_start: i64,
    /// For a person, where there is more to say than the code.
    pub message: Option<String>,
}

/// Which offset a client wants to know.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffset {
    /// Of which partition.
    pub tp: TopicPartition,
    /// The epoch that the client believes in, or -1.
    pub current_leader_epoch: i32,
    /// -1: the high watermark; -2: the log's start; others are not served.
    pub timestamp: i64,
}

/// The answer to one [`ListOffset`].
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffsetResult {
    /// Of which partition.
    pub tp: TopicPartition,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The offset, or -1.
    pub offset: i64,
    /// The leader's epoch, or -1.
    pub leader_epoch: i32,
}

/// How a client names a topic in a Metadata request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TopicRef {
    /// By name.
    Name(String),
    /// By id (KIP-516).
    Id(TopicId),
}

/// A Metadata request.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataRequest {
    /// Which topics; all where absent.
    pub topics: Option<Vec<TopicRef>>,
    /// Whether unknown topics may be created.
    pub allow_auto_create: bool,
}

/// The cluster as one node knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponse {
    /// Live brokers and their client listeners.
    pub brokers: Vec<(NodeId, Addr)>,
    /// The controller, or -1.
    pub controller: NodeId,
    /// The topics asked for.
    pub topics: Vec<TopicMetadata>,
}

/// One topic of a [`MetadataResponse`].
#[derive(Clone, Debug, PartialEq)]
pub struct TopicMetadata {
    /// Whether it exists.
    pub error: ErrorCode,
    /// Its name, where known.
    pub name: Option<String>,
    /// Its id, or 0.
    pub id: TopicId,
    /// Its partitions.
    pub partitions: Vec<PartitionMetadata>,
}

/// One partition of a [`TopicMetadata`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionMetadata {
    /// LEADER_NOT_AVAILABLE where there is none.
    pub error: ErrorCode,
    /// The partition's number.
    pub partition: i32,
    /// Its leader, or -1.
    pub leader: NodeId,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// All replicas, the preferred leader first.
    pub replicas: Vec<NodeId>,
    /// The in-sync replicas as the controller has them.
    pub isr: Vec<NodeId>,
    /// Replicas on brokers that are down.
    pub offline: Vec<NodeId>,
}

/// A CreateTopics request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateTopicsRequest {
    /// The topics.
    pub topics: Vec<NewTopic>,
    /// Only say what would happen.
    pub validate_only: bool,
    /// How long it may take, milliseconds.
    pub timeout_ms: u64,
}

/// A topic to create.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions; -1 for the default.
    pub partitions: i32,
    /// How many replicas each; -1 for the default.
    pub replication_factor: i16,
    /// Replicas by hand, partition by partition; empty for automatic placement.
    pub assignments: Vec<(i32, Vec<NodeId>)>,
    /// Settings by name.
    pub configs: Vec<(String, Option<String>)>,
}

/// What became of one [`NewTopic`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CreateTopicResult {
    /// Which topic.
    pub name: String,
    /// Its id, or 0.
    pub id: TopicId,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
    /// Partitions created.
    pub partitions: i32,
    /// Replicas of each.
    pub replication_factor: i16,
}

/// Asks where an epoch ends in a leader's log.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochQuery {
    /// Of which partition.
    pub tp: TopicPartition,
    /// The epoch that the asker believes in, or -1.
    pub current_leader_epoch: i32,
    /// The epoch whose end is wanted.
    pub leader_epoch: i32,
}

/// Answers an [`EpochQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct EpochAnswer {
    /// Of which partition.
    pub tp: TopicPartition,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The largest epoch not above the one asked for, or -1.
    pub leader_epoch: i32,
    /// Its end offset, exclusive, or -1.
    pub end_offset: i64,
}
