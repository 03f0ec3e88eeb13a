//! The first line of a history: what was tested and what it promises.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::promise::Promise;

/// Everything that the recorder knew before (and, for barriers, after) the ops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of this format; 1 is the only one.
    pub plimsoll: u32,
    /// What the settings promise under the classes of faults that were used.
    #[serde(default = "Promise::unstated")]
    pub promise: Promise,
    /// Partitions by key (`topic-number`).
    #[serde(default)]
    pub topics: BTreeMap<String, TopicInfo>,
    /// Clients by name; their fields are the harness's own.
    #[serde(default)]
    pub clients: BTreeMap<String, Value>,
    /// What was tested.
    #[serde(default)]
    pub system: String,
    /// Seed of the run.
    #[serde(default)]
    pub seed: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What is known of one partition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TopicInfo {
    /// Number of replicas asked for.
    #[serde(default)]
    pub replication_factor: u16,
    /// Offset of the acked barrier record, where the header was written after
    /// it; else the history's `barrier` ops say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier: Option<i64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
