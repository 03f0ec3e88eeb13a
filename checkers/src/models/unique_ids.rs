//! `unique-ids`: no two `generate` ops were given the same id.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::vocabulary::{is_ok, name, only, ops, value};
use super::{Anomaly, Model, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

pub(super) fn judge(history: &History) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::UniqueIds, &["generate"])?;
    let mut verdict = ModelVerdict::valid(Model::UniqueIds);
    let mut given: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut order: Vec<Json> = Vec::new();
    let mut attempted = 0;
    for (position, op) in ops(history) {
        attempted += u64::from(op.kind == OpType::Invoke);
        if is_ok(op, "generate") {
            let id = value(op);
            given.entry(name(&id)).or_default().push(position);
            order.push(id);
        }
    }
    let mut duplicated = serde_json::Map::new();
    for (id, positions) in &given {
        if positions.len() > 1 {
            // A map's key is the text of a value, without the quotes of a string.
            let key = id.trim_matches('"').to_owned();
            duplicated.insert(key, json!(positions.len()));
            verdict.accuse(twice(history, id, positions));
        }
    }
    let counts = [
        ("attempt_count", attempted),
        ("acknowledged_count", order.len() as u64),
        ("duplicated_count", duplicated.len() as u64),
    ];
    verdict.counts.extend(counts);
    verdict
        .details
        .insert("duplicated", Json::Object(duplicated));
    verdict.details.insert("range", range(order));
    if attempted == 0 {
        verdict.doubt("the history holds no generate");
    }
    Ok(verdict)
}

fn twice(history: &History, id: &str, positions: &[usize]) -> Anomaly {
    let ops: Vec<u64> = positions
        .iter()
        .take(2)
        .map(|&at| history.ops()[at].index)
        .collect();
    Anomaly {
        kind: "duplicate",
        key: None,
        ops,
        time_ns: history.ops()[positions[1]].time,
        message: format!("The id {id} was given {} times.", positions.len()),
        details: BTreeMap::from([("count", json!(positions.len()))]),
    }
}

/// Least and greatest id: numbers by size, anything else by its text.
fn range(ids: Vec<Json>) -> Json {
    let less = |one: &Json, other: &Json| match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one < other,
        _ => name(one) < name(other),
    };
    let mut bounds: Option<(Json, Json)> = None;
    for id in ids {
        bounds = Some(match bounds {
            None => (id.clone(), id),
            Some((low, high)) if less(&id, &low) => (id, high),
            Some((low, high)) if less(&high, &id) => (low, id),
            Some(bounds) => bounds,
        });
    }
    bounds.map_or(Json::Array(Vec::new()), |(low, high)| json!([low, high]))
}
