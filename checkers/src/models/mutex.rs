//! A lock: `acquire` and `release`, by the op's field `key`, where it has one.
//!
//! A lock is a register of two values under read-modify-writes: acquiring takes it from free to
//! held, releasing from held to free. It does not matter who releases. An indeterminate op may have
//! happened at any later time; one that failed did not.

use std::collections::BTreeMap;

use super::cells::{Cell, Outcomes, Values, judge_cells};
use super::{Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError, OpType, Process};
use crate::search::register::{NEVER, RegisterOp};

const FREE: u32 = 0;
const HELD: u32 = 1;

pub(super) fn judge(
    history: &History,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    let mut outcomes = Outcomes::default();
    let mut cells: BTreeMap<Option<String>, Cell> = BTreeMap::new();
    for (position, op) in history.ops().iter().enumerate() {
        if op.process == Process::Nemesis || op.kind != OpType::Invoke {
            continue;
        }
        let (from, to) = match op.f.as_str() {
            "acquire" => (FREE, HELD),
            "release" => (HELD, FREE),
            other => {
                let reason = format!(
                    "f \"{other}\" is not one of a mutex's, which are acquire and release; choose the model that knows it"
                );
                return Err(HistoryError::new(history.line_of(position), reason));
            }
        };
        let end = history.partner(position);
        let outcome = end.map_or(OpType::Info, |end| history.ops()[end].kind);
        let ret = match (outcome, end) {
            (OpType::Ok, Some(end)) => {
                outcomes.ok += 1;
                end as u32
            }
            (OpType::Fail, _) => {
                outcomes.fail += 1;
                continue;
            }
            _ => {
                outcomes.info += 1;
                NEVER
            }
        };
        let key = op.extra.get("key").map(|key| match key {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let cell = cells.entry(key.clone()).or_insert_with(|| Cell {
            key,
            initial: FREE,
            ..Cell::default()
        });
        let inv = position as u32;
        cell.ops.push(RegisterOp { inv, ret, from, to });
        cell.invoked.push(inv);
    }
    let cells: Vec<Cell> = cells.into_values().collect();
    Ok(judge_cells(
        history,
        Model::Mutex,
        &cells,
        &Lock,
        outcomes,
        options,
    ))
}

struct Lock;

impl Values for Lock {
    fn show(&self, _cell: usize, value: u32) -> String {
        let name = if value == FREE {
            "a free lock"
        } else {
            "a held lock"
        };
        name.to_owned()
    }

    fn act(&self, _cell: usize, op: &RegisterOp, _position: usize) -> String {
        let name = if op.from == FREE {
            "acquire"
        } else {
            "release"
        };
        name.to_owned()
    }
}
