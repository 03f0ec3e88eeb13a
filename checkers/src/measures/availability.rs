//! When a partition served nobody though somebody asked.
//!
//! An outage begins with the first request that no success follows within
//! [`PATIENCE_NS`], or with the last success if requests were still open then,
//! and ends with the next success (or the last answer of any kind). Idle time
//! is no outage.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::facts::faults::FaultWindow;
use crate::facts::records::{Ended, Event};
use crate::facts::{Facts, Partition};
use crate::history::{OpType, Process};

/// Shorter waits are latency, not unavailability.
const PATIENCE_NS: u64 = 500_000_000;

/// Unavailability of writes and of reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Availability {
    /// No send was acknowledged.
    pub writes: Unavailable,
    /// No read was answered.
    pub reads: Unavailable,
}

/// Sums of outages by partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// The worst partition's sum.
    pub worst_ms: u64,
    /// Which that is.
    pub worst: Option<String>,
    /// Every partition's sum.
    pub by_partition: BTreeMap<String, u64>,
    /// When: (from, to) in milliseconds since the run's start.
    pub outages_ms: BTreeMap<String, Vec<(u64, u64)>>,
}

/// A request's life as far as availability is concerned.
#[derive(Clone, Copy)]
enum Moment {
    Asked,
    Served,
    Refused,
}

/// Availability, and the outages of writes by partition in nanoseconds.
pub(super) fn measure(facts: &Facts<'_>) -> (Availability, Vec<Vec<(u64, u64)>>) {
    let mut writes = Unavailable::default();
    let mut all = Vec::new();
    for partition in &facts.partitions {
        let outages = outages(&writes_of(facts, partition));
        writes.add(partition.key, &outages);
        all.push(outages);
    }
    let mut reads = Unavailable::default();
    for (key, moments) in reads_by_key(facts) {
        reads.add(key, &outages(&moments));
    }
    (Availability { writes, reads }, all)
}

impl Unavailable {
    fn add(&mut self, key: &str, outages: &[(u64, u64)]) {
        let sum = in_ms(outages.iter().map(|(from, to)| to - from).sum());
        self.by_partition.insert(key.to_owned(), sum);
        if sum > self.worst_ms {
            self.worst_ms = sum;
            self.worst = Some(key.to_owned());
        }
        if !outages.is_empty() {
            let spans = outages.iter().map(|&(from, to)| (in_ms(from), in_ms(to)));
            self.outages_ms.insert(key.to_owned(), spans.collect());
        }
    }
}

/// The worst partition's outage of writes within a fault's window.
pub(super) fn within(outages: &[Vec<(u64, u64)>], window: &FaultWindow) -> u64 {
    let end = window.to_ns.unwrap_or(u64::MAX);
    let overlap = |&(from, to): &(u64, u64)| to.min(end).saturating_sub(from.max(window.from_ns));
    let sums = outages.iter().map(|spans| spans.iter().map(overlap).sum());
    in_ms(sums.max().unwrap_or(0))
}

fn outages(moments: &[(u64, Moment)]) -> Vec<(u64, u64)> {
    let mut outages = Vec::new();
    let mut open = 0_u64;
    let mut unserved: Option<u64> = None;
    let mut last_answer = 0;
    for &(time, moment) in moments {
        match moment {
            Moment::Asked => {
                open += 1;
                unserved.get_or_insert(time);
            }
            Moment::Refused => {
                open = open.saturating_sub(1);
                last_answer = time;
            }
            Moment::Served => {
                open = open.saturating_sub(1);
                push(&mut outages, unserved, time);
                unserved = (open > 0).then_some(time);
            }
        }
    }
    push(&mut outages, unserved, last_answer);
    outages
}

fn push(outages: &mut Vec<(u64, u64)>, from: Option<u64>, to: u64) {
    if let Some(from) = from
        && to.saturating_sub(from) >= PATIENCE_NS
    {
        outages.push((from, to));
    }
}

fn writes_of(facts: &Facts<'_>, partition: &Partition<'_>) -> Vec<(u64, Moment)> {
    let mut moments = Vec::with_capacity(partition.events.len());
    for &event in &partition.events {
        let (Event::SendInvoked(row) | Event::SendReturned(row)) = event else {
            continue;
        };
        let send = &partition.sends[row as usize];
        if send.barrier || send.acks == Some(0) {
            continue;
        }
        moments.push(match (event, send.ended) {
            (Event::SendInvoked(_), _) => (facts.op(send.invoke).time, Moment::Asked),
            (_, Ended::Ok) => (facts.op(send.ret).time, Moment::Served),
            _ => (facts.op(send.ret).time, Moment::Refused),
        });
    }
    moments
}

/// Polls by partition. A refused poll names its partition at most in its
/// circumstances, so those of either end are asked.
fn reads_by_key<'h>(facts: &Facts<'h>) -> BTreeMap<&'h str, Vec<(u64, Moment)>> {
    let mut by_key: BTreeMap<&str, Vec<(u64, Moment)>> = BTreeMap::new();
    let ops = facts.history.ops();
    for (position, op) in ops.iter().enumerate() {
        if !op.value.polls() || op.process == Process::Nemesis {
            continue;
        }
        let partner = facts.history.partner(position).map(|other| &ops[other]);
        let is_final = |op: &crate::history::Op| op.reads.values().any(|info| info.is_final);
        if is_final(op) || partner.is_some_and(is_final) {
            continue;
        }
        let moment = match op.kind {
            OpType::Invoke => Moment::Asked,
            OpType::Ok => Moment::Served,
            OpType::Fail | OpType::Info => Moment::Refused,
        };
        let mut keys: Vec<&str> = op.reads.keys().map(String::as_str).collect();
        if let Some(other) = partner {
            keys.extend(other.reads.keys().map(String::as_str));
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            by_key.entry(key).or_default().push((op.time, moment));
        }
    }
    by_key
}

fn in_ms(ns: u64) -> u64 {
    ns / 1_000_000
}
