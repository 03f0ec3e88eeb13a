//! What a leader keeps: how far each follower is, the high watermark, and who waits for it.

use std::collections::BTreeMap;

use super::isr::PendingIsr;
use super::produce::Waiters;
use super::{Context, Replica, ReplicaEffect, Role};
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;
use crate::core::messages::fetch::Follower;

/// A leader's state; a new one for each epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Leading {
    /// Where the epoch begins.
    pub epoch_start: i64,
    pub followers: BTreeMap<NodeId, FollowerProgress>,
    pub pending_isr: Option<PendingIsr>,
    pub next_isr_check_ms: u64,
    pub waiting: Waiters,
}

/// What a leader knows of a follower in this epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct FollowerProgress {
    /// Its log end offset; -1 until it has fetched in this epoch.
    pub leo: i64,
    pub broker_epoch: u64,
    /// When it last held all that the leader held.
    pub caught_up_ms: u64,
    /// The leader's log end offset at its last fetch, and when that was.
    pub leader_leo_at_fetch: i64,
    pub fetched_ms: u64,
}

impl Replica {
    /// Notes where the new epoch begins before anything is appended in it.
    pub(super) fn become_leader(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        self.fail_waiting(ErrorCode::NOT_LEADER_OR_FOLLOWER, fx);
        let written = self.take_written_waiters();
        let epoch = self.partition.leader_epoch;
        self.epochs.assign(epoch, self.end);
        let mut leading = Leading {
            epoch_start: self.end,
            next_isr_check_ms: ctx.now.mono_ms + ctx.timers.replica_lag_time_max_ms / 2,
            ..Leading::default()
        };
        leading.waiting.written = written;
        for node in self
            .partition
            .replicas
            .iter()
            .copied()
            .filter(|node| *node != ctx.node)
        {
            let in_sync = self.partition.isr.contains(&node);
            let progress = FollowerProgress {
                leo: -1,
                broker_epoch: ctx
                    .image
                    .brokers
                    .get(&node)
                    .map_or(0, |broker| broker.epoch),
                caught_up_ms: if in_sync { ctx.now.mono_ms } else { 0 },
                leader_leo_at_fetch: 0,
                fetched_ms: 0,
            };
            leading.followers.insert(node, progress);
        }
        self.role = Role::Leader(leading);
        fx.push(ReplicaEffect::Note(format!(
            "{}: leads in epoch {epoch} from offset {}, ISR {:?}, HW {}",
            self.tp, self.end, self.partition.isr, self.hw
        )));
        self.advance_high_watermark(ctx, fx);
        fx.push(ReplicaEffect::Progressed);
    }

    /// A follower's fetch is its word that it holds everything before `fetch_offset`.
    pub fn on_follower_fetch(
        &mut self,
        ctx: &Context<'_>,
        follower: Follower,
        fetch_offset: i64,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let (now, leo) = (ctx.now.mono_ms, self.held);
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let Some(progress) = leading.followers.get_mut(&follower.node) else {
            return;
        };
        if follower.broker_epoch < progress.broker_epoch {
            return; // a late fetch of an earlier start of the follower
        }
        if fetch_offset >= leo {
            progress.caught_up_ms = progress.caught_up_ms.max(now);
        } else if fetch_offset >= progress.leader_leo_at_fetch {
            progress.caught_up_ms = progress.caught_up_ms.max(progress.fetched_ms);
        }
        progress.leo = fetch_offset;
        progress.broker_epoch = follower.broker_epoch;
        progress.leader_leo_at_fetch = leo;
        progress.fetched_ms = now;
        self.maybe_expand_isr(ctx, follower.node, fx);
        self.advance_high_watermark(ctx, fx);
    }

    /// HW = the least log end offset over the maximal ISR and over replicas that have caught up
    /// and may join it; frozen while the ISR is below the minimum.
    pub(super) fn advance_high_watermark(
        &mut self,
        ctx: &Context<'_>,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        if self.partition.isr.len() < self.min_isr() {
            return;
        }
        let now = ctx.now.mono_ms;
        let lag_max = ctx.timers.replica_lag_time_max_ms;
        let counts = |node: NodeId, progress: &FollowerProgress| {
            self.is_in_maximal_isr(leading, node)
                || (progress.leo >= 0
                    && !self.lags_in_messages(ctx, progress)
                    && now <= progress.caught_up_ms.saturating_add(lag_max)
                    && ctx.image.is_eligible(node, progress.broker_epoch))
        };
        let hw = leading
            .followers
            .iter()
            .filter(|(node, progress)| counts(**node, progress))
            .map(|(_, progress)| progress.leo)
            .fold(self.held, i64::min);
        if hw > self.hw {
            self.hw = hw;
            self.release_committed(fx);
            fx.push(ReplicaEffect::Progressed);
        }
    }

    pub(super) fn tick_leader(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let now = ctx.now.mono_ms;
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let due = now >= leading.next_isr_check_ms;
        if due {
            leading.next_isr_check_ms = now + (ctx.timers.replica_lag_time_max_ms / 2).max(1);
            self.maybe_shrink_isr(ctx, fx);
        }
        self.retry_alter(ctx, fx);
        self.advance_high_watermark(ctx, fx);
    }
}
