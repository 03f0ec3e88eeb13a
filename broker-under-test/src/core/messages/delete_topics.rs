//! DeleteTopics: topics by name or id in, one result each out.

use serde::{Deserialize, Serialize};

use crate::core::errors::ErrorCode;
use crate::core::ids::TopicId;

/// One topic as it was asked for: by name, or by id (KIP-516). Both, or neither, is refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TopicToDelete {
    /// Its name, where it was given.
    pub name: Option<String>,
    /// Its id, or 0.
    pub id: TopicId,
}

/// A DeleteTopics request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeleteTopicsRequest {
    /// Which topics.
    pub topics: Vec<TopicToDelete>,
    /// How long it may take, milliseconds.
    pub timeout_ms: u64,
}

/// What became of one topic of a [`DeleteTopicsRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeleteTopicResult {
    /// Its name, where known.
    pub name: Option<String>,
    /// Its id, or 0.
    pub id: TopicId,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
}
