//! From a history to the ops of keys.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::super::cells::Outcomes;
use crate::history::{History, HistoryError, Op, OpType, Process, Value};
use crate::search::register::NEVER;

/// What an op does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Get,
    Put,
    Append,
}

/// One op that was not certainly without effect, or a get that was answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'h> {
    pub kind: Kind,
    /// Position of its invocation.
    pub invoked: u32,
    /// Position of its answer, or [`NEVER`].
    pub ret: u32,
    /// What it wrote or saw.
    pub text: &'h str,
}

/// One key's ops, by invocation.
pub(super) struct Key<'h> {
    pub name: Option<String>,
    pub entries: Vec<Entry<'h>>,
}

/// All keys.
pub(super) struct Reading<'h> {
    pub keys: Vec<Key<'h>>,
    pub outcomes: Outcomes,
}

/// Reads all ops of client processes.
pub(super) fn read(history: &History) -> Result<Reading<'_>, HistoryError> {
    let mut keys: Vec<Key<'_>> = Vec::new();
    let mut by_name: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    // Keys that are not strings are rare, and named by their JSON.
    let mut by_json: BTreeMap<String, usize> = BTreeMap::new();
    let mut outcomes = Outcomes::default();
    for (position, op) in history.ops().iter().enumerate() {
        if op.process == Process::Nemesis || op.kind != OpType::Invoke {
            continue;
        }
        let entry = entry(history, position, op, &mut outcomes)
            .map_err(|(at, reason)| HistoryError::new(history.line_of(at), reason))?;
        let Some(entry) = entry else { continue };
        let next = keys.len();
        let at = match op.extra.get("key") {
            None => *by_name.entry(None).or_insert(next),
            Some(Json::String(name)) => *by_name.entry(Some(name)).or_insert(next),
            Some(other) => *by_json.entry(other.to_string()).or_insert(next),
        };
        if at == next {
            let name = op.extra.get("key").map(|key| match key {
                Json::String(name) => name.clone(),
                other => other.to_string(),
            });
            let entries = Vec::new();
            keys.push(Key { name, entries });
        }
        keys[at].entries.push(entry);
    }
    Ok(Reading { keys, outcomes })
}

fn entry<'h>(
    history: &'h History,
    position: usize,
    op: &'h Op,
    outcomes: &mut Outcomes,
) -> Result<Option<Entry<'h>>, (usize, String)> {
    let kind = match op.f.as_str() {
        "get" => Kind::Get,
        "put" => Kind::Put,
        "append" => Kind::Append,
        other => {
            return Err((
                position,
                format!(
                    "f \"{other}\" is not one of a kv's, which are get, put and append; choose the model that knows it"
                ),
            ));
        }
    };
    let ends = history.partner(position);
    let end = ends.map(|at| &history.ops()[at]);
    let outcome = end.map_or(OpType::Info, |end| end.kind);
    match outcome {
        OpType::Fail => outcomes.fail += 1,
        OpType::Ok => outcomes.ok += 1,
        _ => outcomes.info += 1,
    }
    let (said_at, said) = match (kind, ends.zip(end)) {
        (Kind::Get, Some((at, end))) if outcome == OpType::Ok => (at, end),
        (Kind::Get, _) => return Ok(None),
        _ => (position, op),
    };
    let text = text(kind, &said.value).ok_or_else(|| {
        let reason = format!(
            "the value of this \"{}\" cannot be read: it must be a string",
            op.f
        );
        (said_at, reason)
    })?;
    let answered = ends.filter(|_| outcome == OpType::Ok);
    let entry = Entry {
        kind,
        invoked: position as u32,
        ret: answered.map_or(NEVER, |at| at as u32),
        text,
    };
    Ok((outcome != OpType::Fail).then_some(entry))
}

/// An absent key is shown as null or as an empty string.
fn text(kind: Kind, value: &Value) -> Option<&str> {
    match value {
        Value::None if kind == Kind::Get => Some(""),
        Value::Other(Json::String(text)) => Some(text),
        _ => None,
    }
}
