//! What the models of registers and of keys with values share: cells by key, their judgement under
//! one budget, and the words for what was found.

mod grounds;
mod teller;

use std::collections::BTreeMap;

use super::{Level, Model, ModelOptions, ModelVerdict};
use crate::history::{History, Process};
use crate::search::register::{Explanation, Judgement, Meter, RegisterOp, judge, sequential};
use crate::verdict::Validity;
use teller::Teller;

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
    /// Why no op left the value that an op read, given in words: a cause, and a sentence's end.
    fn unwritten(&self, _cell: usize, _read: u32, value: &str) -> (&'static str, String) {
        ("phantom-read", format!("nothing ever wrote {value}"))
    }
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

/// A value for a message: the end of a long one, since that is where lists grow.
pub(super) fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(count - SHOWN).collect();
    format!("…{tail} ({count} characters)")
}
