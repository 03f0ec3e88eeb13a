//! `divergent-replicas`: the final logs of two replicas differ below the
//! barrier.
//!
//! Only logs that were read are compared, over what both covered. Never
//! permitted: after settling every replica follows one leader.

use super::{Checker, Find, witness};
use crate::facts::{Facts, FinalLog, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "divergent-replicas",
    definition: "the final logs of two replicas differ below the barrier",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let Some(reference) = partition.reference() else {
        return;
    };
    for log in &partition.finals {
        if let Some(difference) = compare(partition, reference, log) {
            report(facts, partition, reference, log, difference, found);
        }
    }
}

/// The first offset at which two logs differ, with what each holds there.
struct Difference {
    offset: i64,
    left: Option<i64>,
    right: Option<i64>,
}

fn compare(
    partition: &Partition<'_>,
    left: &FinalLog<'_>,
    right: &FinalLog<'_>,
) -> Option<Difference> {
    let barrier = partition.barrier?.offset;
    let start = left.start.max(right.start);
    // The barrier itself must be the same, so it is compared as well.
    let end = left.end.min(right.end).min(barrier.saturating_add(1));
    let within = |record: &(i64, i64)| {
        let both = left.covers(record.0) && right.covers(record.0);
        record.0 >= start && record.0 < end && both
    };
    let mut left = left.records(&partition.reads).filter(within);
    let mut right = right.records(&partition.reads).filter(within);
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => return Some(difference(one, other)),
        }
    }
}

fn difference(left: Option<(i64, i64)>, right: Option<(i64, i64)>) -> Difference {
    let offset = left
        .into_iter()
        .chain(right)
        .map(|record| record.0)
        .min()
        .unwrap_or(0);
    let at = |record: Option<(i64, i64)>| record.filter(|r| r.0 == offset).map(|r| r.1);
    Difference {
        offset,
        left: at(left),
        right: at(right),
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    left: &FinalLog<'_>,
    right: &FinalLog<'_>,
    difference: Difference,
    found: &mut Found,
) {
    let offset = difference.offset;
    let covering = |log: &FinalLog<'_>| log.covering(offset, &partition.reads);
    let (Some(one), Some(other)) = (covering(left), covering(right)) else {
        return;
    };
    let ops = [one, other].map(|row| facts.op(partition.reads[row as usize].ret));
    let agrees = |op, value: Option<i64>| match value {
        Some(value) => witness::shows(op, partition.key, offset, value),
        None => !witness::records(op, partition.key).any(|record| record.0 == offset),
    };
    let proved = difference.left != difference.right
        && agrees(ops[0], difference.left)
        && agrees(ops[1], difference.right);
    let say =
        |value: Option<i64>| value.map_or("nothing".to_owned(), |value| partition.named(value));
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            values: difference
                .left
                .into_iter()
                .chain(difference.right)
                .collect(),
            ops: ops.iter().map(|op| op.index).collect(),
            time_ns: ops[0].time,
            sentence: format!(
                "At offset {offset} of {}, below the barrier, {} holds {} and {} holds {}.",
                partition.key,
                left.name(),
                say(difference.left),
                right.name(),
                say(difference.right),
            ),
            scope: Scope::Any,
        },
    );
}
