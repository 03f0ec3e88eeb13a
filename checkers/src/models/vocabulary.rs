//! The ops that a model knows, and their values by name.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Model;
use crate::history::{History, HistoryError, Op, OpType, Process, Value};

/// Refuses ops of clients that the model does not know.
pub(super) fn only(history: &History, model: Model, known: &[&str]) -> Result<(), HistoryError> {
    let foreign = |op: &Op| op.process != Process::Nemesis && !known.contains(&op.f.as_str());
    match history.ops().iter().position(foreign) {
        None => Ok(()),
        Some(position) => {
            let f = &history.ops()[position].f;
            Err(HistoryError::new(
                history.line_of(position),
                format!(
                    "\"{f}\" is no op of a {}, which has {}; is --model right?",
                    model.name(),
                    known.join(", ")
                ),
            ))
        }
    }
}

/// Ops of clients with their positions.
pub(super) fn ops(history: &History) -> impl Iterator<Item = (usize, &Op)> {
    let all = history.ops().iter().enumerate();
    all.filter(|(_, op)| op.process != Process::Nemesis)
}

/// An op's value as JSON; nothing recorded is null.
pub(super) fn value(op: &Op) -> Json {
    match &op.value {
        Value::None => Json::Null,
        Value::Other(json) => json.clone(),
        other => serde_json::to_value(other).unwrap_or(Json::Null),
    }
}

/// A value as a key of a map: its JSON text, so that 1 and "1" stay apart.
pub(super) fn name(value: &Json) -> String {
    value.to_string()
}

/// How often each value occurs.
pub(super) type Multiset = BTreeMap<String, u64>;

/// Adds a value once.
pub(super) fn add(set: &mut Multiset, value: &Json) {
    *set.entry(name(value)).or_insert(0) += 1;
}

/// How many elements, repeats included.
pub(super) fn size(set: &Multiset) -> u64 {
    set.values().sum()
}

/// What is left of `set` without `others`.
pub(super) fn minus(set: &Multiset, others: &Multiset) -> Multiset {
    let left = set.iter().filter_map(|(name, &count)| {
        let taken = others.get(name).copied().unwrap_or(0);
        (count > taken).then(|| (name.clone(), count - taken))
    });
    left.collect()
}

/// What both have.
pub(super) fn intersect(set: &Multiset, others: &Multiset) -> Multiset {
    let both = set.iter().filter_map(|(name, &count)| {
        let other = others.get(name).copied().unwrap_or(0).min(count);
        (other > 0).then(|| (name.clone(), other))
    });
    both.collect()
}

/// A multiset as JSON: each element as often as it occurs.
pub(super) fn listed(set: &Multiset) -> Json {
    let each = set.iter().flat_map(|(name, &count)| {
        let value: Json = serde_json::from_str(name).unwrap_or(Json::Null);
        std::iter::repeat_n(value, usize::try_from(count).unwrap_or(1))
    });
    Json::Array(each.collect())
}

/// An integer, or the error that says where none was.
pub(super) fn integer(history: &History, position: usize) -> Result<i64, HistoryError> {
    let value = value(&history.ops()[position]);
    value.as_i64().ok_or_else(|| {
        HistoryError::new(
            history.line_of(position),
            format!("the value must be a 64-bit integer, not {value}"),
        )
    })
}

/// A list, or the error that says where none was.
pub(super) fn list(history: &History, position: usize) -> Result<Vec<Json>, HistoryError> {
    match value(&history.ops()[position]) {
        Json::Array(list) => Ok(list),
        Json::Null => Ok(Vec::new()),
        other => Err(HistoryError::new(
            history.line_of(position),
            format!("the value must be a list, not {other}"),
        )),
    }
}

/// Whether an op is a completed success.
pub(super) fn is_ok(op: &Op, f: &str) -> bool {
    op.kind == OpType::Ok && op.f == f
}
