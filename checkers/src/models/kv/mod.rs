//! Keys with strings: `get`, `put` and `append`, by the op's field `key`.
//!
//! A get's value is the whole string; an absent key is empty. Where none of the strings put and
//! appended to a key begins another, what a get shows says in which order they took effect: an
//! observed append is a read-modify-write from one string to the next, an unobserved one a write
//! that nobody saw, and the key is a register of unique values, judged in polynomial time. Other
//! keys are searched.

mod choices;
mod growth;
mod reading;

use super::cells::{Cell, Values, judge_cells, shorten};
use super::{Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError};
use crate::search::register::{Judgement, Meter, RegisterOp, Unique, explain_prefixes, unique};
use growth::Growth;
use reading::{Entry, Kind};

pub(super) fn judge(
    history: &History,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    let read = reading::read(history)?;
    let keys: Vec<Key<'_>> = read.keys.into_iter().map(Key::new).collect();
    let cells: Vec<Cell> = keys.iter().map(Key::cell).collect();
    let judged = judge_cells(
        history,
        Model::Kv,
        &cells,
        &Keys(&keys),
        read.outcomes,
        options,
    );
    Ok(judged)
}

/// One key's ops.
struct Key<'h> {
    name: Option<String>,
    entries: Vec<Entry<'h>>,
    /// `None` where the strings do not say the order.
    growth: Option<Growth<'h>>,
    /// `None` where there are too many ways to read them.
    ops: Option<Vec<RegisterOp>>,
}

impl<'h> Key<'h> {
    fn new(read: reading::Key<'h>) -> Self {
        let growth = Growth::new(&read.entries);
        let readings = growth
            .as_ref()
            .and_then(|growth| growth.readings(&read.entries, u32::MAX));
        let ops = readings.and_then(|mut all| all.readings.pop());
        Self {
            name: read.name,
            entries: read.entries,
            growth,
            ops,
        }
    }

    fn cell(&self) -> Cell {
        Cell {
            key: self.name.clone(),
            ops: self.ops.clone().unwrap_or_default(),
            invoked: self.entries.iter().map(|entry| entry.invoked).collect(),
            initial: growth::EMPTY,
        }
    }
}

struct Keys<'k, 'h>(&'k [Key<'h>]);

impl Values for Keys<'_, '_> {
    fn show(&self, cell: usize, value: u32) -> String {
        let key = &self.0[cell];
        let holds = |(op, _): &(&RegisterOp, &Entry<'_>)| {
            (op.from == value && op.is_read()) || op.to == value
        };
        let shown = key.ops.iter().flatten().zip(&key.entries).find(holds);
        match shown {
            _ if value == growth::EMPTY => "the empty string".to_owned(),
            Some((op, entry)) if op.is_read() || op.is_blind() => quote(entry.text),
            Some((_, entry)) => format!("a string that ends with {}", quote(entry.text)),
            None => "another string".to_owned(),
        }
    }

    fn act(&self, cell: usize, _op: &RegisterOp, position: usize) -> String {
        let entries = &self.0[cell].entries;
        let at = entries.partition_point(|entry| (entry.invoked as usize) < position);
        let Some(entry) = entries.get(at) else {
            return "op".to_owned();
        };
        let name = match entry.kind {
            Kind::Get => "get of",
            Kind::Put => "put of",
            Kind::Append => "append of",
        };
        format!("{name} {}", quote(entry.text))
    }

    fn judge(&self, at: usize, cell: &Cell, _meter: &mut Meter, _spare: &mut Meter) -> Judgement {
        let key = &self.0[at];
        let (Some(growth), Some(_)) = (&key.growth, &key.ops) else {
            return Judgement::OutOfBudget;
        };
        if matches!(unique(&cell.ops, cell.initial), Unique::Linearizable(_)) {
            return Judgement::Linearizable;
        }
        let ends = key.entries.iter().map(|entry| entry.ret);
        let ends = ends.filter(|end| *end != u32::MAX).collect();
        let found = explain_prefixes(ends, growth::EMPTY, |moment| {
            let found = growth.readings(&key.entries, moment)?;
            Some((found.readings, found.names))
        });
        found.map_or(Judgement::OutOfBudget, Judgement::Violation)
    }
}

fn quote(text: &str) -> String {
    shorten(&format!("\"{text}\""))
}
