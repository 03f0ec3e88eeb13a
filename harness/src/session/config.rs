//! What a session is told at its start. Seeds and settings are arguments; the
//! session draws nothing from anywhere else.

use plimsoll_nemesis::schedule::Schedule;

use crate::clients::NewTopic;
use crate::workload::ClientPlan;

/// A node that the session knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    pub name: String,
    pub id: i32,
    /// Whether it holds partitions and answers clients.
    pub is_broker: bool,
}

/// Who carries a send out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBy {
    /// This session: it picks the leader, and each attempt is one request.
    Request,
    /// A client library: it picks the leader and tries again as it sees fit.
    Library {
        /// Whether it may send a record more than once.
        may_resend: bool,
    },
}

/// How sends are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPolicy {
    pub by: SendBy,
    pub acks: i16,
    pub retries: u32,
    pub idempotent: bool,
    /// How long a broker may take over one request.
    pub request_timeout_ms: u64,
}

/// Everything that a session needs.
pub struct SessionConfig {
    pub seed: u64,
    pub topic: NewTopic,
    /// Brokers first, then separate controllers.
    pub nodes: Vec<NodeInfo>,
    pub clients: Vec<ClientPlan>,
    pub send: SendPolicy,
    pub rate: f64,
    pub time_limit_ms: u64,
    /// A cluster that serves no topic after this long never will.
    pub setup_limit_ms: u64,
    /// Whether clients start only when every replica is in sync.
    pub starts_settled: bool,
    pub settle_limit_ms: u64,
    pub schedule: Schedule,
}

impl SessionConfig {
    pub fn brokers(&self) -> impl Iterator<Item = &NodeInfo> {
        self.nodes.iter().filter(|node| node.is_broker)
    }
}

/// A partition's name in a history.
pub fn key(topic: &str, partition: i32) -> String {
    format!("{topic}-{partition}")
}
