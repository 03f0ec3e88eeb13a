//! `G1b`: a read shows part of what one transaction wrote to a key before its last write there.
//!
//! Adya's intermediate read. A reply may end anywhere (its size is limited, and a high watermark may
//! be sampled before the records are read), so ending within a transaction proves nothing by itself:
//! then the finding is kept as expected. It is a violation where the end of the run is known and the
//! transaction is there in part only.

use std::collections::BTreeMap;

use super::{Checker, Find, witness};
use crate::facts::records::Read;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "G1b",
    definition: "a read shows part of what one transaction wrote to a key",
    find: Find::Partition(find),
};

/// What one transaction wrote to the partition: its invoke, and its values in order.
struct Written {
    invoke: u32,
    values: Vec<i64>,
}

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let written = written(facts, partition);
    if written.is_empty() {
        return;
    }
    let mut writer: BTreeMap<i64, usize> = BTreeMap::new();
    for (which, txn) in written.iter().enumerate() {
        writer.extend(txn.values.iter().map(|&value| (value, which)));
    }
    for read in partition.reads.iter().filter(|read| read.ok) {
        let Some(&record) = read.records.last() else {
            continue;
        };
        let Some(txn) = writer.get(&record.1).map(|&which| &written[which]) else {
            continue;
        };
        let last = txn.values.last().copied();
        if last != Some(record.1) && txn.invoke != read.invoke {
            report(facts, partition, read, txn, record, found);
        }
    }
}

/// Transactions that wrote several records here.
fn written(facts: &Facts<'_>, partition: &Partition<'_>) -> Vec<Written> {
    let mut written: Vec<Written> = Vec::new();
    for send in &partition.sends {
        if facts.op(send.invoke).f != "txn" {
            continue;
        }
        match written.last_mut().filter(|txn| txn.invoke == send.invoke) {
            Some(txn) => txn.values.push(send.value),
            None => written.push(Written {
                invoke: send.invoke,
                values: vec![send.value],
            }),
        }
    }
    written.retain(|txn| txn.values.len() > 1);
    written
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    read: &Read<'_>,
    txn: &Written,
    (offset, value): (i64, i64),
    found: &mut Found,
) {
    let (write, shown) = (facts.op(txn.invoke), facts.op(read.ret));
    let Some(&last) = txn.values.last() else {
        return;
    };
    let end = facts.history.partner(txn.invoke as usize);
    let write = end.map_or(write, |end| &facts.history.ops()[end]);
    let proved = witness::names(write, partition.key, last)
        && witness::shows(shown, partition.key, offset, value)
        && !witness::holds(shown, partition.key, last);
    let kept = |value: i64| {
        let send = partition.send_of(value).map(|row| &partition.sends[row]);
        send.is_some_and(|send| send.kept_at.is_some())
    };
    let torn = partition.verified() && kept(value) && !kept(last);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            values: vec![value, last],
            ops: vec![write.index, shown.index],
            time_ns: shown.time,
            sentence: format!(
                "A read of {} ends with {}, in the middle of a transaction that went on to write {}.",
                partition.key,
                words::shown(value),
                words::shown(last),
            ),
            scope: match torn {
                true => Scope::Any,
                false => Scope::Expected,
            },
        },
    );
}
