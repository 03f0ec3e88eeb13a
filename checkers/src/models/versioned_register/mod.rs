//! `versioned-register`: a register whose answers name the revision of its value (etcd's
//! mod_revision, ZooKeeper's zxid, Consul's index).
//!
//! Values are `[revision, value]`; an invoke has null for the revision, and a read of what was never
//! written is null. Revisions order the writes, so no search is needed: the monotone-key engine. A
//! write at revision r sits at key 2r+1; a read of revision r, the next written one being n, at
//! [2r+2, 2n]. A linearization exists iff no op x that ended before an op y began has lo(x) > hi(y).
//! A write without an answer has a revision once a read shows its value; else it may never have
//! happened. Revisions may leave gaps: other keys take them.

mod reading;
mod sweep;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use self::reading::{Cell, Write};
use super::vocabulary::only;
use super::{Anomaly, Level, Model, ModelOptions, ModelVerdict};
use crate::Validity;
use crate::history::{History, HistoryError};

/// An end that never comes, or a position that does not exist.
const NEVER: u32 = u32::MAX;

pub(super) fn judge(
    history: &History,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::VersionedRegister, &["read", "write", "cas"])?;
    let initial = options.initial.clone().unwrap_or(Json::Null);
    let mut verdict = ModelVerdict::valid(Model::VersionedRegister);
    let cells = reading::read(history)?;
    verdict.counts.insert("keys_count", cells.len() as u64);
    for cell in &cells {
        judge_cell(history, cell, &initial, &mut verdict);
    }
    verdict.level = match verdict.valid {
        Validity::Valid if verdict.refutable_reads > 0 => Level::Linearizable,
        _ => Level::Unknown,
    };
    Ok(verdict)
}

fn judge_cell(history: &History, cell: &Cell, initial: &Json, verdict: &mut ModelVerdict) {
    verdict.refutable_reads += cell.reads.len() as u64;
    let mut log = Log::new(initial);
    let mut accusations = log.place_answered(cell);
    accusations.extend(log.place_observed(cell));
    if accusations.is_empty() {
        accusations.extend(log.compare_and_set(cell, verdict));
        accusations.extend(sweep::violations(cell, &log));
        if cell.unplaced(&log) > 0 {
            verdict.doubt("a write was acknowledged without a revision and never read");
        }
    }
    for accusation in accusations {
        verdict.accuse(accusation.told(history, cell));
    }
}

/// An anomaly by the positions of its ops.
struct Accusation {
    kind: &'static str,
    ops: Vec<u32>,
    message: String,
}

impl Accusation {
    fn told(mut self, history: &History, cell: &Cell) -> Anomaly {
        self.ops.retain(|&at| at != NEVER);
        self.ops.sort_unstable();
        self.ops.dedup();
        let op = |at: &u32| &history.ops()[*at as usize];
        Anomaly {
            kind: self.kind,
            key: cell.key.clone(),
            ops: self.ops.iter().map(|at| op(at).index).collect(),
            time_ns: self.ops.last().map_or(0, |at| op(at).time),
            message: self.message,
            details: BTreeMap::new(),
        }
    }
}

/// A revision: its value, who wrote it (as far as known) and who showed it.
#[derive(Debug, Clone)]
struct Entry {
    value: Json,
    /// Which of the cell's writes, or [`NEVER`].
    write: u32,
    /// Position of an op that shows it.
    shown: u32,
    /// Several writes without an answer may have written it, not all of them plain.
    ambiguous: bool,
}

/// The revisions of one key that anybody named.
#[derive(Debug)]
struct Log {
    entries: BTreeMap<u64, Entry>,
    /// Writes without an answer that are not seen anywhere.
    unseen: Vec<u32>,
}

impl Log {
    fn new(initial: &Json) -> Self {
        let initial = Entry {
            value: initial.clone(),
            write: NEVER,
            shown: NEVER,
            ambiguous: false,
        };
        Self {
            entries: BTreeMap::from([(0, initial)]),
            unseen: Vec::new(),
        }
    }

    /// The first written revision after one.
    fn next(&self, revision: u64) -> Option<u64> {
        let after = revision.saturating_add(1)..;
        self.entries
            .range(after)
            .next()
            .map(|(revision, _)| *revision)
    }

    fn place_answered(&mut self, cell: &Cell) -> Vec<Accusation> {
        let mut accusations = Vec::new();
        for (which, write) in (0_u32..).zip(&cell.writes) {
            let Some(revision) = write.revision else {
                continue;
            };
            let entry = Entry {
                value: write.value.clone(),
                write: which,
                shown: write.span.1,
                ambiguous: false,
            };
            if let Some(other) = self.entries.get(&revision) {
                accusations.push(two_values(revision, other, &entry));
            } else {
                self.entries.insert(revision, entry);
            }
        }
        accusations
    }

    /// Revisions that only reads name belong to writes without an answer, of the same value. Which of
    /// several is decided by their begin: revisions in order get them in order, since a later
    /// revision never asks for an earlier begin.
    fn place_observed(&mut self, cell: &Cell) -> Vec<Accusation> {
        let mut accusations = Vec::new();
        for read in &cell.reads {
            let shown = Entry {
                value: read.value.clone(),
                write: NEVER,
                shown: read.span.1,
                ambiguous: false,
            };
            match self.entries.get(&read.revision) {
                Some(entry) if read.names_value && entry.value != read.value => {
                    accusations.push(two_values(read.revision, entry, &shown));
                }
                Some(_) => {}
                None if read.names_value => {
                    self.entries.insert(read.revision, shown);
                }
                None => {}
            }
        }
        let mut open: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (which, write) in cell.writes.iter().enumerate().rev() {
            if write.revision.is_none() && !write.failed {
                let same = open.entry(write.value.to_string()).or_default();
                same.push(which as u32);
            }
        }
        let is_cas = |&which: &u32| cell.writes[which as usize].from.is_some();
        let mixed: BTreeSet<String> = open
            .iter()
            .filter(|(_, same)| same.len() > 1 && same.iter().any(is_cas))
            .map(|(value, _)| value.clone())
            .collect();
        for (revision, entry) in self
            .entries
            .iter_mut()
            .filter(|(revision, _)| **revision > 0)
        {
            if entry.write != NEVER {
                continue;
            }
            let value = entry.value.to_string();
            entry.ambiguous = mixed.contains(&value);
            let candidates = open.get_mut(&value);
            match candidates.and_then(Vec::pop) {
                Some(which) => entry.write = which,
                None => accusations.push(from_nowhere(*revision, entry, &cell.writes)),
            }
        }
        self.unseen = open.into_values().flatten().collect();
        accusations
    }

    /// A cas sits on the revision before its own, which must hold what it compared with.
    fn compare_and_set(&self, cell: &Cell, verdict: &mut ModelVerdict) -> Vec<Accusation> {
        let mut accusations = Vec::new();
        for (&revision, entry) in self.entries.iter() {
            let write = cell.writes.get(entry.write as usize);
            if entry.ambiguous {
                verdict.doubt("a read shows a value that several unanswered ops may have written");
                continue;
            }
            let Some(from) = write.and_then(|write| write.from.as_ref()) else {
                continue;
            };
            let Some((_, before)) = self.entries.range(..revision).next_back() else {
                continue;
            };
            if before.value == *from {
                continue;
            }
            let between = |&which: &u32| cell.writes[which as usize].value == *from;
            if self.unseen.iter().any(between) {
                verdict.doubt("a cas may follow a write of which nobody saw the revision");
                continue;
            }
            accusations.push(Accusation {
                kind: "not-linearizable",
                ops: vec![before.shown, entry.shown],
                message: format!(
                    "A cas from {from} took revision {revision}, but the revision before it holds {}.",
                    before.value
                ),
            });
        }
        accusations
    }
}

fn two_values(revision: u64, one: &Entry, other: &Entry) -> Accusation {
    Accusation {
        kind: "inconsistent-revisions",
        ops: vec![one.shown, other.shown],
        message: format!(
            "Revision {revision} holds {} and {}.",
            one.value, other.value
        ),
    }
}

fn from_nowhere(revision: u64, entry: &Entry, writes: &[Write]) -> Accusation {
    let failed = writes
        .iter()
        .find(|write| write.failed && write.value == entry.value);
    let (kind, how) = match failed {
        Some(_) => ("G1a", "whose write certainly failed"),
        None => ("phantom-read", "which nobody wrote there"),
    };
    Accusation {
        kind,
        ops: vec![failed.map_or(NEVER, |write| write.span.1), entry.shown],
        message: format!(
            "A read shows {} at revision {revision}, {how}.",
            entry.value
        ),
    }
}
