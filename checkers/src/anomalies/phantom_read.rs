//! `phantom-read`: an ok read holds a value that nobody had sent to the
//! partition when the read ended.
//!
//! Never permitted. One finding a value: its first reader proves it.

use std::collections::BTreeSet;

use super::{Checker, Find, witness};
use crate::facts::records::NEVER;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words::shown;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "phantom-read",
    definition: "a read shows a value that nobody had sent",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let mut told = BTreeSet::new();
    for &(row, index) in &partition.strangers {
        let read = &partition.reads[row as usize];
        let record = read.records[index as usize];
        if told.insert(record.1) {
            report(facts, partition, read.ret, None, record, found);
        }
    }
    for send in &partition.sends {
        let Some(read) = partition.reads.get(send.first_read as usize) else {
            continue;
        };
        // A barrier is sent again under its value; only the first counts, and
        // it is not worth a search.
        if send.barrier || send.first_read == NEVER || read.ret > send.invoke {
            continue;
        }
        if let Some(&record) = read.records.iter().find(|record| record.1 == send.value) {
            report(facts, partition, read.ret, Some(send.invoke), record, found);
        }
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    read: u32,
    sent: Option<u32>,
    (offset, value): (i64, i64),
    found: &mut Found,
) {
    let op = facts.op(read);
    let proved =
        witness::shows(op, partition.key, offset, value) && sent.is_none_or(|sent| sent > read);
    let why = match (sent, sent_elsewhere(facts, partition, value)) {
        (Some(_), _) => "before it was sent".to_owned(),
        (None, Some(key)) => format!("which was sent only to {key}"),
        (None, None) => "which nobody sent".to_owned(),
    };
    let mut ops = vec![op.index];
    ops.extend(sent.map(|sent| facts.index(sent)));
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            values: vec![value],
            ops,
            time_ns: op.time,
            sentence: format!(
                "A read of {} shows {} at offset {offset}, {why}.",
                partition.key,
                shown(value)
            ),
            scope: Scope::Any,
        },
    );
}

fn sent_elsewhere<'h>(facts: &Facts<'h>, partition: &Partition<'_>, value: i64) -> Option<&'h str> {
    facts
        .partitions
        .iter()
        .find(|other| other.key != partition.key && other.send_of(value).is_some())
        .map(|other| other.key)
}
