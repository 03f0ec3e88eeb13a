//! DescribeCluster and DescribeLogDirs: what an operator asks one broker.

use std::collections::BTreeSet;

use crate::core::errors::ErrorCode;
use crate::core::ids::{Addr, NodeId, TopicPartition};

/// A DescribeCluster request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeClusterRequest {
    /// 1: brokers; 2: controllers, which have no listener for clients here.
    pub endpoint_type: i8,
    /// Whether brokers that count as down are listed too.
    pub include_fenced: bool,
}

/// The cluster as one node knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterDescription {
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
    /// As asked.
    pub endpoint_type: i8,
    /// The controller, or -1.
    pub controller: NodeId,
    /// (broker, client listener, fenced).
    pub brokers: Vec<(NodeId, Addr, bool)>,
}

/// A DescribeLogDirs request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeLogDirsRequest {
    /// Which replicas; all of this node where absent.
    pub partitions: Option<BTreeSet<TopicPartition>>,
}

/// The one log directory of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct LogDirDescription {
    /// Where it is.
    pub path: String,
    /// The replicas in it.
    pub replicas: Vec<ReplicaSize>,
}

/// How much one replica holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSize {
    /// Which replica.
    pub tp: TopicPartition,
    /// Bytes of its segments.
    pub bytes: u64,
    /// How far its log end offset is below its high watermark; 0 for every log that stands.
    pub offset_lag: i64,
}
