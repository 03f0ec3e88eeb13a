//! What nodes ask each other: on the replication port fetches, on the controller port the rest.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::client::{CreateTopicResult, CreateTopicsRequest};
use super::configs::{AlterConfigsRequest, AlteredResource};
use super::delete_topics::{DeleteTopicResult, DeleteTopicsRequest};
use super::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use super::fetch::{FetchRequest, FetchResponse};
use crate::core::errors::ErrorCode;
use crate::core::ids::{Addr, NodeId, TopicId, TopicPartition};

/// A request of one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PeerRequest {
    /// A follower pulls records (replication port).
    Fetch(FetchRequest),
    /// Raft: asks for a vote.
    Vote(VoteRequest),
    /// Raft: sends entries, or a heartbeat.
    Append(AppendRequest),
    /// A broker outside the quorum asks for committed entries after `after`; held while there
    /// are none.
    Observe {
        /// Index of the last entry that the learner has.
        after: u64,
    },
    /// A broker registers this start of itself.
    Register(Registration),
    /// A broker says that it lives.
    Heartbeat(BrokerHeartbeat),
    /// A leader asks for another ISR (KIP-497).
    AlterPartition(AlterPartition),
    /// A broker asks for a block of producer ids.
    AllocateProducerIds {
        /// The broker.
        node: NodeId,
    },
    /// A broker passes a client's request on.
    CreateTopics(CreateTopicsRequest),
    /// A broker passes a client's request on.
    DeleteTopics(DeleteTopicsRequest),
    /// A broker passes a client's request on.
    AlterConfigs(AlterConfigsRequest),
    /// A broker passes a client's request on.
    ElectLeaders(ElectLeadersRequest),
}

/// The answer to the [`PeerRequest`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PeerResponse {
    /// Records.
    Fetch(FetchResponse),
    /// A vote.
    Vote(VoteResponse),
    /// Whether the entries follow on.
    Append(AppendResponse),
    /// Committed entries.
    Observe {
        /// The leader of the quorum, where known.
        leader: Option<NodeId>,
        /// Entries that follow the one asked after, in order.
        entries: Vec<Entry>,
    },
    /// The broker epoch.
    Register {
        /// Why not, if not.
        error: ErrorCode,
        /// Raft index of the registration.
        broker_epoch: u64,
    },
    /// How the broker stands.
    Heartbeat {
        /// STALE_BROKER_EPOCH: register again.
        error: ErrorCode,
        /// Whether the controller counts it as down.
        fenced: bool,
        /// Leads nothing any more and may stop.
        may_stop: bool,
    },
    /// The partition as it is now committed.
    AlterPartition {
        /// Why not, if not.
        error: ErrorCode,
        /// Epoch of the change.
        partition_epoch: i32,
        /// The in-sync replicas.
        isr: Vec<NodeId>,
    },
    /// `[first, first + count)`.
    AllocateProducerIds {
        /// First id of the block.
        first: i64,
        /// How many.
        count: i64,
    },
    /// One result a topic.
    CreateTopics(Vec<CreateTopicResult>),
    /// One result a topic.
    DeleteTopics(Vec<DeleteTopicResult>),
    /// One result a resource.
    AlterConfigs(Vec<AlteredResource>),
    /// One result a partition.
    ElectLeaders(ElectLeadersResponse),
    /// This node does not lead the quorum.
    NotController {
        /// Who does, where known.
        leader: Option<NodeId>,
    },
    /// The request cannot be served on this node or port.
    Refused(ErrorCode),
}

/// One entry of the Raft log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The term in which a leader first wrote it.
    pub term: u64,
    /// The record, encoded; empty for the entry that opens a term.
    pub data: Bytes,
}

/// RequestVote (Raft 5.2); with `pre`, PreVote (Ongaro's thesis 9.6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoteRequest {
    /// Whether this only asks how a vote would end.
    pub pre: bool,
    /// The candidate's term; with `pre`, the term that it would start.
    pub term: u64,
    /// The candidate.
    pub candidate: NodeId,
    /// Index of the candidate's last entry.
    pub last_index: u64,
    /// Term of the candidate's last entry.
    pub last_term: u64,
}

/// Answers a [`VoteRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoteResponse {
    /// The voter's term.
    pub term: u64,
    /// Whether the vote was given.
    pub granted: bool,
}

/// AppendEntries (Raft 5.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppendRequest {
    /// The leader's term.
    pub term: u64,
    /// The leader.
    pub leader: NodeId,
    /// Index of the entry before the first of `entries`.
    pub prev_index: u64,
    /// Term of that entry.
    pub prev_term: u64,
    /// What follows it.
    pub entries: Vec<Entry>,
    /// The leader's commit index.
    pub commit: u64,
}

/// Answers an [`AppendRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppendResponse {
    /// The voter's term.
    pub term: u64,
    /// Whether the entries follow on and are on disk.
    pub success: bool,
    /// With success the last index that agrees; else where the leader should try again.
    pub index: u64,
}

/// What a broker registers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registration {
    /// The broker.
    pub node: NodeId,
    /// This start of it.
    pub incarnation: u64,
    /// Its client listener.
    pub client_addr: Addr,
    /// Its replication listener.
    pub replication_addr: Addr,
}

/// A broker's sign of life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokerHeartbeat {
    /// The broker.
    pub node: NodeId,
    /// The epoch under which it is registered.
    pub broker_epoch: u64,
    /// Index of the last record that it has applied.
    pub applied: u64,
    /// It wants to stop, once it leads nothing.
    pub wants_to_stop: bool,
}

/// A leader's proposal of an ISR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlterPartition {
    /// The leader.
    pub node: NodeId,
    /// The epoch under which it is registered.
    pub broker_epoch: u64,
    /// Which partition.
    pub tp: TopicPartition,
    /// Of which topic of that name.
    pub topic_id: TopicId,
    /// The leader's epoch.
    pub leader_epoch: i32,
    /// The partition epoch that it builds on.
    pub partition_epoch: i32,
    /// The wanted ISR, each member with the broker epoch under which it fetched (KIP-903).
    pub isr: Vec<(NodeId, u64)>,
}
