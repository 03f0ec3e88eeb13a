//! `int-poll-skip`: one reply passes over records between two that it shows.
//!
//! "int" is internal to one op, as in Jepsen. Gaps between offsets alone are
//! nothing: only a record that is known to stand there is missed.

use std::collections::BTreeMap;

use super::{Checker, Find, witness};
use crate::facts::holes::Hole;
use crate::facts::records::NEVER;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words::shown;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "int-poll-skip",
    definition: "one reply passes over records between two that it shows",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    skipped(facts, partition, CHECKER.anomaly, true, found);
}

/// Reports the holes of each read, one finding a read and gap.
pub(super) fn skipped(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    anomaly: &'static str,
    inner: bool,
    found: &mut Found,
) {
    let mut gaps: BTreeMap<(u32, i64), Vec<&Hole>> = BTreeMap::new();
    for hole in &partition.holes {
        if hole.inner == inner && is_skip(partition, hole) {
            let records = partition.reads[hole.read as usize].records;
            let above = records.partition_point(|record| record.0 < hole.offset);
            let gap = records.get(above).map_or(i64::MAX, |record| record.0);
            gaps.entry((hole.read, gap)).or_default().push(hole);
        }
    }
    for ((row, _), holes) in gaps {
        report(facts, partition, anomaly, row, &holes, found);
    }
}

/// The record was not gone when the read passed over it. (If it was, that is
/// `lost-write` or `vanished-read`.)
fn is_skip(partition: &Partition<'_>, hole: &Hole) -> bool {
    let Some(row) = partition.send_of(hole.value) else {
        return true;
    };
    let send = &partition.sends[row];
    if partition.verified() || partition.foreign || send.barrier {
        return true;
    }
    send.last_read != NEVER
        && partition.reads[send.last_read as usize].ret > partition.reads[hole.read as usize].invoke
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    anomaly: &'static str,
    row: u32,
    holes: &[&Hole],
    found: &mut Found,
) {
    let read = &partition.reads[row as usize];
    let op = facts.op(read.ret);
    let proved = holes
        .iter()
        .all(|hole| witness::passes_over(op, partition.key, hole.offset));
    let Some(first) = holes.first() else { return };
    let mut ops = vec![op.index];
    ops.extend(observer(facts, partition, first));
    found.add(
        proved,
        Finding {
            anomaly,
            key: partition.key.to_owned(),
            offset: Some(first.offset),
            values: holes.iter().map(|hole| hole.value).collect(),
            ops,
            time_ns: op.time,
            sentence: format!(
                "A read of {} passes over {} at offset {}{}, which others saw, or which was acknowledged.",
                partition.key,
                shown(first.value),
                first.offset,
                match holes.len() {
                    1 => String::new(),
                    more => format!(" and {} more", more - 1),
                },
            ),
            scope: match partition.verified() {
                true => Scope::Any,
                false => Scope::Claims,
            },
        },
    );
}

/// Someone who knows that the record stands there: its ack, or a read.
fn observer(facts: &Facts<'_>, partition: &Partition<'_>, hole: &Hole) -> Option<u64> {
    let send = &partition.sends[partition.send_of(hole.value)?];
    if send.acked() && send.offset == Some(hole.offset) {
        return Some(facts.index(send.ret));
    }
    let read = partition.reads.get(send.last_read as usize)?;
    Some(facts.index(read.ret))
}
