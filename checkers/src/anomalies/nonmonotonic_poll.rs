//! `nonmonotonic-poll`: a consumer's offsets go backwards from one reply to the
//! next.
//!
//! Jepsen's rule: the last value read by a process in its previous ok op
//! against the first of this op. A consumer that asks by offset goes where it
//! likes, and what a batch shows below the offset asked for is trimmed, so only
//! consumers that do not say where they begin can be accused.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Checker, Find, witness};
use crate::facts::records::Read;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::{Op, OpType, Process, Value};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "nonmonotonic-poll",
    definition: "a consumer's offsets go backwards from one reply to the next",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    if !partition.foreign {
        return;
    }
    for step in steps(facts, partition) {
        if step.delta < 1 {
            report(facts, partition, &step, found);
        }
    }
}

fn report(facts: &Facts<'_>, partition: &Partition<'_>, step: &Step, found: &mut Found) {
    let (before, after) = (facts.op(step.before), facts.op(step.after));
    let proved = witness::shows(before, partition.key, step.last.0, step.last.1)
        && witness::shows(after, partition.key, step.first.0, step.first.1)
        && step.last.0 >= step.first.0;
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(step.first.0),
            values: vec![step.last.1, step.first.1],
            ops: vec![before.index, after.index],
            time_ns: after.time,
            sentence: format!(
                "Process {} read {} up to offset {} and then went back to offset {}.",
                after.process, partition.key, step.last.0, step.first.0,
            ),
            scope: match facts.subscribes {
                true => Scope::Subscribed,
                false => Scope::Any,
            },
        },
    );
}

/// From the last record of a process's previous ok op to the first of this op.
pub(super) struct Step {
    pub before: u32,
    pub last: (i64, i64),
    pub after: u32,
    pub first: (i64, i64),
    /// Known records from one to the other.
    pub delta: i64,
}

/// All steps of consumers that do not say where they begin.
pub(super) fn steps(facts: &Facts<'_>, partition: &Partition<'_>) -> Vec<Step> {
    let dense = partition.dense_indices();
    let index = |offset: i64| {
        let place = partition.offsets.of(offset);
        place.map_or(0, |place| i64::from(dense[place]))
    };
    let mut last: BTreeMap<u64, (u32, (i64, i64))> = BTreeMap::new();
    let mut steps = Vec::new();
    for moment in moments(facts, partition) {
        match moment {
            Moment::Assigned(process) => {
                last.remove(&process);
            }
            Moment::Read(read) => {
                let (Some(&first), Some(&end)) = (read.records.first(), read.records.last()) else {
                    continue;
                };
                if let Some(&(before, record)) = last.get(&read.process) {
                    steps.push(Step {
                        before,
                        last: record,
                        after: read.ret,
                        first,
                        delta: index(first.0) - index(record.0),
                    });
                }
                if read.ok {
                    last.insert(read.process, (read.ret, end));
                }
            }
        }
    }
    steps
}

enum Moment<'p, 'h> {
    Read(&'p Read<'h>),
    /// The process was assigned partitions without this one.
    Assigned(u64),
}

/// Replies and assignments in order of the history.
fn moments<'p, 'h>(facts: &Facts<'h>, partition: &'p Partition<'h>) -> Vec<Moment<'p, 'h>> {
    let reads = partition.reads.iter();
    let mut moments: Vec<(u32, Moment<'_, '_>)> =
        reads.map(|read| (read.ret, Moment::Read(read))).collect();
    for &position in &facts.assigns {
        if let Some(process) = drops(facts.op(position), partition.key) {
            moments.push((position, Moment::Assigned(process)));
        }
    }
    moments.sort_by_key(|moment| moment.0);
    moments.into_iter().map(|moment| moment.1).collect()
}

/// The process that an op takes this partition from.
pub(super) fn drops(op: &Op, key: &str) -> Option<u64> {
    let Process::Client(process) = op.process else {
        return None;
    };
    let assigns = op.kind != OpType::Invoke && (op.f == "assign" || op.f == "subscribe");
    let named = match &op.value {
        Value::Other(Json::Array(keys)) => keys.iter().any(|name| is_named(name, key)),
        _ => false,
    };
    (assigns && !named).then_some(process)
}

/// Foreign keys are strings or numbers.
fn is_named(name: &Json, key: &str) -> bool {
    match name {
        Json::String(name) => name == key,
        other => {
            let text = other.to_string();
            text == key
        }
    }
}
