//! Fetch, the one message that consumers and followers share.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::core::errors::ErrorCode;
use crate::core::ids::{NodeId, TopicId, TopicPartition};

/// Who fetches, where it is a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follower {
    /// The follower's node.
    pub node: NodeId,
    /// Its broker epoch (KIP-903).
    pub broker_epoch: u64,
}

/// A fetch of one or more partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchRequest {
    /// Absent for a consumer.
    pub follower: Option<Follower>,
    /// Whether this version of the protocol lets followers serve consumers (KIP-392, v11).
    pub any_replica: bool,
    /// How long to wait where there is nothing to read, milliseconds.
    pub max_wait_ms: u64,
    /// Bytes over all partitions; the first batch is given whole even where it is larger.
    pub max_bytes: u32,
    /// What is wanted.
    pub partitions: Vec<FetchPartition>,
}

/// One partition of a [`FetchRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchPartition {
    /// Which partition. An unknown topic id leaves the name empty.
    pub tp: TopicPartition,
    /// The topic's id where the request named it so, else 0.
    pub topic_id: TopicId,
    /// The epoch that the fetcher believes in, or -1.
    pub current_leader_epoch: i32,
    /// From where; of a follower, its log end offset, and so its acknowledgement of all before.
    pub fetch_offset: i64,
    /// Epoch of the follower's last record, or -1.
    pub last_fetched_epoch: i32,
    /// Bytes from this partition.
    pub max_bytes: u32,
    /// The follower's high watermark, or -1.
    pub high_watermark: i64,
}

/// The answer to a [`FetchRequest`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FetchResponse {
    /// One result a partition, in the order of the request.
    pub partitions: Vec<FetchedPartition>,
}

/// One partition of a [`FetchResponse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FetchedPartition {
    /// Which partition.
    pub tp: TopicPartition,
    /// Its id where the request named it so.
    pub topic_id: TopicId,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The high watermark as sampled before the read, or -1.
    pub high_watermark: i64,
    /// First offset of the log, or -1.
    pub log_start: i64,
    /// Whole raw batches; the first may begin before the offset asked for.
    pub records: Bytes,
    /// Set where the follower's log has left the leader's (KIP-595): the leader's largest epoch
    /// not above the follower's last, and where it ends.
    pub diverging: Option<(i32, i64)>,
    /// The leader and epoch as this node knows them, given with errors about them.
    pub current_leader: (NodeId, i32),
}

impl FetchedPartition {
    /// An answer without data.
    #[must_use]
    pub fn empty(want: &FetchPartition, error: ErrorCode) -> Self {
        Self {
            tp: want.tp.clone(),
            topic_id: want.topic_id,
            error,
            high_watermark: -1,
            log_start: -1,
            records: Bytes::new(),
            diverging: None,
            current_leader: (-1, -1),
        }
    }
}
