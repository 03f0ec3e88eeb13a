//! Acknowledged records that no ok poll had shown yet: Jepsen's `unseen`.
//!
//! Lost and delayed are not told apart, so it is a measure and accuses nobody.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{History, OpType, Process};

/// How many were unseen after one ok op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Time of the op's end, in nanoseconds since the run's start.
    pub time: u64,
    /// By partition.
    pub unseen: BTreeMap<String, u64>,
}

/// The series over all ok ops that send or poll.
pub fn unseen_series(history: &History) -> Vec<Unseen> {
    let mut series = Vec::new();
    let mut watch = Watch::default();
    for op in history.ops() {
        let counts = op.kind == OpType::Ok && op.process != Process::Nemesis;
        if counts && (op.value.polls() || !op.value.sends().is_empty()) {
            watch.see(op);
            series.push(Unseen {
                time: op.time,
                unseen: watch.counts.clone(),
            });
        }
    }
    series
}

#[derive(Default)]
struct Watch<'h> {
    acked: BTreeSet<(&'h str, i64)>,
    seen: BTreeSet<(&'h str, i64)>,
    counts: BTreeMap<String, u64>,
}

impl<'h> Watch<'h> {
    fn see(&mut self, op: &'h crate::history::Op) {
        for send in op.value.sends() {
            let record = (send.key.as_str(), send.value);
            if op.acks != Some(0) && self.acked.insert(record) && !self.seen.contains(&record) {
                *self.counts.entry(send.key.clone()).or_default() += 1;
            }
        }
        for (key, list) in op.value.polled().into_iter().flatten() {
            for &(_, value) in list {
                let record = (key.as_str(), value);
                if self.seen.insert(record) && self.acked.contains(&record) {
                    let count = self.counts.entry(key.clone()).or_default();
                    *count = count.saturating_sub(1);
                }
            }
        }
    }
}
