//! Tables derived from a history: what checkers look at instead of lines.
//!
//! One pass over the ops sorts sends and reads by partition; everything else is
//! derived from those rows. Nothing here accuses.

mod build;
pub(crate) mod cluster;
pub(crate) mod faults;
mod final_log;
pub(crate) mod holes;
mod partition;
pub(crate) mod ranks;
pub(crate) mod records;

pub(crate) use final_log::FinalLog;
pub(crate) use partition::Partition;

use crate::history::{History, Op};
pub(crate) use faults::replicas_left;
use faults::{FaultWindow, Settled};

/// Everything that checkers may look at.
pub(crate) struct Facts<'h> {
    pub history: &'h History,
    /// In order of their keys.
    pub partitions: Vec<Partition<'h>>,
    /// Positions of the lines of the nemesis.
    pub nemesis: Vec<u32>,
    /// Positions of the ends of assign and subscribe.
    pub assigns: Vec<u32>,
    pub windows: Vec<FaultWindow>,
    pub settled: Option<Settled>,
    /// The harness marked final reads somewhere.
    pub has_final_reads: bool,
    /// Some op writes to several partitions, or writes and reads: no other can close a cycle.
    pub may_cycle: bool,
    /// Consumers that get partitions assigned may move between replies.
    pub subscribes: bool,
}

impl<'h> Facts<'h> {
    pub(crate) fn new(history: &'h History) -> Self {
        build::facts(history)
    }

    /// Lines of the nemesis, in order.
    pub(crate) fn nemesis_ops(&self) -> impl Iterator<Item = &'h Op> + '_ {
        self.nemesis.iter().map(|&position| self.op(position))
    }

    /// The op at a position.
    pub(crate) fn op(&self, position: u32) -> &'h Op {
        &self.history.ops()[position as usize]
    }

    /// The index field of the op at a position.
    pub(crate) fn index(&self, position: u32) -> u64 {
        self.op(position).index
    }
}
