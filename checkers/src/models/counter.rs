//! `counter`: every read lies between what had certainly been added and what may have been.
//!
//! Jepsen's bounds (`jepsen.checker/counter`), and what follows for negative numbers, which Jepsen does
//! not allow: at any moment the lower one counts positive additions that were acknowledged and negative
//! ones that had begun, the upper one positive ones that had begun and negative ones that were
//! acknowledged. A read happened at some moment between its begin and its end, so it lies between the
//! least lower and the greatest upper one of that time. (Where all numbers are positive: the lower one
//! when it began, the upper one when it ended.)

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
    let initial = match &options.initial {
        None | Some(Json::Null) => 0,
        Some(initial) => initial.as_i64().ok_or_else(|| {
            let reason = format!("a counter's first value must be a 64-bit integer, not {initial}");
            HistoryError::new(1, reason)
        })?,
    };
    let mut bounds = (i128::from(initial), i128::from(initial));
    let (mut lowest, mut highest) = (Extremes::default(), Extremes::default());
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
            ("read", OpType::Ok) => {
                let value = i128::from(integer(history, position)?);
                let began = partner.unwrap_or(position);
                let lower = lowest.since(began).unwrap_or(bounds.0);
                let upper = highest.since(began).map_or(bounds.1, |upper| -upper);
                let read = json!([number(lower), number(value), number(upper)]);
                if value < lower || value > upper {
                    errors.push(read.clone());
                    let ops = (began, position);
                    verdict.accuse(outside(history, ops, (lower, value, upper)));
                }
                reads.push(read);
            }
            _ => {}
        }
        lowest.push(position, bounds.0);
        highest.push(position, -bounds.1);
    }
    verdict.counts.insert("read_count", reads.len() as u64);
    verdict.counts.insert("error_count", errors.len() as u64);
    verdict.refutable_reads = reads.len() as u64;
    verdict.details.insert("reads", Json::Array(reads));
    verdict.details.insert("errors", Json::Array(errors));
    Ok(verdict)
}

/// The least of the values since a position.
#[derive(Debug, Default)]
struct Extremes {
    /// Each less than all after it.
    rising: Vec<(usize, i128)>,
}

impl Extremes {
    fn push(&mut self, position: usize, value: i128) {
        while self.rising.last().is_some_and(|(_, last)| *last >= value) {
            self.rising.pop();
        }
        self.rising.push((position, value));
    }

    fn since(&self, position: usize) -> Option<i128> {
        let from = self.rising.partition_point(|(at, _)| *at < position);
        self.rising.get(from).map(|(_, value)| *value)
    }
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
            "A read returned {value}, but between {lower} (what had certainly been added) and {upper} (what may have been) was possible."
        ),
        details: BTreeMap::from([("bounds", json!([number(lower), number(upper)]))]),
    }
}

/// JSON has no 128-bit numbers; what does not fit is written as text.
fn number(value: i128) -> Json {
    i64::try_from(value).map_or_else(|_| Json::from(value.to_string()), Json::from)
}
