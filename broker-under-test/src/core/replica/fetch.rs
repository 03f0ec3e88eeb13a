//! What a fetch may read from this replica, by whom it is asked.

use super::{Context, Replica};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicId;
use crate::core::messages::fetch::{FetchPartition, Follower};

/// What to read, with the high watermark as it was sampled before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// First offset.
    pub from: i64,
    /// Only batches before this offset.
    pub end: i64,
    /// How often the log had been truncated.
    pub generation: u64,
    /// Of which topic of that name.
    pub topic_id: TopicId,
    /// The high watermark.
    pub high_watermark: i64,
    /// First offset of the log.
    pub log_start: i64,
}

/// How a fetch of one partition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchStatus {
    /// It cannot be served.
    Refused(ErrorCode),
    /// There is something to read, or news of the high watermark for a follower.
    Ready(ReadPlan),
    /// The follower's log has left the leader's: (epoch, its end).
    Diverging(i32, i64),
    /// There is nothing to read yet.
    Empty(ReadPlan),
}

impl Replica {
    /// How a fetch stands now. Consumers read below the high watermark, followers all that the
    /// leader holds.
    #[must_use]
    pub fn fetch_status(
        &self,
        ctx: &Context<'_>,
        want: &FetchPartition,
        follower: Option<Follower>,
        any_replica: bool,
    ) -> FetchStatus {
        let error = self.fetch_objection(ctx, want, follower, any_replica);
        if !error.is_none() {
            return FetchStatus::Refused(error);
        }
        if follower.is_some()
            && let Some((epoch, end)) = self.divergence(want)
        {
            return FetchStatus::Diverging(epoch, end);
        }
        let end = if follower.is_some() || ctx.bugs.read_above_hw() {
            self.held
        } else {
            self.hw
        };
        let plan = ReadPlan {
            from: want.fetch_offset,
            end,
            generation: self.generation,
            topic_id: self.topic_id,
            high_watermark: self.hw,
            log_start: 0,
        };
        let has_news = follower.is_some() && want.high_watermark < self.hw.min(want.fetch_offset);
        if want.fetch_offset < end || has_news {
            FetchStatus::Ready(plan)
        } else {
            FetchStatus::Empty(plan)
        }
    }

    fn fetch_objection(
        &self,
        ctx: &Context<'_>,
        want: &FetchPartition,
        follower: Option<Follower>,
        any_replica: bool,
    ) -> ErrorCode {
        // Epochs say nothing about another topic of the same name.
        if want.topic_id != 0 && want.topic_id != self.topic_id {
            return ErrorCode::INCONSISTENT_TOPIC_ID;
        }
        let epoch_error = self.check_epoch(want.current_leader_epoch);
        if !epoch_error.is_none() {
            return epoch_error;
        }
        let must_lead = follower.is_some() || !any_replica;
        if must_lead && !self.is_leader() {
            return ErrorCode::NOT_LEADER_OR_FOLLOWER;
        }
        if let Some(follower) = follower {
            if !self.partition.replicas.contains(&follower.node) || follower.node == ctx.node {
                return ErrorCode::NOT_LEADER_OR_FOLLOWER;
            }
        } else if want.fetch_offset > self.held {
            return ErrorCode::OFFSET_OUT_OF_RANGE;
        }
        if want.fetch_offset < 0 {
            return ErrorCode::OFFSET_OUT_OF_RANGE;
        }
        ErrorCode::NONE
    }

    /// Where the follower's log has left this one, if it has (KIP-595).
    fn divergence(&self, want: &FetchPartition) -> Option<(i32, i64)> {
        if want.last_fetched_epoch < 0 {
            return (want.fetch_offset > self.end).then_some((-1, 0));
        }
        let (epoch, end) = self
            .epochs
            .end_for(want.last_fetched_epoch, self.end)
            .unwrap_or((want.last_fetched_epoch, self.end));
        let left = epoch < want.last_fetched_epoch || end < want.fetch_offset;
        left.then_some((epoch, end))
    }

    /// Where `epoch` ends in this leader's log, for OffsetForLeaderEpoch: (error, epoch, end).
    #[must_use]
    pub fn epoch_end(&self, believed: i32, epoch: i32) -> (ErrorCode, i32, i64) {
        let error = self.check_epoch(believed);
        if !error.is_none() {
            return (error, -1, -1);
        }
        if !self.is_leader() {
            return (ErrorCode::NOT_LEADER_OR_FOLLOWER, -1, -1);
        }
        let (epoch, end) = self.epochs.end_for(epoch, self.held).unwrap_or((-1, -1));
        (ErrorCode::NONE, epoch, end)
    }

    /// The offset that ListOffsets gives for `timestamp`: (error, offset, leader epoch).
    #[must_use]
    pub fn list_offset(&self, believed: i32, timestamp: i64) -> (ErrorCode, i64, i32) {
        const LATEST: i64 = -1;
        const EARLIEST: i64 = -2;
        let error = self.check_epoch(believed);
        if !error.is_none() {
            return (error, -1, -1);
        }
        if !self.is_leader() {
            return (ErrorCode::NOT_LEADER_OR_FOLLOWER, -1, -1);
        }
        let epoch = self.partition.leader_epoch;
        match timestamp {
            EARLIEST => (ErrorCode::NONE, 0, epoch),
            LATEST if self.hw < self.epoch_start() => (ErrorCode::OFFSET_NOT_AVAILABLE, -1, -1),
            LATEST => (ErrorCode::NONE, self.hw, epoch),
            _ => (ErrorCode::UNSUPPORTED_VERSION, -1, -1),
        }
    }
}
