//! `lost-write`: an acknowledged value that is absent from every final read
//! below the barrier.
//!
//! Lost is judged by value: an acknowledgement by a leader that was deposed
//! names an offset which the next leader gives to another record. Where no
//! final log reaches the barrier, an acknowledged record is lost when a read
//! passes over its offset and nobody sees it afterwards; and in histories of
//! consumers that do not say where they begin, when a later record was read
//! and it never was (Jepsen's `lost-write`, `jepsen.tests.kafka`).
//! What no read covers is `unverified`, never lost.

use super::{Checker, Find, witness};
use crate::facts::records::{NEVER, Send};
use crate::facts::{Facts, FinalLog, Partition};
use crate::finding::{Finding, Found};
use crate::history::words::shown;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "lost-write",
    definition: "an acknowledged value that no final read shows, or that later reads went past",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    if partition.verified() {
        let sends = partition.sends.iter();
        for send in sends.filter(|send| partition.is_lost(send)) {
            if let Some(log) = partition.witnessing(send.offset) {
                absent(facts, partition, log, send, found);
            }
        }
        return;
    }
    for (send, read) in passed_over(partition) {
        passed(facts, partition, send, read, found);
    }
}

fn absent(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    log: &FinalLog<'_>,
    send: &Send,
    found: &mut Found,
) {
    let barrier = partition.barrier.map_or(log.end, |barrier| barrier.offset);
    let Some(row) = log.covering(send.offset.unwrap_or(barrier), &partition.reads) else {
        return;
    };
    let (ack, read) = (
        facts.op(send.ret),
        facts.op(partition.reads[row as usize].ret),
    );
    let proved = witness::acknowledges(ack, partition.key, send.value)
        && !witness::holds(read, partition.key, send.value);
    let instead =
        witness::records(read, partition.key).find(|record| Some(record.0) == send.offset);
    let there = match (instead, send.offset) {
        (Some(record), _) => format!("; that offset holds {}", partition.named(record.1)),
        // The barrier was the last record to be written.
        (None, Some(offset)) if offset > barrier => format!("; the log ends at {barrier}"),
        (None, _) => String::new(),
    };
    let sentence = format!(
        "{} of {} was acknowledged{} and is in no final log{there}.",
        shown(send.value),
        partition.key,
        at_offset(send.offset),
    );
    found.add(
        proved,
        finding(facts, partition, send, read.index, sentence),
    );
}

fn passed(facts: &Facts<'_>, partition: &Partition<'_>, send: &Send, row: u32, found: &mut Found) {
    let read = facts.op(partition.reads[row as usize].ret);
    let ack = facts.op(send.ret);
    let proved = witness::names(ack, partition.key, send.value)
        && !witness::holds(read, partition.key, send.value);
    let sentence = format!(
        "{} of {} was acknowledged{}, a read went past it without showing it, and nobody saw it afterwards.",
        shown(send.value),
        partition.key,
        at_offset(send.offset),
    );
    found.add(
        proved,
        finding(facts, partition, send, read.index, sentence),
    );
}

fn finding(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    send: &Send,
    read: u64,
    sentence: String,
) -> Finding {
    Finding {
        anomaly: CHECKER.anomaly,
        key: partition.key.to_owned(),
        offset: send.offset,
        values: vec![send.value],
        ops: vec![facts.index(send.ret), read],
        time_ns: facts.op(send.ret).time,
        sentence,
        scope: Scope::Any,
    }
}

fn at_offset(offset: Option<i64>) -> String {
    offset.map_or(String::new(), |offset| format!(" at offset {offset}"))
}

/// Acknowledged records that were passed over and never seen: (send, read).
/// Each at most once.
pub(crate) fn passed_over<'p>(partition: &'p Partition<'_>) -> Vec<(&'p Send, u32)> {
    let mut lost: Vec<(usize, u32)> = partition
        .holes
        .iter()
        .filter_map(|hole| Some((partition.send_of(hole.value)?, hole.read)))
        .collect();
    if partition.foreign {
        lost.extend(outrun(partition));
    }
    lost.sort_unstable();
    lost.dedup_by_key(|(send, _)| *send);
    lost.into_iter()
        .map(|(send, read)| (&partition.sends[send], read))
        .filter(|(send, _)| send.acked_record() && send.last_read == NEVER)
        .collect()
}

/// Acknowledged records at or below the furthest first offset of any value that
/// was read.
fn outrun<'p>(partition: &'p Partition<'_>) -> impl Iterator<Item = (usize, u32)> + 'p {
    let furthest = partition
        .sends
        .iter()
        .filter_map(|send| {
            let first = send.read_at?.0;
            let acked = send.offset.filter(|_| send.acked());
            Some((
                acked.map_or(first, |acked| acked.min(first)),
                send.first_read,
            ))
        })
        .max();
    partition
        .sends
        .iter()
        .enumerate()
        .filter_map(move |(row, send)| {
            let (bound, read) = furthest?;
            (send.offset? <= bound).then_some((row, read))
        })
}
