//! `int-nonmonotonic-poll`: offsets go backwards within one reply.
//!
//! "int" is internal to one op, as in Jepsen. Never permitted: a log is read in
//! order.

use super::{Checker, Find, witness};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "int-nonmonotonic-poll",
    definition: "offsets go backwards within one reply",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    for read in &partition.reads {
        if read.rebalanced || !(read.ok || partition.foreign) {
            continue;
        }
        for pair in read.records.windows(2) {
            if pair[0].0 >= pair[1].0 {
                report(facts, partition, read.ret, pair[0], pair[1], found);
            }
        }
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    position: u32,
    before: (i64, i64),
    after: (i64, i64),
    found: &mut Found,
) {
    let op = facts.op(position);
    let mut records = witness::records(op, partition.key).skip_while(|&record| record != before);
    let proved = records.next() == Some(before) && records.any(|record| record == after);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(after.0),
            values: vec![before.1, after.1],
            ops: vec![op.index],
            time_ns: op.time,
            sentence: format!(
                "One reply from {} shows offset {} and after it offset {}.",
                partition.key, before.0, after.0,
            ),
            scope: Scope::Any,
        },
    );
}
