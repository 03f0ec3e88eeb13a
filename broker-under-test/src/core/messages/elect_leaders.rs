//! ElectLeaders: an operator wants the preferred leader, or any leader at all.

use serde::{Deserialize, Serialize};

use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;

/// An ElectLeaders request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElectLeadersRequest {
    /// Which kind of election.
    pub election: Election,
    /// Which partitions; all where absent.
    pub partitions: Option<Vec<TopicPartition>>,
    /// How long it may take, milliseconds.
    pub timeout_ms: u64,
}

/// A kind of election (KIP-460).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Election {
    /// The first replica, where it is in the ISR.
    Preferred,
    /// Any live replica, where nobody leads.
    Unclean,
    /// None that is known, by its number; it is answered, and nobody is elected.
    Unknown(i8),
}

/// What became of an [`ElectLeadersRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElectLeadersResponse {
    /// Why not, where the request as a whole is refused.
    pub error: ErrorCode,
    /// One result a partition.
    pub results: Vec<ElectionResult>,
}

/// What became of one partition of an [`ElectLeadersRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElectionResult {
    /// Which partition.
    pub tp: TopicPartition,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
}
