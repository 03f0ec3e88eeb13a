//! What the models of registers and of keys with values share: cells by key, their judgement under
//! one budget, and the words for what was found.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Anomaly, Level, Model, ModelOptions, ModelVerdict};
use crate::history::{History, OpType, Process};
use crate::search::register::{
    Explanation, Flaw, Judgement, Meter, NONE, RegisterOp, judge, sequential,
};
use crate::verdict::Validity;

/// Steps that each key gets in the first round; keys that need more wait for the next.
const FIRST_ROUND: u64 = 1 << 18;

/// Longest value that a message shows whole.
const SHOWN: usize = 60;

/// One key's ops as a register's.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Name of the key, where the history has keys.
    pub key: Option<String>,
    pub ops: Vec<RegisterOp>,
    /// Position of each op's invocation in the history.
    pub invoked: Vec<u32>,
    pub initial: u32,
}

/// What a model knows of its cells' values.
pub(super) trait Values {
    /// A value of `cell` in words.
    fn show(&self, cell: usize, value: u32) -> String;
    /// An op of `cell` in words, such as "write of 3".
    fn act(&self, cell: usize, op: &RegisterOp, position: usize) -> String;
    /// Judges `cell` by an algorithm of the model's own.
    fn judge(&self, _at: usize, cell: &Cell, meter: &mut Meter, spare: &mut Meter) -> Judgement {
        judge(&cell.ops, cell.initial, meter, spare)
    }
}

/// Counts of outcomes, gathered while reading.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Outcomes {
    pub ok: u64,
    pub fail: u64,
    pub info: u64,
    /// Reads that say nothing.
    pub unchecked_reads: u64,
}

/// Judges all cells, in rounds of doubling budgets, so that one hard key does not starve the rest.
pub(super) fn judge_cells(
    history: &History,
    model: Model,
    cells: &[Cell],
    values: &impl Values,
    outcomes: Outcomes,
    options: &ModelOptions,
) -> ModelVerdict {
    let mut verdict = ModelVerdict::valid(model);
    let mut left = options.budget.steps;
    let (mut steps, mut too_large) = (0, 0);
    let mut waiting: Vec<usize> = (0..cells.len()).collect();
    let mut round = FIRST_ROUND;
    let mut found: Vec<(usize, Explanation)> = Vec::new();
    while !waiting.is_empty() && left > 0 {
        waiting.retain(|&at| {
            let cell = &cells[at];
            let mut meter = Meter::new(round.min(left), options.budget.bytes);
            let mut explaining = Meter::new(left, options.budget.bytes);
            let judgement = values.judge(at, cell, &mut meter, &mut explaining);
            let spent = meter.steps + explaining.steps;
            steps += spent;
            left = left.saturating_sub(spent.max(1));
            match judgement {
                Judgement::Linearizable => false,
                Judgement::Violation(explanation) => {
                    found.push((at, explanation));
                    false
                }
                // What the memory does not allow is not to be had by trying longer.
                Judgement::OutOfBudget if meter.steps_left > 0 => {
                    too_large += 1;
                    false
                }
                Judgement::OutOfBudget => true,
            }
        });
        round = round.saturating_mul(2);
    }
    let undecided = waiting.len() + too_large;
    found.sort_by_key(|(at, _)| *at);
    let teller = Teller { history, values };
    for (at, explanation) in &found {
        match explanation.proved {
            true => verdict.accuse(teller.anomaly(*at, &cells[*at], explanation)),
            false => verdict.doubt(teller.unproved(&cells[*at])),
        }
    }
    if undecided > 0 {
        verdict.doubt(format!(
            "the budget ran out after {steps} steps with {undecided} of {} keys undecided; raise it, or judge a shorter history",
            cells.len()
        ));
    }
    count(&mut verdict, cells, outcomes, steps);
    verdict.level = level(&verdict, history, cells);
    verdict
}

fn count(verdict: &mut ModelVerdict, cells: &[Cell], outcomes: Outcomes, steps: u64) {
    let of = |wanted: fn(&RegisterOp) -> bool| {
        let ops = cells.iter().flat_map(|cell| &cell.ops);
        ops.filter(|op| !op.is_info() && wanted(op)).count() as u64
    };
    verdict.refutable_reads = of(|op| !op.is_blind());
    verdict.counts = BTreeMap::from([
        ("ok_count", outcomes.ok),
        ("fail_count", outcomes.fail),
        ("info_count", outcomes.info),
        ("unchecked_read_count", outcomes.unchecked_reads),
        ("keys_count", cells.len() as u64),
        ("reads_count", of(RegisterOp::is_read)),
        ("steps_count", steps),
    ]);
}

/// Sequential consistency is not local: each key may have an order that keeps the processes' own
/// while all together have none. So it is claimed for a single key only.
fn level(verdict: &ModelVerdict, history: &History, cells: &[Cell]) -> Level {
    if verdict.refutable_reads == 0 || verdict.valid == Validity::Unknown {
        return Level::Unknown;
    }
    if verdict.valid == Validity::Valid {
        return Level::Linearizable;
    }
    let [cell] = cells else {
        return Level::Unknown;
    };
    let process_of = |&position: &u32| match history.ops()[position as usize].process {
        Process::Client(number) => number,
        Process::Nemesis => u64::MAX,
    };
    let process: Vec<u64> = cell.invoked.iter().map(process_of).collect();
    match sequential(&cell.ops, &process, cell.initial) {
        Some(true) => Level::Sequential,
        _ => Level::Unknown,
    }
}

struct Teller<'a, V> {
    history: &'a History,
    values: &'a V,
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

    fn anomaly(&self, at: usize, cell: &Cell, explanation: &Explanation) -> Anomaly {
        let standing = self.standing(cell, explanation.op);
        let mut ops: Vec<u64> = explanation
            .witness
            .iter()
            .map(|&op| self.index(cell, op))
            .collect();
        ops.sort_unstable();
        let refused = self.refused(at, cell, explanation);
        let (cause, message) = self.tell(at, cell, explanation);
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

    fn unproved(&self, cell: &Cell) -> String {
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
                    None => (
                        "phantom-read",
                        format!("{}: nothing ever wrote {}", name(*read), of(*read)),
                    ),
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

/// A value for a message: the end of a long one, since that is where lists grow.
pub(super) fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(count - SHOWN).collect();
    format!("…{tail} ({count} characters)")
}
