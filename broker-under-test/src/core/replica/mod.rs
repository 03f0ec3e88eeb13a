//! One replica of one partition: its log as the core knows it, and its part as leader or follower.
//!
//! Promises, beside Kafka's: the high watermark never goes back while the replica leads in one
//! epoch; an offset counts as held (for followers, acknowledgements and readers) only once storage
//! has completed it; a new leader notes where its epoch begins before it appends; truncation is
//! by epoch, never to the high watermark.

pub mod epochs;
mod fetch;
mod follower;
mod isr;
mod leader;
mod produce;
pub mod producers;

use std::collections::VecDeque;

use bytes::Bytes;

use self::epochs::EpochCache;
use self::follower::Following;
use self::leader::Leading;
use self::producers::ProducerStates;
use super::bugs::Bugs;
use super::config::Timers;
use super::errors::ErrorCode;
use super::ids::{Addr, NO_LEADER, NodeId, Now, TopicId, TopicPartition};
use super::messages::admin::ReplicaState;
use super::messages::fetch::FetchPartition;
use super::metadata::image::TopicConfig;
use super::metadata::{Image, Partition};

pub use self::fetch::{FetchStatus, ReadPlan};
pub use self::produce::ProduceOutcome;

/// A request that waits for its answer; the node knows the connection behind it.
pub type Ticket = u64;

/// What a replica's disk held at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecoveredLog {
    /// Of which topic of that name; 0 where that cannot be told.
    pub topic_id: TopicId,
    /// Log end offset after recovery.
    pub end: i64,
    /// (epoch, first offset) of the batches found.
    pub epochs: Vec<(i32, i64)>,
    /// Producers of the batches found.
    pub producers: ProducerStates,
    /// High watermark of the last checkpoint.
    pub high_watermark: i64,
}

/// What every step of a replica may look at.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// This moment.
    pub now: Now,
    /// This node.
    pub node: NodeId,
    /// The epoch of its registration.
    pub broker_epoch: u64,
    /// Time-outs.
    pub timers: &'a Timers,
    /// The legacy limit of a follower's lag in messages, where it is on.
    pub lag_max_messages: Option<i64>,
    /// Bugs that are switched on.
    pub bugs: &'a Bugs,
    /// The metadata as applied on this node.
    pub image: &'a Image,
}

/// What a replica wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplicaEffect {
    /// Append to the log; complete with [`Replica::on_appended`].
    Append {
        /// Offset of the first record.
        at: i64,
        /// Whole batches.
        bytes: Bytes,
        /// Not before it is on disk.
        sync: bool,
    },
    /// Cut the log; complete with [`Replica::on_truncated`].
    Truncate {
        /// The new end.
        to: i64,
        /// Whether the producers' state must be built anew.
        rebuild_producers: bool,
    },
    /// Fetch from the leader; complete with [`Replica::on_fetched`].
    Fetch {
        /// The leader's replication listener.
        to: Addr,
        /// What.
        want: FetchPartition,
        /// Hand back with the answer.
        attempt: u64,
    },
    /// Ask the controller for an ISR; complete with [`Replica::on_alter_result`].
    AlterPartition {
        /// The leader's epoch.
        leader_epoch: i32,
        /// The partition epoch that it builds on.
        partition_epoch: i32,
        /// The ISR with the members' broker epochs.
        isr: Vec<(NodeId, u64)>,
    },
    /// A produce request is decided.
    Produced {
        /// Which.
        ticket: Ticket,
        /// How.
        outcome: ProduceOutcome,
    },
    /// More can be read than before, or the role has changed: look at waiting fetches again.
    Progressed,
    /// Worth a line in the log.
    Note(String),
}

/// What the replica is at present.
#[derive(Clone, Debug)]
enum Role {
    Leader(Leading),
    Follower(Following),
}

/// A write that storage has not completed yet, and where the log ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Append(i64),
    Truncate(i64),
}

/// One replica.
#[derive(Clone, Debug)]
pub struct Replica {
    tp: TopicPartition,
    topic_id: TopicId,
    config: TopicConfig,
    /// State of the partition as this replica last took it over.
    partition: Partition,
    role: Role,
    /// Next offset to be assigned.
    end: i64,
    /// Offsets before this one are held as the flush policy demands.
    held: i64,
    pending: VecDeque<Pending>,
    /// Bumped by each truncation.
    generation: u64,
    /// The producers' state is being built anew after a truncation.
    rebuilding: bool,
    epochs: EpochCache,
    producers: ProducerStates,
    hw: i64,
    hold: Option<i64>,
    /// Number of the latest fetch, so that a late answer to another is not taken for it.
    fetch_attempt: u64,
}

impl Replica {
    /// A replica with what its disk held. It follows nobody until it is told whom.
    #[must_use]
    pub fn new(tp: TopicPartition, config: TopicConfig, recovered: RecoveredLog) -> Self {
        Self {
            tp,
            topic_id: recovered.topic_id,
            config,
            partition: Partition {
                replicas: Vec::new(),
                isr: Vec::new(),
                leader: NO_LEADER,
                leader_epoch: -1,
                partition_epoch: -1,
            },
            role: Role::Follower(Following::default()),
            end: recovered.end,
            held: recovered.end,
            pending: VecDeque::new(),
            generation: 0,
            rebuilding: false,
            epochs: EpochCache::new(recovered.epochs),
            producers: recovered.producers,
            hw: recovered.high_watermark.clamp(0, recovered.end),
            hold: None,
            fetch_attempt: 0,
        }
    }

    /// The topic, told from others of the same name.
    #[must_use]
    pub fn topic_id(&self) -> TopicId {
        self.topic_id
    }

    /// High watermark.
    #[must_use]
    pub fn high_watermark(&self) -> i64 {
        self.hw
    }

    /// Log end offset: offsets before it are held.
    #[must_use]
    pub fn log_end(&self) -> i64 {
        self.held
    }

    /// How often the log has been truncated.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether this replica takes itself for the leader.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// The leader and epoch as this replica knows them.
    #[must_use]
    pub fn leader_and_epoch(&self) -> (NodeId, i32) {
        (self.partition.leader, self.partition.leader_epoch)
    }

    /// How the replica stands, for the admin port.
    #[must_use]
    pub fn state(&self) -> ReplicaState {
        ReplicaState {
            topic: self.tp.topic.to_string(),
            partition: self.tp.partition,
            role: if self.is_leader() {
                "leader"
            } else {
                "follower"
            },
            leader: self.partition.leader,
            leader_epoch: self.partition.leader_epoch,
            partition_epoch: self.partition.partition_epoch,
            leo: self.held,
            hw: self.hw,
            isr: self.partition.isr.clone(),
            replicas: self.partition.replicas.clone(),
            log_start: 0,
            epochs: self.epochs.entries().to_vec(),
            hold: self.hold,
        }
    }

    /// Takes over a committed state of the partition.
    pub fn on_metadata(
        &mut self,
        ctx: &Context<'_>,
        config: TopicConfig,
        partition: &Partition,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        self.config = config;
        if partition.partition_epoch <= self.partition.partition_epoch {
            return;
        }
        let deposed = self.is_leader() && partition.leader != ctx.node;
        if deposed && ctx.bugs.ignores_deposition() {
            return;
        }
        let new_epoch = partition.leader_epoch > self.partition.leader_epoch;
        self.partition = partition.clone();
        if partition.leader == ctx.node {
            if new_epoch || !self.is_leader() {
                self.become_leader(ctx, fx);
            } else {
                self.isr_confirmed(ctx, fx);
            }
        } else if new_epoch || self.is_leader() {
            self.become_follower(ctx, fx);
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        match self.role {
            Role::Leader(_) => self.tick_leader(ctx, fx),
            Role::Follower(_) => self.drive_fetch(ctx, fx),
        }
    }

    /// The follower must not fetch at or beyond this offset; none lifts it.
    pub fn set_hold(&mut self, ctx: &Context<'_>, hold: Option<i64>, fx: &mut Vec<ReplicaEffect>) {
        self.hold = hold;
        self.drive_fetch(ctx, fx);
    }

    /// The oldest append under way is complete.
    pub fn on_appended(&mut self, ctx: &Context<'_>, fx: &mut Vec<ReplicaEffect>) {
        if let Some(Pending::Append(end)) = self.pending.pop_front() {
            self.held = self.held.max(end);
            self.release_written(fx);
            match self.role {
                Role::Leader(_) => {
                    if ctx.lag_max_messages.is_some() {
                        self.maybe_shrink_isr(ctx, fx);
                    }
                    self.advance_high_watermark(ctx, fx);
                    fx.push(ReplicaEffect::Progressed);
                }
                Role::Follower(_) => self.fetched_is_held(ctx, fx),
            }
        }
    }

    /// The oldest truncation under way is complete.
    pub fn on_truncated(
        &mut self,
        ctx: &Context<'_>,
        producers: Option<ProducerStates>,
        fx: &mut Vec<ReplicaEffect>,
    ) {
        self.pending.pop_front();
        if let Some(producers) = producers {
            self.producers = producers;
        }
        let more = self
            .pending
            .iter()
            .any(|pending| matches!(pending, Pending::Truncate(_)));
        self.rebuilding = more;
        self.drive_fetch(ctx, fx);
    }

    fn append(&mut self, bytes: Bytes, end: i64, fx: &mut Vec<ReplicaEffect>) {
        fx.push(ReplicaEffect::Append {
            at: self.end,
            bytes,
            sync: self.config.flush_every_batch,
        });
        self.end = end;
        self.pending.push_back(Pending::Append(end));
    }

    /// Cuts the log at `to`. Appends still under way count only as far as they survive.
    fn truncate(&mut self, to: i64, fx: &mut Vec<ReplicaEffect>) {
        if to >= self.end {
            return;
        }
        let rebuild_producers = self.producers.reaches_beyond(to);
        fx.push(ReplicaEffect::Note(format!(
            "{}: truncates from {} to {to} (HW {})",
            self.tp, self.end, self.hw
        )));
        fx.push(ReplicaEffect::Truncate {
            to,
            rebuild_producers,
        });
        for pending in &mut self.pending {
            let (Pending::Append(end) | Pending::Truncate(end)) = pending;
            *end = (*end).min(to);
        }
        self.pending.push_back(Pending::Truncate(to));
        self.end = to;
        self.held = self.held.min(to);
        self.hw = self.hw.min(to);
        self.epochs.truncate(to);
        self.generation += 1;
        self.rebuilding = true;
    }

    /// The effective minimum: min.insync.replicas, at most the replication factor.
    fn min_isr(&self) -> usize {
        let wanted = usize::try_from(self.config.min_insync_replicas).unwrap_or(1);
        wanted.min(self.partition.replicas.len())
    }

    fn check_epoch(&self, believed: i32) -> ErrorCode {
        match believed {
            e if e < 0 || e == self.partition.leader_epoch => ErrorCode::NONE,
            e if e < self.partition.leader_epoch => ErrorCode::FENCED_LEADER_EPOCH,
            _ => ErrorCode::UNKNOWN_LEADER_EPOCH,
        }
    }
}

#[cfg(test)]
mod tests;
