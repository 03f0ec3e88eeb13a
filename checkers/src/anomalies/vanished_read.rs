//! `vanished-read`: a record that an ok consumer read showed, acknowledged or
//! not, and that is absent below the barrier.
//!
//! Jepsen's checker is blind to it: what was read once counts as neither lost
//! nor unseen. Where no final log reaches the barrier, a record has vanished
//! when a later read passes over its offset and nobody sees it afterwards.

use super::{Checker, Find, witness};
use crate::facts::records::{NEVER, Read, Send};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "vanished-read",
    definition: "a record that a consumer had read and that is gone below the barrier",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    match partition.verified() {
        true => absent(facts, partition, found),
        false => passed_over(facts, partition, found),
    }
}

fn absent(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    for send in &partition.sends {
        if send.barrier || send.first_consumed == NEVER {
            continue;
        }
        let seen = &partition.reads[send.first_consumed as usize];
        let Some(offset) = shown_at(seen, send.value) else {
            continue;
        };
        if !belongs_below(partition, seen, offset) || !partition.is_gone(send, Some(offset)) {
            continue;
        }
        let Some(log) = partition.witnessing(Some(offset)) else {
            continue;
        };
        if let Some(row) = log.covering(offset, &partition.reads) {
            report(facts, partition, send, seen, offset, row, found);
        }
    }
}

/// What was read before the barrier was sent belongs below it, whatever its
/// offset was then; of what was read later only offsets below it are judged.
fn belongs_below(partition: &Partition<'_>, seen: &Read<'_>, offset: i64) -> bool {
    partition.barrier.is_some_and(|barrier| {
        offset < barrier.offset || barrier.invoke.is_some_and(|invoke| seen.ret < invoke)
    })
}

fn passed_over(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let mut gone: Vec<(usize, i64, u32)> = partition
        .holes
        .iter()
        .filter_map(|hole| Some((partition.send_of(hole.value)?, hole.offset, hole.read)))
        .collect();
    gone.sort_unstable();
    gone.dedup_by_key(|(send, ..)| *send);
    for (send, offset, read) in gone {
        let send = &partition.sends[send];
        if send.barrier || send.last_read == NEVER {
            continue;
        }
        let last = &partition.reads[send.last_read as usize];
        if last.ret < partition.reads[read as usize].invoke {
            report(facts, partition, send, last, offset, read, found);
        }
    }
}

fn shown_at(read: &Read<'_>, value: i64) -> Option<i64> {
    let record = read.records.iter().find(|record| record.1 == value);
    record.map(|record| record.0)
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    send: &Send,
    seen: &Read<'_>,
    offset: i64,
    missing: u32,
    found: &mut Found,
) {
    let missing = &partition.reads[missing as usize];
    let (seen_op, missing_op) = (facts.op(seen.ret), facts.op(missing.ret));
    let proved = seen.ret < missing.ret
        && witness::shows(seen_op, partition.key, offset, send.value)
        && !witness::holds(missing_op, partition.key, send.value);
    let sentence = format!(
        "A consumer read {} at offset {offset} of {}; later that record is gone.",
        words::shown(send.value),
        partition.key,
    );
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            values: vec![send.value],
            ops: vec![seen_op.index, missing_op.index],
            time_ns: seen_op.time,
            sentence,
            scope: Scope::Any,
        },
    );
}
