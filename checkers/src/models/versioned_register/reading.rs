//! A history as the writes and reads of each key.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Log, NEVER};
use crate::history::{History, HistoryError, Op, OpType};
use crate::models::vocabulary::{ops, value};

/// Positions of an op's begin and its end ([`NEVER`] without an answer).
pub(super) type Span = (u32, u32);

/// A write, or a cas that succeeded or may have.
#[derive(Debug)]
pub(super) struct Write {
    pub span: Span,
    /// Named by the answer.
    pub revision: Option<u64>,
    pub value: Json,
    /// What a cas compared with.
    pub from: Option<Json>,
    /// It certainly did not happen.
    pub failed: bool,
}

/// An ok read, or a failed cas that names the revision it met.
#[derive(Debug)]
pub(super) struct Read {
    pub span: Span,
    pub revision: u64,
    pub value: Json,
    pub names_value: bool,
}

/// One key's ops.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub key: Option<String>,
    pub writes: Vec<Write>,
    pub reads: Vec<Read>,
}

impl Cell {
    /// Acknowledged writes without a revision that no read placed.
    pub(super) fn unplaced(&self, log: &Log) -> usize {
        let acked = |which: &&u32| self.writes[**which as usize].span.1 != NEVER;
        log.unseen.iter().filter(acked).count()
    }
}

pub(super) fn read(history: &History) -> Result<Vec<Cell>, HistoryError> {
    let mut cells: BTreeMap<Option<String>, Cell> = BTreeMap::new();
    for (position, op) in ops(history) {
        if op.kind != OpType::Invoke {
            continue;
        }
        let key = key_of(op);
        let cell = cells.entry(key.clone()).or_insert_with(|| Cell {
            key,
            ..Cell::default()
        });
        let end = history.partner(position);
        let malformed = |at: usize| {
            let reason = "the value must be [revision, value] with a revision that is null or a number above zero";
            move || HistoryError::new(history.line_of(at), reason)
        };
        let asked = pair(&value(op)).ok_or_else(malformed(position))?;
        let answer = end.map(|end| {
            let op = &history.ops()[end];
            pair(&value(op))
                .map(|pair| (end, op.kind, pair))
                .ok_or_else(malformed(end))
        });
        cell.add(op, position, asked, answer.transpose()?);
    }
    Ok(cells.into_values().collect())
}

type Pair = (Option<u64>, Json);

impl Cell {
    fn add(
        &mut self,
        op: &Op,
        position: usize,
        asked: Pair,
        answer: Option<(usize, OpType, Pair)>,
    ) {
        let begin = position as u32;
        let kind = answer.as_ref().map_or(OpType::Info, |(_, kind, _)| *kind);
        let ended = answer.as_ref().map_or(NEVER, |(end, ..)| *end as u32);
        let (revision, got) = answer.map_or((None, Json::Null), |(_, _, pair)| pair);
        if op.f == "read" {
            if kind == OpType::Ok {
                self.reads.push(Read {
                    span: (begin, ended),
                    revision: revision.unwrap_or(0),
                    value: got,
                    names_value: revision.is_some(),
                });
            }
            return;
        }
        if op.f == "cas" && kind == OpType::Fail {
            // It read what it met; as what a failed cas may have failed for, nothing else follows.
            if let Some(revision) = revision {
                self.reads.push(Read {
                    span: (begin, ended),
                    revision,
                    value: Json::Null,
                    names_value: false,
                });
            }
            return;
        }
        let (from, value) = match (op.f.as_str(), asked.1) {
            ("cas", Json::Array(mut both)) if both.len() == 2 => {
                let to = both.pop().unwrap_or(Json::Null);
                (both.pop(), to)
            }
            (_, value) => (None, value),
        };
        self.writes.push(Write {
            span: match kind {
                OpType::Info | OpType::Invoke => (begin, NEVER),
                _ => (begin, ended),
            },
            revision: revision.filter(|_| kind == OpType::Ok),
            value,
            from,
            failed: kind == OpType::Fail,
        });
    }
}

/// `[revision, value]`; null stands for neither.
fn pair(value: &Json) -> Option<Pair> {
    match value {
        Json::Null => Some((None, Json::Null)),
        Json::Array(both) => match both.as_slice() {
            [Json::Null, value] => Some((None, value.clone())),
            [revision, value] => {
                let revision = revision
                    .as_u64()
                    .filter(|revision| *revision <= u64::MAX / 4)?;
                // Revision zero stands for never written.
                Some(((revision > 0).then_some(revision), value.clone()))
            }
            _ => None,
        },
        _ => None,
    }
}

fn key_of(op: &Op) -> Option<String> {
    op.extra.get("key").map(|key| match key {
        Json::String(key) => key.clone(),
        other => other.to_string(),
    })
}
