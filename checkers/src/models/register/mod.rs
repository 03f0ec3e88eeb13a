//! Registers: `read`, `write` and, for `cas-register`, `cas` of `[from, to]`; by the op's field
//! `key`, where it has one.
//!
//! Values are any JSON. A read that was not acknowledged says nothing. A `cas` that failed certainly
//! did not happen and is left out; an indeterminate op may have happened at any later time. Where
//! every value is written once the judgement is polynomial, else it is the search's.

mod reading;

use serde_json::Value as Json;

use super::cells::{Values, judge_cells, shorten};
use super::{Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError};
use crate::search::register::RegisterOp;

pub(super) fn judge(
    history: &History,
    model: Model,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    let initial = options.initial.clone().unwrap_or(Json::Null);
    let read = reading::read(history, model, &initial)?;
    let verdict = judge_cells(
        history,
        model,
        &read.cells,
        &Named(&read),
        read.outcomes,
        options,
    );
    Ok(verdict)
}

struct Named<'a, 'h>(&'a reading::Reading<'h>);

impl Values for Named<'_, '_> {
    fn show(&self, cell: usize, value: u32) -> String {
        let json = self.0.values[cell].get(value);
        shorten(&json.map_or_else(|| "nothing".to_owned(), Json::to_string))
    }

    fn act(&self, cell: usize, op: &RegisterOp, position: usize) -> String {
        let is_cas = self.0.history.ops()[position].f == "cas";
        match (op.is_blind(), is_cas) {
            (true, _) => format!("write of {}", self.show(cell, op.to)),
            (false, false) => format!("read of {}", self.show(cell, op.from)),
            (false, true) => format!(
                "cas from {} to {}",
                self.show(cell, op.from),
                self.show(cell, op.to)
            ),
        }
    }
}
