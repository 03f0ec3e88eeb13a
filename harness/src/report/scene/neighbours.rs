//! Ops around a witness: some before it, some after it and some at the same time, those first that
//! concern the same key.

use std::collections::BTreeSet;

use plimsoll_checkers::history::{History, OpType, Process, Value};

use super::elements::elements;
use super::focus::Focus;
use super::span::Span;

/// Positions that are searched on either side of a witness, so that a page is
/// made in the same time whatever the length of the history.
const SEARCHED: usize = 1_000;
/// Neighbours of one witness.
const BEFORE: usize = 3;
const AFTER: usize = 3;
const CONCURRENT: usize = 5;
/// Neighbours of a whole scene.
const TOTAL: usize = 36;

/// When a neighbour was, seen from its witness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    Concurrent,
    Before,
    After,
}

/// Ops with a witness's value, of which an element of a queue or a set has few. More than these,
/// and the value says nothing.
const WITH_VALUE: usize = 6;

/// An op around the witnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    pub span: Span,
    /// It has the value of a witness, so that it is drawn wherever it stands.
    pub same_value: bool,
}

/// Neighbours of all witnesses, each once and none of them a witness.
pub fn neighbours(history: &History, witnesses: &[Span], focus: Focus<'_>) -> Vec<Neighbour> {
    let own: BTreeSet<usize> = witnesses.iter().map(|span| span.from).collect();
    let mut related = match focus.key {
        Some(_) => BTreeSet::new(),
        None => with_their_values(history, witnesses),
    };
    related.retain(|span| !own.contains(&span.from));
    let mut chosen = related.clone();
    for witness in witnesses {
        for span in around(history, witness, focus) {
            if chosen.len() == TOTAL {
                break;
            }
            if !own.contains(&span.from) {
                chosen.insert(span);
            }
        }
    }
    let neighbour = |span| Neighbour {
        span,
        same_value: related.contains(&span),
    };
    chosen.into_iter().map(neighbour).collect()
}

/// What else happened to the elements that the witnesses are about, wherever it stands: where one
/// came out twice, this is who put it in.
fn with_their_values(history: &History, witnesses: &[Span]) -> BTreeSet<Span> {
    let elements = elements(history, witnesses);
    let mut found = BTreeSet::new();
    if elements.is_empty() {
        return found;
    }
    for (position, op) in history.ops().iter().enumerate() {
        if op.process != Process::Nemesis && is_one_of(&op.value, &elements) {
            found.insert(Span::at(history, position));
            if found.len() > WITH_VALUE {
                return BTreeSet::new();
            }
        }
    }
    found
}

fn is_one_of(value: &Value, elements: &[&serde_json::Value]) -> bool {
    matches!(value, Value::Other(json) if elements.contains(&json))
}

fn around(history: &History, witness: &Span, focus: Focus<'_>) -> Vec<Span> {
    let mut found: Vec<(When, bool, usize, Span)> = candidates(history, witness)
        .into_iter()
        .map(|span| {
            let (when, distance) = seen_from(witness, &span);
            let foreign = !concerns(history, &span, focus);
            (when, foreign, distance, span)
        })
        .collect();
    found.sort();
    let mut chosen = Vec::new();
    for (when, most) in [
        (When::Concurrent, CONCURRENT),
        (When::Before, BEFORE),
        (When::After, AFTER),
    ] {
        let of = found.iter().filter(|one| one.0 == when);
        chosen.extend(of.take(most).map(|one| one.3));
    }
    chosen
}

fn candidates(history: &History, witness: &Span) -> BTreeSet<Span> {
    let last = history.ops().len();
    let near = |at: usize| at.saturating_sub(SEARCHED)..at.saturating_add(SEARCHED + 1).min(last);
    let end = witness.to.unwrap_or(witness.from);
    let positions = near(witness.from).chain(near(end));
    let ours = positions.filter(|at| history.ops()[*at].process != Process::Nemesis);
    ours.map(|at| Span::at(history, at)).collect()
}

fn seen_from(witness: &Span, span: &Span) -> (When, usize) {
    let end = witness.to.unwrap_or(witness.from);
    match span.to {
        Some(to) if to < witness.from => (When::Before, witness.from - to),
        _ if span.from > end => (When::After, span.from - end),
        _ => (When::Concurrent, span.from.abs_diff(witness.from)),
    }
}

fn concerns(history: &History, span: &Span, focus: Focus<'_>) -> bool {
    let done = span.to.map(|to| &history.ops()[to]);
    let done = done.filter(|op| op.kind == OpType::Ok);
    focus.touches(&history.ops()[span.from]) || done.is_some_and(|op| focus.touches(op))
}
