//! `total-queue`: what was acknowledged comes out, and nothing comes out that nobody put in.
//!
//! Jepsen's multisets (`jepsen.checker/total-queue`). A drain counts as its dequeues. Duplicates alone
//! do not fail. A dequeue without an answer may have taken one element with it, and a drain any
//! number: as many missing elements are then unknown, not lost for certain.

use std::collections::BTreeMap;

use super::vocabulary::{
    Multiset, add, intersect, is_ok, list, listed, minus, name, only, ops, size, value,
};
use super::{Anomaly, Model, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

#[derive(Default)]
struct Seen {
    attempts: Multiset,
    enqueued: Multiset,
    dequeued: Multiset,
    /// Position of the op that acknowledged, or took, each element first.
    acked_at: BTreeMap<String, usize>,
    taken_at: BTreeMap<String, usize>,
    /// Ops without an answer that may have taken elements with them.
    open_dequeues: u64,
    open_drains: u64,
    last_taking: Option<usize>,
}

pub(super) fn judge(history: &History) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::TotalQueue, &["enqueue", "dequeue", "drain"])?;
    let seen = look(history)?;
    let known: Multiset = seen
        .attempts
        .keys()
        .map(|name| (name.clone(), u64::MAX))
        .collect();
    let ok = intersect(&seen.dequeued, &seen.attempts);
    let unexpected = minus(&seen.dequeued, &known);
    let duplicated = minus(&minus(&seen.dequeued, &seen.attempts), &unexpected);
    let lost = minus(&seen.enqueued, &seen.dequeued);
    let recovered = minus(&ok, &seen.enqueued);
    let mut verdict = ModelVerdict::valid(Model::TotalQueue);
    for name in unexpected.keys() {
        verdict.accuse(came_from_nowhere(history, &seen, name));
    }
    let taken = match seen.open_drains {
        0 => seen.open_dequeues,
        _ => u64::MAX,
    };
    if size(&lost) > taken {
        for name in lost.keys() {
            verdict.accuse(gone(history, &seen, name));
        }
    } else if !lost.is_empty() {
        verdict.doubt(format!(
            "{} elements are missing, and as many dequeues without an answer may have taken them",
            size(&lost)
        ));
    }
    let sets = [
        ("attempt_count", "", &seen.attempts),
        ("acknowledged_count", "", &seen.enqueued),
        ("ok_count", "", &ok),
        ("unexpected_count", "unexpected", &unexpected),
        ("duplicated_count", "duplicated", &duplicated),
        ("lost_count", "lost", &lost),
        ("recovered_count", "recovered", &recovered),
    ];
    for (count, name, set) in sets {
        verdict.counts.insert(count, size(set));
        if !name.is_empty() {
            verdict.details.insert(name, listed(set));
        }
    }
    Ok(verdict)
}

fn look(history: &History) -> Result<Seen, HistoryError> {
    let mut seen = Seen::default();
    for (position, op) in ops(history) {
        match (op.f.as_str(), op.kind) {
            ("enqueue", OpType::Invoke) => add(&mut seen.attempts, &value(op)),
            ("enqueue", OpType::Ok) => {
                let element = value(op);
                seen.acked_at.entry(name(&element)).or_insert(position);
                add(&mut seen.enqueued, &element);
            }
            ("dequeue", OpType::Info) => seen.open_dequeues += 1,
            ("drain", OpType::Info) => seen.open_drains += 1,
            ("dequeue", OpType::Invoke) if history.partner(position).is_none() => {
                seen.open_dequeues += 1;
            }
            ("drain", OpType::Invoke) if history.partner(position).is_none() => {
                seen.open_drains += 1;
            }
            _ => {}
        }
        let taken = match () {
            // Null: it found the queue empty.
            () if is_ok(op, "dequeue") && value(op).is_null() => continue,
            () if is_ok(op, "dequeue") => vec![value(op)],
            () if is_ok(op, "drain") => list(history, position)?,
            () => continue,
        };
        seen.last_taking = Some(position);
        for element in taken {
            seen.taken_at.entry(name(&element)).or_insert(position);
            add(&mut seen.dequeued, &element);
        }
    }
    Ok(seen)
}

fn gone(history: &History, seen: &Seen, name: &str) -> Anomaly {
    let at = [seen.acked_at.get(name).copied(), seen.last_taking];
    anomaly(
        history,
        "lost-write",
        at.into_iter().flatten(),
        format!("{name} was acknowledged and never came out."),
    )
}

fn came_from_nowhere(history: &History, seen: &Seen, name: &str) -> Anomaly {
    anomaly(
        history,
        "phantom-read",
        seen.taken_at.get(name).copied().into_iter(),
        format!("{name} came out, and nobody tried to put it in."),
    )
}

fn anomaly(
    history: &History,
    kind: &'static str,
    at: impl Iterator<Item = usize>,
    message: String,
) -> Anomaly {
    let ops: Vec<&crate::history::Op> = at.map(|position| &history.ops()[position]).collect();
    Anomaly {
        kind,
        key: None,
        ops: ops.iter().map(|op| op.index).collect(),
        time_ns: ops.first().map_or(0, |op| op.time),
        message,
        details: BTreeMap::new(),
    }
}
