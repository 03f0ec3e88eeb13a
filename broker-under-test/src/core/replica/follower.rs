//! What a follower does: fetch, cut what its leader does not have, append, fetch again.

use bytes::{Bytes, BytesMut};

use super::produce::Waiters;
use super::{Context, Replica, ReplicaEffect, Role};
use crate::core::errors::ErrorCode;
use crate::core::messages::fetch::{FetchPartition, FetchedPartition};
use crate::kafka::batch::{self, BatchHeader};

/// Wait before a fetch that was refused or lost is tried again.
const BACKOFF_MS: u64 = 50;
/// Bytes asked for at once (replica.fetch.max.bytes).
const FETCH_BYTES_MAX: u32 = 1 << 20;

/// A follower's state; a new one for each leader epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Following {
    state: State,
    pub waiting: Waiters,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Fetching,
    /// What was fetched is on its way to the log; the leader's HW with it.
    Appending {
        leader_hw: i64,
    },
    Backoff {
        until_ms: u64,
    },
}

impl Replica {
    pub(super) fn become_follower(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        self.fail_waiting(ErrorCode::NOT_LEADER_OR_FOLLOWER, fx);
        let written = self.take_written_waiters();
        let mut following = Following::default();
        following.waiting.written = written;
        // An epoch that this replica opened without a record is nothing its log can show.
        self.epochs.truncate(self.end);
        if ctx.bugs.truncate_to_hw() {
            self.truncate(self.hw, fx);
        }
        self.fetch_attempt += 1;
        self.role = Role::Follower(following);
        fx.push(ReplicaEffect::Progressed);
        self.drive_fetch(ctx, fx);
    }

    /// Where the present leader's epoch begins; 0 for a follower.
    pub(super) fn epoch_start(&self) -> i64 {
        match &self.role {
            Role::Leader(leading) => leading.epoch_start,
            Role::Follower(_) => 0,
        }
    }

    /// Fetches, where nothing stands in the way.
    pub(super) fn drive_fetch(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let held_back = self.hold.is_some_and(|until| self.end >= until);
        let leader = ctx.image.brokers.get(&self.partition.leader);
        let Some(to) = leader.map(|broker| broker.replication_addr.clone()) else {
            return;
        };
        let Role::Follower(following) = &mut self.role else {
            return;
        };
        let ready = match following.state {
            State::Idle => true,
            State::Backoff { until_ms } => ctx.now.mono_ms >= until_ms,
            State::Fetching | State::Appending { .. } => false,
        };
        if !ready || !self.pending.is_empty() {
            return;
        }
        following.state = State::Fetching;
        self.fetch_attempt += 1;
        let want = FetchPartition {
            tp: self.tp.clone(),
            topic_id: self.topic_id,
            current_leader_epoch: self.partition.leader_epoch,
            fetch_offset: self.end,
            last_fetched_epoch: self.epochs.epoch_before(self.end).unwrap_or(-1),
            // A follower that is held back acknowledges what it has, and takes no more.
            max_bytes: if held_back { 0 } else { FETCH_BYTES_MAX },
            high_watermark: self.hw,
        };
        let attempt = self.fetch_attempt;
        fx.push(ReplicaEffect::Fetch { to, want, attempt });
    }

    /// The leader has answered; none where it has not.
    pub fn on_fetched(
        &mut self,
        ctx: &Context<'_>,
        attempt: u64,
        answer: Option<FetchedPartition>,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let fetching = matches!(
            &self.role,
            Role::Follower(following) if following.state == State::Fetching
        );
        if !fetching || attempt != self.fetch_attempt {
            return;
        }
        let Some(answer) = answer.filter(|answer| answer.error.is_none()) else {
            let until_ms = ctx.now.mono_ms + BACKOFF_MS;
            self.set_state(State::Backoff { until_ms });
            return;
        };
        self.set_state(State::Idle);
        if let Some((epoch, end)) = answer.diverging {
            self.truncate_to_common(epoch, end, fx);
        } else if answer.records.is_empty() {
            self.take_high_watermark(answer.high_watermark, fx);
            self.rest_if_held_back(ctx);
        } else {
            self.append_fetched(ctx, &answer, fx);
        }
        self.drive_fetch(ctx, fx);
    }

    /// The leader answers a fetch of no bytes at once; asking again at once would spin.
    fn rest_if_held_back(&mut self, ctx: &Context<'_>) {
        if self.hold.is_some_and(|until| self.end >= until) {
            let until_ms = ctx.now.mono_ms + BACKOFF_MS;
            self.set_state(State::Backoff { until_ms });
        }
    }

    fn set_state(&mut self, state: State) {
        if let Role::Follower(following) = &mut self.role {
            following.state = state;
        }
    }

    /// Cuts to where the leader's largest epoch not above ours ends, or, where we lack that epoch,
    /// to where our next lower one ends; the next fetch asks about that (KIP-101, KIP-279).
    fn truncate_to_common(&mut self, epoch: i32, leader_end: i64, fx: &mut Vec<ReplicaEffect>) {
        let to = match self.epochs.end_for(epoch, self.end) {
            Some((own, own_end)) if own == epoch => own_end.min(leader_end),
            Some((_, own_end)) => own_end,
            None => leader_end,
        };
        self.truncate(to.clamp(0, self.end), fx);
    }

    fn append_fetched(
        &mut self,
        ctx: &Context<'_>,
        answer: &FetchedPartition,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let (bytes, end, note) = self.sound_prefix(&answer.records);
        if let Some(note) = note {
            fx.push(ReplicaEffect::Note(note));
        }
        if bytes.is_empty() {
            self.take_high_watermark(answer.high_watermark, fx);
            let until_ms = ctx.now.mono_ms + BACKOFF_MS;
            self.set_state(State::Backoff { until_ms });
            return;
        }
        let leader_hw = answer.high_watermark;
        self.set_state(State::Appending { leader_hw });
        self.append(bytes, end, fx);
    }

    /// The batches that follow on, are sound, and lie before the hold; where they end; and what
    /// was wrong with the next.
    fn sound_prefix(&mut self, records: &Bytes) -> (Bytes, i64, Option<String>) {
        let mut taken = BytesMut::new();
        let mut end = self.end;
        for next in batch::batches(records) {
            let wrong = match next.and_then(|(header, bytes)| {
                batch::check_crc(&bytes)?;
                header.check_count()?;
                Ok((header, bytes))
            }) {
                Ok((header, bytes)) if self.follows_on(&header, end) => {
                    if self.hold.is_some_and(|until| header.last_offset() >= until) {
                        break;
                    }
                    self.epochs.assign(header.leader_epoch, header.base_offset);
                    self.producers.record(&header);
                    taken.extend_from_slice(&bytes);
                    end = header.last_offset() + 1;
                    continue;
                }
                Ok((header, _)) => format!("begins at {}, not {end}", header.base_offset),
                Err(error) => error.to_string(),
            };
            let note = format!("{}: a fetched batch is refused: {wrong}", self.tp);
            return (taken.freeze(), end, Some(note));
        }
        (taken.freeze(), end, None)
    }

    fn follows_on(&self, header: &BatchHeader, end: i64) -> bool {
        header.base_offset == end
            && header.leader_epoch <= self.partition.leader_epoch
            && self
                .epochs
                .latest()
                .is_none_or(|latest| latest <= header.leader_epoch)
    }

    /// What was fetched is held now.
    pub(super) fn fetched_is_held(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let Role::Follower(following) = &self.role else {
            return;
        };
        if let State::Appending { leader_hw } = following.state {
            self.set_state(State::Idle);
            self.take_high_watermark(leader_hw, fx);
        }
        self.drive_fetch(ctx, fx);
    }

    /// A follower's HW is the leader's, as far as its own log goes.
    fn take_high_watermark(&mut self, leader_hw: i64, fx: &mut Vec<ReplicaEffect>) {
        let hw = leader_hw.min(self.held);
        if hw > self.hw {
            self.hw = hw;
            fx.push(ReplicaEffect::Progressed);
        }
    }
}
