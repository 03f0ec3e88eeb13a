//! Identities and time as the core sees them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A node of the cluster: broker, controller or both. Kafka's `broker.id` / `node.id`.
pub type NodeId = i32;
/// Where a partition has no leader, Kafka's wire protocol says -1.
pub const NO_LEADER: NodeId = -1;
/// One connection of one client or peer, numbered by the shell.
pub type ConnId = u64;
/// One request on a connection, numbered by the shell.
pub type RequestId = u64;
/// One call to a peer, numbered by the core.
pub type CallId = u64;
/// One storage operation, numbered by the core.
pub type IoId = u64;
/// `host:port` of a peer's listener. Opaque to the core.
pub type Addr = Arc<str>;
/// A topic's 16-byte id (KIP-516).
pub type TopicId = u128;

/// The moment of a step, both clocks read once by the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Now {
    /// Milliseconds on a clock that never goes back. All time-outs are measured on it.
    pub mono_ms: u64,
    /// Milliseconds since the Unix epoch. Never used for a decision.
    pub wall_ms: i64,
}

/// One partition of one topic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: Arc<str>,
    /// The partition's number, from 0.
    pub partition: i32,
}

impl TopicPartition {
    /// Names partition `partition` of `topic`.
    #[must_use]
    pub fn new(topic: &str, partition: i32) -> Self {
        Self {
            topic: Arc::from(topic),
            partition,
        }
    }
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

impl fmt::Debug for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
