//! Keys with strings: `get`, `put` and `append`, by the op's field `key`.
//!
//! A get's value is the whole string; an absent key is empty. Where none of the strings put and
//! appended to a key begins another, what a get shows says in which order they took effect: an
//! observed append is a read-modify-write from one string to the next, an unobserved one a write
//! that nobody saw, and the key is a register of unique values, judged in polynomial time. Other
//! keys are searched.

mod choices;
mod growing;
mod growth;
mod reading;
mod strings;

use serde_json::Value as Json;

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
    let initial = match &options.initial {
        None | Some(Json::Null) => "",
        Some(Json::String(text)) => text,
        Some(other) => {
            let reason = format!("{other} cannot be a key's first value: it must be a string");
            return Err(HistoryError::new(1, reason));
        }
    };
    let read_keys = read.keys.into_iter();
    let keys: Vec<Key<'_>> = read_keys.map(|key| Key::new(key, initial)).collect();
    let cells: Vec<Cell> = keys.iter().map(Key::cell).collect();
    let judged = judge_cells(
        history,
        Model::Kv,
        &cells,
        &Keys {
            keys: &keys,
            initial,
        },
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
    ops: Vec<RegisterOp>,
    /// Whether `ops` say it all.
    is_register: bool,
}

impl<'h> Key<'h> {
    fn new(read: reading::Key<'h>, initial: &str) -> Self {
        let growth = Growth::new(&read.entries);
        let readings = growth
            .as_ref()
            .and_then(|growth| growth.readings(&read.entries, u32::MAX));
        let ops = readings.and_then(|mut all| all.readings.pop());
        let is_register = ops.is_some() && initial.is_empty();
        let ops = ops
            .filter(|_| is_register)
            .unwrap_or_else(|| strings::unrelated(&read.entries));
        Self {
            name: read.name,
            entries: read.entries,
            growth,
            ops,
            is_register,
        }
    }

    fn cell(&self) -> Cell {
        Cell {
            key: self.name.clone(),
            ops: self.ops.clone(),
            invoked: self.entries.iter().map(|entry| entry.invoked).collect(),
            initial: growth::EMPTY,
        }
    }
}

struct Keys<'k, 'h> {
    keys: &'k [Key<'h>],
    initial: &'k str,
}

impl Values for Keys<'_, '_> {
    fn show(&self, cell: usize, value: u32) -> String {
        let key = &self.keys[cell];
        let holds = |(op, _): &(&RegisterOp, &Entry<'_>)| {
            (op.from == value && op.is_read()) || op.to == value
        };
        let shown = key.ops.iter().zip(&key.entries).find(holds);
        match shown {
            _ if value == growth::EMPTY => quote(self.initial),
            Some((_, entry)) if entry.kind != Kind::Append => quote(entry.text),
            Some((_, entry)) => format!("a string that ends with {}", quote(entry.text)),
            None => "another string".to_owned(),
        }
    }

    fn unwritten(&self, cell: usize, read: u32, value: &str) -> (&'static str, String) {
        let entries = &self.keys[cell].entries;
        let text = entries.get(read as usize).map_or("", |entry| entry.text);
        if !is_made_of(text, self.initial, entries) {
            return ("phantom-read", format!("nothing ever wrote {value}"));
        }
        let why = format!(
            "no order of the puts and appends in which the other gets are right leaves {value}"
        );
        ("impossible-read", why)
    }

    fn act(&self, cell: usize, _op: &RegisterOp, position: usize) -> String {
        let entries = &self.keys[cell].entries;
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

    fn judge(&self, at: usize, cell: &Cell, meter: &mut Meter, spare: &mut Meter) -> Judgement {
        let key = &self.keys[at];
        let (Some(growth), true) = (&key.growth, key.is_register) else {
            return strings::judge(&key.entries, self.initial, meter, spare);
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
        found.map_or(Judgement::OutOfBudget, |mut found| {
            // A get may be what tells the places of appends, which are then at fault without it.
            found.witness.push(found.op);
            found.witness.sort_unstable();
            found.witness.dedup();
            Judgement::Violation(found)
        })
    }
}

fn quote(text: &str) -> String {
    shorten(&format!("\"{text}\""))
}

/// Whether a string can be put together from what was put and appended.
fn is_made_of(text: &str, initial: &str, entries: &[Entry<'_>]) -> bool {
    let pieces = entries.iter().filter(|entry| entry.kind != Kind::Get);
    let mut pieces: Vec<&str> = pieces.map(|entry| entry.text).collect();
    pieces.sort_unstable();
    pieces.dedup();
    let bytes = text.as_bytes();
    let mut reached = vec![false; bytes.len() + 1];
    reached[0] = true;
    if bytes.starts_with(initial.as_bytes()) {
        reached[initial.len()] = true;
    }
    for at in 0..bytes.len() {
        if !reached[at] {
            continue;
        }
        let fits = pieces
            .iter()
            .filter(|piece| bytes[at..].starts_with(piece.as_bytes()));
        for piece in fits {
            reached[at + piece.len()] = true;
        }
    }
    reached[bytes.len()]
}
