//! `counter`: every read lies between what had certainly been added and what may have been.
//!
//! Jepsen's bounds (`jepsen.checker/counter`): the lower one counts additions that were acknowledged
//! when the read began, the upper one those that had begun when it ended. An addition of a negative
//! number lowers the lower bound when it begins and the upper one when it is acknowledged.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::vocabulary::{integer, only, ops};
use super::{Anomaly, Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

pub(super) fn judge(
    history: &History,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::Counter, &["add", "read"])?;
    let mut verdict = ModelVerdict::valid(Model::Counter);
    let initial = options.initial.as_ref().and_then(Json::as_i64).unwrap_or(0);
    let mut bounds = (i128::from(initial), i128::from(initial));
    let mut lower_at: BTreeMap<usize, i128> = BTreeMap::new();
    let (mut reads, mut errors) = (Vec::new(), Vec::new());
    for (position, op) in ops(history) {
        let partner = history.partner(position);
        let failed = partner.is_some_and(|end| history.ops()[end].kind == OpType::Fail);
        match (op.f.as_str(), op.kind) {
            ("add", OpType::Invoke) if !failed => {
                let by = i128::from(integer(history, position)?);
                bounds.0 += by.min(0);
                bounds.1 += by.max(0);
            }
            ("add", OpType::Ok) => {
                let by = i128::from(integer(history, position)?);
                bounds.0 += by.max(0);
                bounds.1 += by.min(0);
            }
            ("read", OpType::Invoke) => {
                lower_at.insert(position, bounds.0);
            }
            ("read", OpType::Ok) => {
                let value = i128::from(integer(history, position)?);
                let began = partner.unwrap_or(position);
                let lower = lower_at.remove(&began).unwrap_or(bounds.0);
                let read = json!([number(lower), number(value), number(bounds.1)]);
                if value < lower || value > bounds.1 {
                    errors.push(read.clone());
                    verdict.accuse(outside(
                        history,
                        (began, position),
                        (lower, value, bounds.1),
                    ));
                }
                reads.push(read);
            }
            _ => {}
        }
    }
    verdict.counts.insert("read_count", reads.len() as u64);
    verdict.counts.insert("error_count", errors.len() as u64);
    verdict.refutable_reads = reads.len() as u64;
    verdict.details.insert("reads", Json::Array(reads));
    verdict.details.insert("errors", Json::Array(errors));
    Ok(verdict)
}

fn outside(
    history: &History,
    (began, ended): (usize, usize),
    (lower, value, upper): (i128, i128, i128),
) -> Anomaly {
    let ops = [began, ended].map(|at| history.ops()[at].index);
    Anomaly {
        kind: "counter-out-of-bounds",
        key: None,
        ops: ops.to_vec(),
        time_ns: history.ops()[ended].time,
        message: format!(
            "A read returned {value}, but between {lower} (acknowledged when it began) and {upper} (begun when it ended) was possible."
        ),
        details: BTreeMap::from([("bounds", json!([number(lower), number(upper)]))]),
    }
}

/// JSON has no 128-bit numbers; what does not fit is written as text.
fn number(value: i128) -> Json {
    i64::try_from(value).map_or_else(|_| Json::from(value.to_string()), Json::from)
}
