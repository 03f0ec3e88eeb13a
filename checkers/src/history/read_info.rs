//! What a reply said about the replica that served a read.

use serde::{Deserialize, Serialize};

/// Circumstances of one partition's read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadInfo {
    /// Offset that was asked for.
    #[serde(default)]
    pub from: i64,
    /// High watermark in the reply, -1 when it said none.
    #[serde(default = "unknown")]
    pub hw: i64,
    /// Log start offset in the reply, -1 when it said none.
    #[serde(default = "unknown")]
    pub log_start: i64,
    /// Node that served the read, -1 when unknown.
    #[serde(default = "unknown_replica")]
    pub replica: i32,
    /// How often that node had been started.
    #[serde(default)]
    pub incarnation: u64,
    /// Leader epoch in which the replica stood, -1 when unproved.
    #[serde(default = "unknown_replica")]
    pub leader_epoch: i32,
    /// Whether this belongs to the final read of everything.
    #[serde(default, rename = "final")]
    pub is_final: bool,
}

impl Default for ReadInfo {
    /// Nothing is known but that the read began at the start.
    fn default() -> Self {
        Self {
            from: 0,
            hw: unknown(),
            log_start: unknown(),
            replica: unknown_replica(),
            incarnation: 0,
            leader_epoch: unknown_replica(),
            is_final: false,
        }
    }
}

fn unknown() -> i64 {
    -1
}

fn unknown_replica() -> i32 {
    -1
}
