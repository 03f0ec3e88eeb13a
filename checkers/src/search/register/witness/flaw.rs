//! The second test of what the polynomial algorithm found: by the ops alone.

use super::super::problem::{NONE, RegisterOp};
use super::super::zones::Flaw;

/// Ops of a flaw, with the writes of what they saw.
pub(in super::super) fn of_flaw(ops: &[RegisterOp], flaw: &Flaw) -> Vec<u32> {
    let mut witness = flaw.ops();
    for at in flaw.ops() {
        let from = ops[at as usize].from;
        let writer = (0..)
            .zip(ops)
            .find(|(_, op)| op.to == from && !op.is_read());
        if let (true, Some((writer, _))) = (from != NONE, writer) {
            witness.push(writer);
        }
    }
    witness.sort_unstable();
    witness.dedup();
    witness
}

/// Whether the flaw is what it says, by the ops alone.
pub(in super::super) fn proves(ops: &[RegisterOp], initial: u32, flaw: &Flaw) -> bool {
    let facts = Facts::new(ops, initial);
    let op = |at: u32| &ops[at as usize];
    let precedes = |a: u32, b: u32| op(a).ret < op(b).inv;
    match flaw {
        Flaw::Unwritten { read } => {
            op(*read).from != initial && facts.writer(op(*read).from).is_none()
        }
        Flaw::TwoSuccessors { first, second } => {
            let value = op(*first).from;
            first != second
                && value == op(*second).from
                && !op(*first).is_read()
                && !op(*second).is_read()
                && facts.happened(*first)
                && facts.happened(*second)
                && facts.occurs_once(value)
        }
        Flaw::Cycle { ops: circle } => {
            let next = circle.iter().cycle().skip(1);
            let mut pairs = circle.iter().zip(next);
            !circle.is_empty()
                && facts.happened(circle[0])
                && pairs.all(|(a, b)| op(*a).from == op(*b).to && facts.occurs_once(op(*a).from))
        }
        Flaw::Order { early, late } => precedes(*late, *early) && facts.comes_before(*early, *late),
        Flaw::Zones { one, other } => {
            let roots = [one.0, one.1, other.0, other.1].map(|at| facts.root(at));
            roots[0].is_some()
                && roots[0] == roots[1]
                && roots[2].is_some()
                && roots[2] == roots[3]
                && roots[0] != roots[2]
                && precedes(one.0, other.1)
                && precedes(other.0, one.1)
        }
        Flaw::InitialReturned { read, before } => {
            facts.root(*read) == Some(NONE)
                && facts.root(*before).is_some_and(|root| root != NONE)
                && precedes(*before, *read)
        }
    }
}

struct Facts<'o> {
    ops: &'o [RegisterOp],
    initial: u32,
    /// How often each value comes up, and an op that writes it.
    written: Vec<(u32, u32)>,
}

impl<'o> Facts<'o> {
    fn new(ops: &'o [RegisterOp], initial: u32) -> Self {
        let named = ops.iter().flat_map(|op| [op.from, op.to]).chain([initial]);
        let named = named.filter(|value| *value != NONE);
        let values = named.max().map_or(0, |value| value as usize + 1);
        let mut written = vec![(0, NONE); values];
        if initial != NONE {
            written[initial as usize].0 = 1;
        }
        for (at, op) in (0..).zip(ops).filter(|(_, op)| !op.is_read()) {
            let (count, writer) = &mut written[op.to as usize];
            *count += 1;
            *writer = at;
        }
        Self {
            ops,
            initial,
            written,
        }
    }

    fn writer(&self, value: u32) -> Option<u32> {
        let (_, writer) = self.written[value as usize];
        (writer != NONE).then_some(writer)
    }

    fn occurs_once(&self, value: u32) -> bool {
        self.written[value as usize].0 == 1
    }

    /// It ended, or its value was seen by something that happened.
    fn happened(&self, at: u32) -> bool {
        let mut at = at;
        for _ in 0..=self.ops.len() {
            let op = &self.ops[at as usize];
            if !op.is_info() {
                return true;
            }
            let mut seers = (0..).zip(self.ops).filter(|(_, seer)| seer.from == op.to);
            let ended = seers.clone().any(|(_, seer)| !seer.is_info());
            match (ended, seers.next()) {
                (true, _) => return true,
                (false, Some((seer, _))) => at = seer,
                (false, None) => return false,
            }
        }
        false
    }

    /// The value an op leaves the register with, as it stands in its block.
    fn holds(&self, at: u32) -> u32 {
        let op = &self.ops[at as usize];
        if op.is_read() { op.from } else { op.to }
    }

    /// The blind write that an op's value grew from, [`NONE`] for the first value.
    fn root(&self, at: u32) -> Option<u32> {
        let mut value = self.holds(at);
        for _ in 0..=self.ops.len() {
            if value == self.initial {
                return Some(NONE);
            }
            let writer = self.writer(value)?;
            let op = &self.ops[writer as usize];
            if !self.occurs_once(value) {
                return None;
            }
            if op.is_blind() {
                return Some(writer);
            }
            value = op.from;
        }
        None
    }

    /// Whether `late` needs what `early` saw or left, directly or through other ops.
    fn comes_before(&self, early: u32, late: u32) -> bool {
        let seen = self.holds(early);
        let op = &self.ops[late as usize];
        // A read of the value that `early` left, or an op whose value grew from it.
        let mut value = op.from;
        if self.ops[early as usize].is_read() && op.is_read() && value == seen {
            return false;
        }
        for _ in 0..=self.ops.len() {
            if value == NONE || !self.occurs_once(value) {
                return false;
            }
            if value == seen {
                return true;
            }
            let Some(writer) = self.writer(value) else {
                return false;
            };
            value = self.ops[writer as usize].from;
        }
        false
    }
}
