//! `precommitted-read`: an op polls a value that it sends itself.
//!
//! A transaction's records become visible when it commits, so it cannot have read its own.

use super::{Checker, Find, witness};
use crate::facts::Facts;
use crate::finding::{Finding, Found};
use crate::history::{Op, OpType, Process, words};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "precommitted-read",
    definition: "an op polls a value that it sends itself",
    find: Find::Run(find),
};

fn find(facts: &Facts<'_>, found: &mut Found) {
    for op in facts.history.ops() {
        let ends = op.kind == OpType::Ok && op.process != Process::Nemesis;
        if !ends || op.value.sends().is_empty() {
            continue;
        }
        for (key, list) in op.value.polled().into_iter().flatten() {
            let mut sends = op.value.sends().iter().filter(|send| send.key == *key);
            let own = |value: i64| list.iter().find(|record| record.1 == value);
            if let Some(&record) = sends.find_map(|send| own(send.value)) {
                report(op, key, record, found);
            }
        }
    }
}

fn report(op: &Op, key: &str, (offset, value): (i64, i64), found: &mut Found) {
    let proved = witness::names(op, key, value) && witness::shows(op, key, offset, value);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: key.to_owned(),
            offset: Some(offset),
            values: vec![value],
            ops: vec![op.index],
            time_ns: op.time,
            sentence: format!(
                "One op sends {0} to {key} and polls {0} before it has committed.",
                words::shown(value),
            ),
            scope: Scope::Any,
        },
    );
}
