//! From a history to the ops of registers by key.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::super::Model;
use super::super::cells::{Cell, Outcomes};
use crate::history::{History, HistoryError, Op, OpType, Process, Value};
use crate::search::register::{NEVER, NONE, RegisterOp};

static NULL: Json = Json::Null;

/// What was read.
pub(super) struct Reading<'h> {
    pub history: &'h History,
    pub cells: Vec<Cell>,
    /// Values by cell.
    pub values: Vec<Interned<'h>>,
    pub outcomes: Outcomes,
    by_key: BTreeMap<String, usize>,
    keyless: Option<usize>,
}

/// Values as numbers, in the order in which they came up.
#[derive(Debug)]
pub(super) struct Interned<'h> {
    values: Vec<&'h Json>,
    /// Numbers of small integers, which most registers hold.
    small: [u32; 32],
    others: BTreeMap<String, u32>,
}

impl<'h> Interned<'h> {
    fn new() -> Self {
        Self {
            values: Vec::new(),
            small: [NONE; 32],
            others: BTreeMap::new(),
        }
    }

    fn number(&mut self, value: &'h Json) -> u32 {
        let next = self.values.len() as u32;
        let small = value.as_u64().filter(|number| *number < 32);
        let known = match small {
            Some(small) => &mut self.small[small as usize],
            None => self.others.entry(value.to_string()).or_insert(NONE),
        };
        if *known == NONE {
            *known = next;
            self.values.push(value);
        }
        *known
    }

    /// The value behind a number.
    pub fn get(&self, number: u32) -> Option<&'h Json> {
        self.values.get(number as usize).copied()
    }
}

/// Reads all ops of client processes.
pub(super) fn read<'h>(
    history: &'h History,
    model: Model,
    initial: &'h Json,
) -> Result<Reading<'h>, HistoryError> {
    let mut reading = Reading {
        history,
        cells: Vec::new(),
        values: Vec::new(),
        outcomes: Outcomes::default(),
        by_key: BTreeMap::new(),
        keyless: None,
    };
    for (position, op) in history.ops().iter().enumerate() {
        if op.process == Process::Nemesis || op.kind != OpType::Invoke {
            continue;
        }
        let ends = history.partner(position);
        reading
            .take(model, initial, position, op, ends)
            .map_err(|(at, reason)| HistoryError::new(history.line_of(at), reason))?;
    }
    Ok(reading)
}

type Refusal = (usize, String);

impl<'h> Reading<'h> {
    fn take(
        &mut self,
        model: Model,
        initial: &'h Json,
        position: usize,
        op: &'h Op,
        ends: Option<usize>,
    ) -> Result<(), Refusal> {
        let end = ends.map(|at| &self.history.ops()[at]);
        let outcome = end.map_or(OpType::Info, |end| end.kind);
        let cas_allowed = model == Model::CasRegister;
        match op.f.as_str() {
            "read" | "write" => {}
            "cas" if cas_allowed => {}
            other => return Err((position, unknown(other, model))),
        }
        match outcome {
            OpType::Fail => self.outcomes.fail += 1,
            OpType::Ok => self.outcomes.ok += 1,
            _ => self.outcomes.info += 1,
        }
        let at = self.cell(op, initial);
        let (from, to) = match op.f.as_str() {
            "read" => {
                let Some((end, at_end)) = end.zip(ends).filter(|_| outcome == OpType::Ok) else {
                    return Ok(());
                };
                let seen = json(&end.value).ok_or_else(|| (at_end, unreadable(end)))?;
                // An empty answer means nothing where the register never was empty.
                if seen.is_null() && !initial.is_null() {
                    self.outcomes.unchecked_reads += 1;
                    return Ok(());
                }
                (Some(seen), None)
            }
            "write" => {
                let value = json(&op.value).ok_or_else(|| (position, unreadable(op)))?;
                (None, Some(value))
            }
            _ => match json(&op.value).and_then(Json::as_array).map(Vec::as_slice) {
                Some([from, to]) => (Some(from), Some(to)),
                _ => return Err((position, unreadable(op))),
            },
        };
        if outcome == OpType::Fail {
            return Ok(());
        }
        let values = &mut self.values[at];
        let mut number = |value: Option<&'h Json>| value.map_or(NONE, |json| values.number(json));
        let op = RegisterOp {
            inv: position as u32,
            ret: match (outcome, ends) {
                (OpType::Ok, Some(end)) => end as u32,
                _ => NEVER,
            },
            from: number(from),
            to: number(to),
        };
        self.cells[at].ops.push(op);
        self.cells[at].invoked.push(position as u32);
        Ok(())
    }

    /// The cell of the op's key.
    fn cell(&mut self, op: &Op, initial: &'h Json) -> usize {
        let key = op.extra.get("key").map(|key| match key {
            Json::String(text) => text.clone(),
            other => other.to_string(),
        });
        let known = match &key {
            None => self.keyless,
            Some(key) => self.by_key.get(key).copied(),
        };
        let next = self.cells.len();
        known.unwrap_or_else(|| {
            let mut values = Interned::new();
            let cell = Cell {
                initial: values.number(initial),
                key: key.clone(),
                ..Cell::default()
            };
            self.cells.push(cell);
            self.values.push(values);
            match key {
                Some(key) => _ = self.by_key.insert(key, next),
                None => self.keyless = Some(next),
            }
            next
        })
    }
}

fn json(value: &Value) -> Option<&Json> {
    match value {
        Value::None => Some(&NULL),
        Value::Other(json) => Some(json),
        _ => None,
    }
}

fn unknown(f: &str, model: Model) -> String {
    let name = model.name();
    let known = match model {
        Model::CasRegister => "read, write and cas",
        _ => "read and write",
    };
    format!("f \"{f}\" is not one of a {name}'s, which are {known}; choose the model that knows it")
}

fn unreadable(op: &Op) -> String {
    let shape = match op.f.as_str() {
        "cas" => "a list of two values, [from, to]",
        _ => "one value",
    };
    format!(
        "the value of this \"{}\" cannot be read: it must be {shape}",
        op.f
    )
}
