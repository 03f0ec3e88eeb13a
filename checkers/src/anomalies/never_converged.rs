//! `never-converged`: replicas still disagree at the settle limit in a mode that promises eventual
//! consistency.
//!
//! A log with one leader is judged by `divergent-replicas` below its barrier; this one needs no
//! barrier, only that writes ceased and everything was read from every replica.

use super::{Checker, Find, witness};
use crate::facts::{Facts, FinalLog, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "never-converged",
    definition: "replicas still disagree at the settle limit, where convergence is promised",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let header = facts.history.header();
    if !header.is_some_and(|header| header.promise.eventual) {
        return;
    }
    let Some((first, rest)) = partition.finals.split_first() else {
        return;
    };
    for other in rest {
        let (one, another) = (records(partition, first), records(partition, other));
        if one != another {
            report(facts, partition, (first, &one), (other, &another), found);
        }
    }
}

fn records(partition: &Partition<'_>, log: &FinalLog<'_>) -> Vec<(i64, i64)> {
    let mut records: Vec<(i64, i64)> = log.records(&partition.reads).collect();
    records.sort_unstable();
    records.dedup();
    records
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    (first, one): (&FinalLog<'_>, &[(i64, i64)]),
    (other, another): (&FinalLog<'_>, &[(i64, i64)]),
    found: &mut Found,
) {
    let lacks = |list: &[(i64, i64)], record: &(i64, i64)| list.binary_search(record).is_err();
    let odd = one
        .iter()
        .find(|record| lacks(another, record))
        .map(|record| (*record, first, other))
        .or_else(|| {
            let record = another.iter().find(|record| lacks(one, record))?;
            Some((*record, other, first))
        });
    let Some((record, has, has_not)) = odd else {
        return;
    };
    let op_of = |log: &FinalLog<'_>| {
        let row = log.covering(record.0, &partition.reads)?;
        Some(facts.op(partition.reads[row as usize].ret))
    };
    let (Some(shown), Some(missing)) = (op_of(has), op_of(has_not)) else {
        return;
    };
    let proved = witness::shows(shown, partition.key, record.0, record.1)
        && !witness::shows(missing, partition.key, record.0, record.1);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(record.0),
            values: vec![record.1],
            ops: vec![shown.index, missing.index],
            time_ns: missing.time,
            sentence: format!(
                "After writes had ceased {} holds offset {} of {} and {} does not.",
                has.name(),
                record.0,
                partition.key,
                has_not.name(),
            ),
            scope: Scope::Any,
        },
    );
}
