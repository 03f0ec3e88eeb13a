//! `set`: the last ok read holds everything that was acknowledged, and nothing that nobody added.
//!
//! Jepsen's `jepsen.checker/set`. Without an ok read it cannot be told.

use std::collections::BTreeMap;

use super::vocabulary::{
    Multiset, add, intersect, is_ok, list, listed, minus, name, only, ops, size, value,
};
use super::{Anomaly, Model, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

pub(super) fn judge(history: &History) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::Set, &["add", "read"])?;
    let (mut attempts, mut added) = (Multiset::new(), Multiset::new());
    let mut acked_at: BTreeMap<String, usize> = BTreeMap::new();
    let mut last_read = None;
    for (position, op) in ops(history) {
        match (op.f.as_str(), op.kind) {
            ("add", OpType::Invoke) => add(&mut attempts, &value(op)),
            ("add", OpType::Ok) => {
                acked_at.entry(name(&value(op))).or_insert(position);
                add(&mut added, &value(op));
            }
            _ if is_ok(op, "read") => {
                // The last to begin: what it misses of what was acknowledged before is gone.
                let began = history.partner(position).unwrap_or(position);
                last_read = last_read.max(Some((began, position)));
            }
            _ => {}
        }
    }
    // A set holds an element once, however often it was added.
    let once = |set: Multiset| -> Multiset { set.into_keys().map(|name| (name, 1)).collect() };
    let (attempts, added) = (once(attempts), once(added));
    let mut verdict = ModelVerdict::valid(Model::Set);
    verdict.counts.insert("attempt_count", size(&attempts));
    verdict.counts.insert("acknowledged_count", size(&added));
    let Some((began, read)) = last_read else {
        verdict.doubt("the set was never read");
        return Ok(verdict);
    };
    let mut held = Multiset::new();
    for element in list(history, read)? {
        add(&mut held, &element);
    }
    let held = once(held);
    let ok = intersect(&held, &attempts);
    let (lost, unexpected) = (minus(&added, &held), minus(&held, &attempts));
    for name in lost.keys() {
        let at = acked_at.get(name).copied();
        if at.is_none_or(|at| at > began) {
            verdict.doubt(format!(
                "{name} was acknowledged after the last read had begun"
            ));
            continue;
        }
        let message = format!("{name} was acknowledged and the last read does not hold it.");
        verdict.accuse(anomaly(history, "lost-write", at, read, message));
    }
    for name in unexpected.keys() {
        let message = format!("The last read holds {name}, which nobody added.");
        verdict.accuse(anomaly(history, "phantom-read", None, read, message));
    }
    let recovered = minus(&ok, &added);
    for (count, name, set) in [
        ("ok_count", "ok", &ok),
        ("lost_count", "lost", &lost),
        ("unexpected_count", "unexpected", &unexpected),
        ("recovered_count", "recovered", &recovered),
    ] {
        verdict.counts.insert(count, size(set));
        verdict.details.insert(name, listed(set));
    }
    verdict.refutable_reads = 1;
    Ok(verdict)
}

fn anomaly(
    history: &History,
    kind: &'static str,
    acked: Option<usize>,
    read: usize,
    message: String,
) -> Anomaly {
    let at = acked.into_iter().chain([read]);
    Anomaly {
        kind,
        key: None,
        ops: at.map(|position| history.ops()[position].index).collect(),
        time_ns: history.ops()[read].time,
        message,
        details: BTreeMap::new(),
    }
}
