//! Appending what producers send, and answering them when their acks are met.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::producers::Verdict;
use super::{Context, Replica, ReplicaEffect, Role, Ticket};
use crate::core::errors::ErrorCode;
use crate::kafka::batch::{self, BatchError, BatchHeader};

/// How a produce request ended for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProduceOutcome {
    /// NONE where acks are met.
    pub error: ErrorCode,
    /// Offset of the first record, or -1.
    pub base_offset: i64,
    /// For a person, where there is more to say than the code.
    pub message: Option<String>,
}

impl ProduceOutcome {
    pub(super) fn failed(error: ErrorCode) -> Self {
        Self {
            error,
            base_offset: -1,
            message: None,
        }
    }

    fn done(base_offset: i64) -> Self {
        Self {
            error: ErrorCode::NONE,
            base_offset,
            message: None,
        }
    }
}

/// Who waits, by (end offset, ticket), and the base offset to answer with.
pub(super) type Waiting = BTreeMap<(i64, Ticket), i64>;

/// Producers that wait for their acks.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiters {
    /// For the leader's own write.
    pub written: Waiting,
    /// For the high watermark.
    pub committed: Waiting,
}

impl Replica {
    /// Appends one batch as leader. The outcome comes as [`ReplicaEffect::Produced`], at once or
    /// when the acks are met; with acks=0 it comes once the batch is taken.
    pub fn produce(
        &mut self,
        ctx: &Context<'_>,
        ticket: Ticket,
        acks: i16,
        bytes: &Bytes,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        match self.try_append(acks, bytes, fx) {
            Err(outcome) => fx.push(ReplicaEffect::Produced { ticket, outcome }),
            Ok((base, end)) => self.wait_for_acks(ctx, ticket, acks, base, end, fx),
        }
    }

    /// Base offset and end offset, of the new batch or of the one that this repeats.
    fn try_append(
        &mut self,
        acks: i16,
        bytes: &Bytes,
        fx: &mut Vec<ReplicaEffect>,
    ) -> Result<(i64, i64), ProduceOutcome> {
        if !self.is_leader() || self.rebuilding {
            return Err(ProduceOutcome::failed(ErrorCode::NOT_LEADER_OR_FOLLOWER));
        }
        if acks == -1 && self.partition.isr.len() < self.min_isr() {
            let message = format!(
                "{} in-sync replicas, {} required",
                self.partition.isr.len(),
                self.min_isr()
            );
            return Err(ProduceOutcome {
                message: Some(message),
                ..ProduceOutcome::failed(ErrorCode::NOT_ENOUGH_REPLICAS)
            });
        }
        let header = check_batch(bytes)?;
        match self.producers.check(&header) {
            Verdict::Repeat(base, last) => Ok((base, last + 1)),
            Verdict::Refused(error) => Err(ProduceOutcome::failed(error)),
            Verdict::Next => Ok(self.append_batch(bytes, fx)),
        }
    }

    fn append_batch(&mut self, bytes: &Bytes, fx: &mut Vec<ReplicaEffect>) -> (i64, i64) {
        let base = self.end;
        let stamped = batch::stamp(bytes, base, self.partition.leader_epoch);
        let end = match BatchHeader::parse(&stamped) {
            Ok(header) => {
                self.producers.record(&header);
                header.last_offset() + 1
            }
            Err(_) => base,
        };
        self.append(stamped, end, fx);
        (base, end)
    }

    fn wait_for_acks(
        &mut self,
        ctx: &Context<'_>,
        ticket: Ticket,
        acks: i16,
        base: i64,
        end: i64,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        let waits_for_isr = acks == -1 && !ctx.bugs.ack_all_on_local_append();
        let Role::Leader(leading) = &mut self.role else {
            return;
        };
        if acks == 0 {
            let outcome = ProduceOutcome::done(base);
            fx.push(ReplicaEffect::Produced { ticket, outcome });
        } else if waits_for_isr {
            leading.waiting.committed.insert((end, ticket), base);
            self.release_committed(fx);
        } else {
            leading.waiting.written.insert((end, ticket), base);
            self.release_written(fx);
        }
        self.advance_high_watermark(ctx, fx);
    }

    /// A produce request has timed out: its answer is not wanted any more.
    pub fn forget(&mut self, ticket: Ticket) {
        if let Some(waiting) = self.waiters() {
            waiting.written.retain(|(_, waiting), _| *waiting != ticket);
            waiting
                .committed
                .retain(|(_, waiting), _| *waiting != ticket);
        }
    }

    fn waiters(&mut self) -> Option<&mut Waiters> {
        match &mut self.role {
            Role::Leader(leading) => Some(&mut leading.waiting),
            Role::Follower(following) => Some(&mut following.waiting),
        }
    }

    /// acks=1 is met by this log's own write, whatever the replica has become meanwhile.
    pub(super) fn release_written(&mut self, fx: &mut Vec<ReplicaEffect>) {
        let held = self.held;
        if let Some(waiting) = self.waiters() {
            let later = waiting.written.split_off(&(held + 1, 0));
            for ((_, ticket), base) in std::mem::replace(&mut waiting.written, later) {
                let outcome = ProduceOutcome::done(base);
                fx.push(ReplicaEffect::Produced { ticket, outcome });
            }
        }
    }

    pub(super) fn release_committed(&mut self, fx: &mut Vec<ReplicaEffect>) {
        let (hw, enough) = (self.hw, self.maximal_isr_len() >= self.min_isr());
        if let Role::Leader(leading) = &mut self.role {
            let later = leading.waiting.committed.split_off(&(hw + 1, 0));
            for ((_, ticket), base) in std::mem::replace(&mut leading.waiting.committed, later) {
                let mut outcome = ProduceOutcome::done(base);
                if !enough {
                    outcome = ProduceOutcome::failed(ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND);
                }
                fx.push(ReplicaEffect::Produced { ticket, outcome });
            }
        }
    }

    /// Leadership is over: whoever waits for the high watermark cannot be told any more.
    pub(super) fn fail_waiting(&mut self, error: ErrorCode, fx: &mut Vec<ReplicaEffect>) {
        if let Role::Leader(leading) = &mut self.role {
            for (_, ticket) in std::mem::take(&mut leading.waiting.committed).into_keys() {
                let outcome = ProduceOutcome::failed(error);
                fx.push(ReplicaEffect::Produced { ticket, outcome });
            }
        }
    }

    /// Producers with acks=1 whose batch is on its way to this log: they outlive the role, since
    /// an answer that the batch is certainly not there would be a lie.
    pub(super) fn take_written_waiters(&mut self) -> Waiting {
        self.waiters()
            .map(|waiting| std::mem::take(&mut waiting.written))
            .unwrap_or_default()
    }
}

fn check_batch(bytes: &Bytes) -> Result<BatchHeader, ProduceOutcome> {
    let refuse = |error: ErrorCode, message: String| ProduceOutcome {
        message: Some(message),
        ..ProduceOutcome::failed(error)
    };
    if bytes.len() > batch::BATCH_BYTES_MAX {
        let message = format!(
            "a batch may have {} bytes at the most",
            batch::BATCH_BYTES_MAX
        );
        return Err(refuse(ErrorCode::MESSAGE_TOO_LARGE, message));
    }
    let header = batch::validate_produced(bytes).map_err(|error| {
        let code = match error {
            BatchError::Magic(_) => ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT,
            BatchError::Count { .. }
            | BatchError::Attributes { .. }
            | BatchError::Records { .. } => ErrorCode::INVALID_RECORD,
            _ => ErrorCode::CORRUPT_MESSAGE,
        };
        refuse(code, error.to_string())
    })?;
    if header.is_transactional() {
        let message = "transactions are not served".to_owned();
        return Err(refuse(ErrorCode::INVALID_RECORD, message));
    }
    Ok(header)
}
