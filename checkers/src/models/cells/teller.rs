//! What was found on a cell, in words and as op indices.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::super::Anomaly;
use super::grounds::{self, Grounds};
use super::{Cell, Values};
use crate::history::{History, OpType};
use crate::search::register::{Explanation, Flaw, NONE, RegisterOp};

/// Puts what was found on cells into words.
pub(super) struct Teller<'a, V> {
    pub history: &'a History,
    pub values: &'a V,
}

impl<V: Values> Teller<'_, V> {
    /// The index that stands for an op: of its completion, if it has one that says what happened.
    fn index(&self, cell: &Cell, at: u32) -> u64 {
        self.history.ops()[self.standing(cell, at)].index
    }

    fn standing(&self, cell: &Cell, at: u32) -> usize {
        let invoked = cell.invoked[at as usize] as usize;
        let ends = self.history.partner(invoked);
        ends.filter(|&end| self.history.ops()[end].kind == OpType::Ok)
            .unwrap_or(invoked)
    }

    /// The anomaly on `cell`, the one at `at`.
    pub fn anomaly(&self, at: usize, cell: &Cell, explanation: &Explanation) -> Anomaly {
        let standing = self.standing(cell, explanation.op);
        let grounds = self.grounds(cell, explanation);
        let mut ops: Vec<u64> = explanation
            .witness
            .iter()
            .copied()
            .chain(grounds.and_then(|grounds| grounds.last_write))
            .chain(grounds.map(|grounds| grounds.overwrite))
            .map(|op| self.index(cell, op))
            .collect();
        ops.sort_unstable();
        ops.dedup();
        let refused = self.refused(at, cell, explanation);
        let (cause, message) = match grounds {
            Some(grounds) => self.tell_grounds(at, cell, explanation.op, grounds),
            None => self.tell(at, cell, explanation),
        };
        let prefix = explanation.order.as_ref().map_or(Json::Null, |order| {
            let order = order.iter().map(|&op| self.index(cell, op));
            Json::from(order.collect::<Vec<u64>>())
        });
        Anomaly {
            kind: "not-linearizable",
            key: cell.key.clone(),
            ops,
            time_ns: self.history.ops()[standing].time,
            message,
            details: BTreeMap::from([
                ("op", json!(self.index(cell, explanation.op))),
                ("prefix", prefix),
                ("refused", json!(refused)),
                ("cause", json!(cause)),
            ]),
        }
    }

    /// What overwrote the value, where the witness is the accused op alone.
    fn grounds(&self, cell: &Cell, found: &Explanation) -> Option<Grounds> {
        let alone = found.flaw.is_none() && found.witness == [found.op];
        alone
            .then(|| grounds::against(&cell.ops, cell.initial, found.op))
            .flatten()
    }

    fn tell_grounds(
        &self,
        at: usize,
        cell: &Cell,
        accused: u32,
        grounds: Grounds,
    ) -> (&'static str, String) {
        let name = |op: u32| self.op(at, cell, op);
        let needs = self.values.show(at, cell.ops[accused as usize].from);
        let over = name(grounds.overwrite);
        let message = match grounds.last_write {
            Some(last) => format!(
                "{} began after {over} had ended, and the last op that left {needs}, {}, had ended before that began",
                name(accused),
                name(last)
            ),
            None => format!(
                "{} began after {over} had ended, and nothing left {needs} again",
                name(accused)
            ),
        };
        ("stale-read", message)
    }

    /// Why nothing is said of `cell`.
    pub fn unproved(&self, cell: &Cell) -> String {
        let key = cell.key.as_deref().unwrap_or("the register");
        format!(
            "a violation on {key} did not stand its second test; that is a bug of the checker, please report it with the history"
        )
    }

    fn op(&self, at: usize, cell: &Cell, op: u32) -> String {
        let position = cell.invoked[op as usize] as usize;
        let act = self.values.act(at, &cell.ops[op as usize], position);
        let process = self.history.ops()[position].process;
        format!("{act} by process {process} (op {})", self.index(cell, op))
    }

    /// Why the op cannot follow the longest prefix.
    fn refused(&self, at: usize, cell: &Cell, explanation: &Explanation) -> String {
        let op = &cell.ops[explanation.op as usize];
        let mut state = cell.initial;
        for &step in explanation.order.iter().flatten() {
            let to = cell.ops[step as usize].to;
            state = if to == NONE { state } else { to };
        }
        let holds = self.values.show(at, state);
        let wants = self.values.show(at, op.from);
        match (op.is_blind(), &explanation.order) {
            (true, _) => "a write is refused by no state, but ops that must come after it in time had to come before it by their values".to_owned(),
            (false, None) => format!("no order of the ops before it leaves {wants}"),
            (false, Some(_)) if state == op.from => format!(
                "an order of the ops before it does leave {wants}, but what this op changes contradicts others that are still open"
            ),
            (false, Some(_)) => format!(
                "it needs {wants}; after the ops before it, in the order given, the value is {holds}, and no other order leaves {wants}"
            ),
        }
    }

    fn tell(&self, at: usize, cell: &Cell, found: &Explanation) -> (&'static str, String) {
        let name = |op: u32| self.op(at, cell, op);
        let op = &cell.ops[found.op as usize];
        let is_read = |op: u32| cell.ops[op as usize].is_read();
        let of = |op: u32| self.values.show(at, cell.ops[op as usize].from);
        match &found.flaw {
            None => (
                "no-order",
                format!(
                    "no order of these {} ops that real time allows explains the {}",
                    found.witness.len(),
                    name(found.op)
                ),
            ),
            Some(Flaw::Unwritten { read }) => {
                let wrote = |(_, other): &(u32, &RegisterOp)| {
                    !other.is_read() && other.to == cell.ops[*read as usize].from
                };
                match (0..).zip(&cell.ops).find(wrote) {
                    Some((writer, _)) => (
                        "future-read",
                        format!("{} ended before {} began", name(*read), name(writer)),
                    ),
                    None => {
                        let (cause, why) = self.values.unwritten(at, *read, &of(*read));
                        (cause, format!("{}: {why}", name(*read)))
                    }
                }
            }
            Some(Flaw::TwoSuccessors { first, second }) => (
                "lost-update",
                format!(
                    "{} and {} both replaced the one {}",
                    name(*first),
                    name(*second),
                    of(*first)
                ),
            ),
            Some(Flaw::Cycle { ops }) => (
                "circular-updates",
                format!(
                    "each needs another's value first: {}",
                    ops.iter()
                        .map(|&op| name(op))
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            ),
            Some(Flaw::Order { early, late }) if is_read(*early) && !is_read(*late) => (
                "stale-read",
                format!(
                    "{} does not show {}, which had ended before it began",
                    name(*early),
                    name(*late)
                ),
            ),
            Some(Flaw::Order { early, late }) => (
                cause_of(is_read(*late)),
                format!(
                    "{} must come after {} by its value, but had ended before that began",
                    name(*late),
                    name(*early)
                ),
            ),
            Some(Flaw::InitialReturned { read, before }) => (
                cause_of(is_read(*read)),
                format!(
                    "{} began after {} had ended, which had replaced what it saw",
                    name(*read),
                    name(*before)
                ),
            ),
            Some(Flaw::Zones { one, other }) => (
                cause_of(op.is_read()),
                format!(
                    "values must not come back: {} ended before {} began, and {} ended before {} began",
                    name(one.0),
                    name(other.1),
                    name(other.0),
                    name(one.1)
                ),
            ),
        }
    }
}

fn cause_of(is_read: bool) -> &'static str {
    if is_read {
        "stale-read"
    } else {
        "realtime-order"
    }
}
