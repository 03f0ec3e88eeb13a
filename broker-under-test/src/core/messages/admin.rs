//! What the admin port asks: how things stand, the records of one replica, and `hold`.

use bytes::Bytes;
use serde::Serialize;

use crate::core::errors::ErrorCode;
use crate::core::ids::{NodeId, TopicPartition};

/// A request on the admin port.
#[derive(Clone, Debug, PartialEq)]
pub enum AdminRequest {
    /// How the node stands.
    Health,
    /// How each replica stands.
    Replicas,
    /// Records of one replica up to its log end offset, committed or not.
    Records {
        /// Which replica.
        tp: TopicPartition,
        /// First offset.
        from: i64,
        /// Bytes at the most (the first batch is always given).
        max_bytes: u32,
    },
    /// A follower stops fetching at an offset; none lifts it.
    Hold {
        /// Which replica.
        tp: TopicPartition,
        /// The offset that it must not reach beyond.
        fetch_until: Option<i64>,
    },
}

/// The answer to the [`AdminRequest`] of the same name.
#[derive(Clone, Debug, PartialEq)]
pub enum AdminResponse {
    /// How the node stands.
    Health(Health),
    /// How each replica stands.
    Replicas(ReplicaStates),
    /// Raw batches.
    Records {
        /// Whole batches from the one that holds the first offset asked for.
        batches: Bytes,
        /// The replica's log end offset.
        leo: i64,
        /// The replica's high watermark.
        hw: i64,
    },
    /// Done.
    Held,
    /// Not done.
    Failed(ErrorCode),
}

/// How a node stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Health {
    /// The node.
    pub node_id: NodeId,
    /// Whether it is registered as a broker.
    pub registered: bool,
    /// Whether the controller counts it as down, as far as the node knows.
    pub fenced: bool,
    /// Epoch of its registration, or 0.
    pub broker_epoch: u64,
    /// The controller quorum as the node sees it.
    pub controller: QuorumState,
}

/// The controller quorum as one node sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuorumState {
    /// Its leader.
    pub leader: Option<NodeId>,
    /// The Raft term, or 0 on a learner.
    pub term: u64,
    /// leader, candidate, follower or learner.
    pub role: &'static str,
    /// Index of the last record applied.
    pub applied: u64,
}

/// How each replica of a node stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicaStates {
    /// The node.
    pub node_id: NodeId,
    /// Epoch of its registration, or 0.
    pub broker_epoch: u64,
    /// The leader of the controller quorum as the node sees it.
    pub controller_leader: Option<NodeId>,
    /// Its replicas.
    pub partitions: Vec<ReplicaState>,
}

/// How one replica stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicaState {
    /// The topic.
    pub topic: String,
    /// The partition.
    pub partition: i32,
    /// leader or follower.
    pub role: &'static str,
    /// Whom it takes for the leader, or -1.
    pub leader: NodeId,
    /// The epoch of that leader.
    pub leader_epoch: i32,
    /// Epoch of the partition's state.
    pub partition_epoch: i32,
    /// Log end offset: the next offset to be written.
    pub leo: i64,
    /// High watermark.
    pub hw: i64,
    /// In-sync replicas as the controller has confirmed them.
    pub isr: Vec<NodeId>,
    /// All replicas.
    pub replicas: Vec<NodeId>,
    /// First offset.
    pub log_start: i64,
    /// (epoch, first offset), oldest first.
    pub epochs: Vec<(i32, i64)>,
    /// Where it has been told to stop fetching.
    pub hold: Option<i64>,
}
