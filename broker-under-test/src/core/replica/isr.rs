//! The in-sync replicas as a leader sees them: who leaves, who joins, and what holds meanwhile.
//!
//! A change is proposed to the controller and acted on only when it is confirmed. Until then the
//! *maximal* ISR holds: a member about to join counts already, one about to leave still does. A
//! proposal whose answer is lost may have been accepted, or may be accepted later still, so the
//! maximal ISR holds until a newer partition epoch is known.

use super::leader::{FollowerProgress, Leading};
use super::{Context, Replica, ReplicaEffect, Role};
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;

/// How long before a proposal that was lost or refused for now is made again.
const RETRY_MS: u64 = 50;

/// A proposal that the controller has not answered for good.
#[derive(Clone, Debug)]
pub(super) struct PendingIsr {
    /// What is proposed at present.
    isr: Vec<(NodeId, u64)>,
    /// Everything ever proposed on top of this partition epoch, and so perhaps in force.
    maximal: Vec<NodeId>,
    /// Whether it holds before it is confirmed, which is a bug.
    holds_at_once: bool,
    /// How often it was sent; a refusal is final only for the first.
    sent: u32,
    /// When to send it again; none while an answer is awaited.
    retry_at_ms: Option<u64>,
}

impl Replica {
    pub(super) fn is_in_maximal_isr(&self, leading: &Leading, node: NodeId) -> bool {
        match &leading.pending_isr {
            Some(pending) if pending.holds_at_once => pending.maximal.contains(&node),
            Some(pending) => self.partition.isr.contains(&node) || pending.maximal.contains(&node),
            None => self.partition.isr.contains(&node),
        }
    }

    /// Size of the maximal ISR.
    pub(super) fn maximal_isr_len(&self) -> usize {
        let Role::Leader(leading) = &self.role else {
            return self.partition.isr.len();
        };
        self.partition
            .replicas
            .iter()
            .filter(|node| self.is_in_maximal_isr(leading, **node))
            .count()
    }

    /// A follower joins with LEO >= HW and >= the start of the leader's epoch (KAFKA-7128), where
    /// its broker is up and is the start of it that fetched (KIP-903).
    pub(super) fn maybe_expand_isr(
        &mut self,
        ctx: &Context<'_>,
        node: NodeId,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        let Some(progress) = leading.followers.get(&node) else {
            return;
        };
        let joins = leading.pending_isr.is_none()
            && !self.partition.isr.contains(&node)
            && progress.leo >= self.hw
            && progress.leo >= leading.epoch_start
            && ctx.image.is_eligible(node, progress.broker_epoch);
        if joins {
            let mut isr = self.partition.isr.clone();
            isr.push(node);
            self.propose_isr(ctx, &isr, fx);
        }
    }

    /// A follower leaves when it is behind and has not caught up within the lag time; where the
    /// rule of before Kafka 0.9 is on, also when it lags by too many messages.
    pub(super) fn maybe_shrink_isr(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        if leading.pending_isr.is_some() {
            return;
        }
        let lags = |node: &NodeId| {
            leading.followers.get(node).is_some_and(|progress| {
                let since_ms = ctx.now.mono_ms.saturating_sub(progress.caught_up_ms);
                let slow = since_ms > ctx.timers.replica_lag_time_max_ms;
                (progress.leo != self.held && slow) || self.lags_in_messages(ctx, progress)
            })
        };
        let isr: Vec<NodeId> = self
            .partition
            .isr
            .iter()
            .copied()
            .filter(|node| !lags(node))
            .collect();
        if isr.len() < self.partition.isr.len() {
            self.propose_isr(ctx, &isr, fx);
        }
    }

    /// replica.lag.max.messages; a follower that has not fetched in this epoch has no lag yet.
    pub(super) fn lags_in_messages(&self, ctx: &Context<'_>, progress: &FollowerProgress) -> bool {
        let lag = self.held.saturating_sub(progress.leo);
        progress.leo >= 0 && ctx.lag_max_messages.is_some_and(|limit| lag > limit)
    }

    fn propose_isr(&mut self, ctx: &Context<'_>, isr: &[NodeId], fx: &mut Vec<ReplicaEffect>) {
        let with_epochs = self.with_broker_epochs(ctx, isr);
        let shrinks = isr.len() < self.partition.isr.len();
        if let Role::Leader(leading) = &mut self.role {
            leading.pending_isr = Some(PendingIsr {
                isr: with_epochs,
                maximal: isr.to_vec(),
                holds_at_once: shrinks && ctx.bugs.shrink_before_confirm(),
                sent: 0,
                retry_at_ms: None,
            });
        }
        self.send_alter(fx);
    }

    fn with_broker_epochs(&self, ctx: &Context<'_>, isr: &[NodeId]) -> Vec<(NodeId, u64)> {
        let known = |node: NodeId| {
            ctx.image
                .brokers
                .get(&node)
                .map_or(0, |broker| broker.epoch)
        };
        isr.iter()
            .map(|node| {
                let fetched = match &self.role {
                    Role::Leader(leading) => leading
                        .followers
                        .get(node)
                        .filter(|progress| progress.leo >= 0)
                        .map(|progress| progress.broker_epoch),
                    Role::Follower(_) => None,
                };
                let own = (*node == ctx.node).then_some(ctx.broker_epoch);
                (*node, own.or(fetched).unwrap_or_else(|| known(*node)))
            })
            .collect()
    }

    fn send_alter(&mut self, fx: &mut Vec<ReplicaEffect>) {
        let (leader_epoch, partition_epoch) =
            (self.partition.leader_epoch, self.partition.partition_epoch);
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        if let Some(pending) = &mut leading.pending_isr {
            pending.sent += 1;
            pending.retry_at_ms = None;
            fx.push(ReplicaEffect::AlterPartition {
                leader_epoch,
                partition_epoch,
                isr: pending.isr.clone(),
            });
        }
    }

    pub(super) fn retry_alter(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let Role::Leader(leading) = &self.role else {
            return;
        };
        let due = leading
            .pending_isr
            .as_ref()
            .and_then(|pending| pending.retry_at_ms)
            .is_some_and(|at| ctx.now.mono_ms >= at);
        if due {
            self.send_alter(fx);
        }
    }

    /// The controller has answered a proposal made on (leader epoch, partition epoch); without an
    /// answer the error is NOT_CONTROLLER.
    pub fn on_alter_result(
        &mut self,
        ctx: &Context<'_>,
        made_on: (i32, i32),
        error: ErrorCode,
        partition_epoch: i32,
        isr: Vec<NodeId>,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let stands_on = (self.partition.leader_epoch, self.partition.partition_epoch);
        if made_on != stands_on {
            return;
        }
        match error {
            ErrorCode::NONE => {
                self.partition.isr = isr;
                self.partition.partition_epoch = partition_epoch;
                self.isr_confirmed(ctx, fx);
            }
            ErrorCode::INELIGIBLE_REPLICA => self.alter_refused(ctx, fx),
            // Also where the controller has something newer: it may lose its office before that is
            // committed, and then nothing newer ever comes.
            _ => self.alter_again_later(ctx),
        }
    }

    /// Refused at the first sending: nothing of it can come into force. Sent more than once, an
    /// earlier copy may still arrive and be accepted, so the ISR as it stands is proposed instead;
    /// once that is confirmed, its partition epoch keeps every earlier copy out.
    fn alter_refused(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        let isr = self.partition.isr.clone();
        let unchanged = self.with_broker_epochs(ctx, &isr);
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        let Some(pending) = &mut leading.pending_isr else {
            return;
        };
        if pending.sent <= 1 {
            leading.pending_isr = None;
            self.advance_high_watermark(ctx, fx);
        } else {
            pending.isr = unchanged;
            self.alter_again_later(ctx);
        }
    }

    fn alter_again_later(&mut self, ctx: &Context<'_>) {
        if let Role::Leader(leading) = &mut self.role
            && let Some(pending) = &mut leading.pending_isr
        {
            pending.retry_at_ms = Some(ctx.now.mono_ms + RETRY_MS);
        }
    }

    /// A newer partition epoch is in force: whatever was proposed on an older one never will be.
    pub(super) fn isr_confirmed(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        if let Role::Leader(leading) = &mut self.role {
            leading.pending_isr = None;
        }
        self.advance_high_watermark(ctx, fx);
    }
}
