//! `duplicate`: one value at two or more offsets of a partition.
//!
//! Acknowledgements and reads both place a value (Jepsen's version order). A
//! retry without idempotence may append again: such a finding needs that the
//! record was sent more than once. Copies of the barrier are nobody's loss.

use super::{Checker, Find, witness};
use crate::facts::records::Send;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words::shown;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "duplicate",
    definition: "one value at two or more offsets of a partition",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let mut doubled: Vec<i64> = doubled_by_ok(partition).collect();
    if partition.foreign {
        doubled.extend(doubled_by_dirty_polls(partition));
    }
    doubled.sort_unstable();
    doubled.dedup();
    if doubled.is_empty() {
        return;
    }
    let observers = observers(partition, &doubled);
    for (which, value) in doubled.iter().enumerate() {
        if let Some(row) = partition.send_of(*value) {
            let observers: Vec<_> = of(&observers, which).collect();
            report(facts, partition, &partition.sends[row], &observers, found);
        }
    }
}

fn doubled_by_ok(partition: &Partition<'_>) -> impl Iterator<Item = i64> {
    partition.sends.iter().filter_map(|send| {
        let (low, high) = placed(send)?;
        (low != high && !send.barrier).then_some(send.value)
    })
}

/// Lowest and highest offset at which anybody placed the value.
fn placed(send: &Send) -> Option<(i64, i64)> {
    let mut span = send.read_at;
    if let Some(offset) = send.offset.filter(|_| send.acked()) {
        crate::facts::records::widen(&mut span, offset);
    }
    span
}

/// In foreign histories polls of failed and indeterminate ops count as well.
fn doubled_by_dirty_polls(partition: &Partition<'_>) -> impl Iterator<Item = i64> {
    let dirty = partition.reads.iter().filter(|read| !read.ok);
    let records = dirty.flat_map(|read| read.records);
    records.filter_map(|&(offset, value)| {
        let send = &partition.sends[partition.send_of(value)?];
        let (low, high) = placed(send)?;
        (offset < low || offset > high).then_some(value)
    })
}

/// (which value, offset, position of the op) of everyone who placed one of
/// the doubled values (sorted), each offset once.
fn observers(partition: &Partition<'_>, doubled: &[i64]) -> Vec<(usize, i64, u32)> {
    let which = |value: i64| doubled.binary_search(&value).ok();
    let mut seen = Vec::new();
    for send in partition.sends.iter().filter(|send| send.acked()) {
        if let (Some(which), Some(offset)) = (which(send.value), send.offset) {
            seen.push((which, offset, send.ret));
        }
    }
    for read in &partition.reads {
        for &(offset, value) in read.records {
            if let Some(which) = which(value) {
                seen.push((which, offset, read.ret));
            }
        }
    }
    seen.sort_unstable();
    seen.dedup_by_key(|(which, offset, _)| (*which, *offset));
    seen
}

fn of(observers: &[(usize, i64, u32)], which: usize) -> impl Iterator<Item = (i64, u32)> + '_ {
    let first = observers.partition_point(|observer| observer.0 < which);
    observers[first..]
        .iter()
        .take_while(move |observer| observer.0 == which)
        .map(|&(_, offset, position)| (offset, position))
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    send: &Send,
    observers: &[(i64, u32)],
    found: &mut Found,
) {
    let places = |&(offset, position): &(i64, u32)| {
        let op = facts.op(position);
        witness::shows(op, partition.key, offset, send.value)
            || witness::claims(op, partition.key, offset, send.value)
    };
    let proved = observers.len() > 1 && observers.iter().all(places);
    let offsets: Vec<String> = observers.iter().map(|seen| seen.0.to_string()).collect();
    let tries = match send.attempts {
        0 => "was sent an unknown number of times".to_owned(),
        1 => "was sent once".to_owned(),
        tries => format!("was sent {tries} times"),
    };
    let mut ops: Vec<u64> = observers.iter().map(|seen| facts.index(seen.1)).collect();
    ops.dedup();
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: observers.first().map(|seen| seen.0),
            values: vec![send.value],
            ops,
            time_ns: facts.op(send.invoke).time,
            sentence: format!(
                "{} of {} {tries} and is at offsets {}.",
                shown(send.value),
                partition.key,
                offsets.join(" and "),
            ),
            scope: match send.attempts {
                1 => Scope::Any,
                _ => Scope::Retried,
            },
        },
    );
}
