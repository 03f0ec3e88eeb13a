//! Few ops that no order explains, and their second test.
//!
//! Leaving ops out must not make a history worse than it was: a read without the write of its value
//! would be accused wrongly. A reduction is sound when a history with an order still has one after
//! it. These are, and they are all that is done here:
//! - leave out a read;
//! - leave out a write of `v` (or a read-modify-write to `v`) that no remaining op can have seen:
//!   each that needs `v` ended before it began, or began after another certain write that began
//!   after it ended. In an order of the whole, what follows the write up to the next one needs `v`,
//!   so none of it remains;
//! - leave out a write together with all that may have seen it, by the same rule;
//! - keep only what did not end before a certain write `w` began, leaving out the reads that began
//!   before `w` ended, and taking the other ops that did, and `w`, as plain writes: whatever a
//!   remaining op saw, its writer was `w` or came after `w`, and remains.

mod flaw;
#[cfg(test)]
mod tests;

pub(super) use flaw::{of_flaw, proves};

use super::problem::{NEVER, NONE, RegisterOp};
use super::{Decision, Meter, decide, frontier};

/// Steps for one trial.
const TRIAL_STEPS: u64 = 2_000_000;

/// Steps for all trials of one witness.
const ALL_TRIALS_STEPS: u64 = 100_000_000;

/// Ops up to which every order is tried in the second test.
const ALL_ORDERS: usize = 9;

/// Leaves out what the violation that ended at `end` does not need. Also whether what remains
/// stood a test by another algorithm.
pub(super) fn shrink(
    ops: &[RegisterOp],
    initial: u32,
    end: u32,
    meter: &mut Meter,
) -> (Vec<u32>, bool) {
    let (cut, ids) = super::prefix::prefix(ops, end);
    let mut shrinking = Shrinking {
        initial,
        kept: cut.into_iter().zip(ids).collect(),
        budget: meter.steps_left.min(ALL_TRIALS_STEPS),
        bytes: meter.bytes,
        steps: 0,
    };
    shrinking.begin_late();
    shrinking.leave_out();
    let proved = shrinking.stands();
    meter.steps += shrinking.steps;
    meter.steps_left = meter.steps_left.saturating_sub(shrinking.steps);
    let mut witness: Vec<u32> = shrinking.kept.iter().map(|(_, id)| *id).collect();
    witness.sort_unstable();
    (witness, proved)
}

type Kept = Vec<(RegisterOp, u32)>;

struct Shrinking {
    initial: u32,
    kept: Kept,
    budget: u64,
    bytes: u64,
    steps: u64,
}

impl Shrinking {
    /// Whether no order explains `kept`; false when in doubt.
    fn refuted(&mut self, kept: &Kept) -> bool {
        let ops: Vec<RegisterOp> = kept.iter().map(|(op, _)| *op).collect();
        let left = self.budget.saturating_sub(self.steps);
        let mut meter = Meter::new(left.min(TRIAL_STEPS), self.bytes);
        let decision = decide(&ops, self.initial, &mut meter);
        self.steps += meter.steps;
        matches!(decision, Decision::Violation { .. })
    }

    /// Starts at a certain write as late as possible, each try twice as far back.
    fn begin_late(&mut self) {
        let writes = self.kept.iter().map(|(op, _)| *op);
        let mut writes: Vec<RegisterOp> =
            writes.filter(|op| !op.is_read() && !op.is_info()).collect();
        writes.sort_unstable_by_key(|op| op.inv);
        let mut back = 1;
        while back <= writes.len() {
            let later = from_write(&self.kept, &writes[writes.len() - back]);
            if later.len() < self.kept.len() && self.refuted(&later) {
                self.kept = later;
                return;
            }
            back *= 2;
        }
    }

    /// Leaves out ever smaller runs of ops, each with what may have seen them.
    fn leave_out(&mut self) {
        let mut size = self.kept.len().next_power_of_two() / 2;
        while size > 0 {
            let mut at = 0;
            while at < self.kept.len() && self.steps < self.budget {
                let run: Vec<usize> = (at..self.kept.len().min(at + size)).collect();
                // Finding what may have seen them is work too.
                self.steps += (self.kept.len() * self.kept.len()) as u64;
                let rest = without(&self.kept, &run);
                if rest.len() < self.kept.len() && self.refuted(&rest) {
                    self.kept = rest;
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    fn stands(&mut self) -> bool {
        let ops: Vec<RegisterOp> = self.kept.iter().map(|(op, _)| *op).collect();
        if ops.len() <= ALL_ORDERS {
            return !some_order_explains(&ops, self.initial, 0);
        }
        let mut meter = Meter::new(self.budget.max(TRIAL_STEPS), self.bytes);
        meter.narrow = usize::MAX;
        matches!(
            frontier(&ops, self.initial, &mut meter),
            Decision::Violation { .. }
        )
    }
}

fn from_write(kept: &Kept, write: &RegisterOp) -> Kept {
    let not_before = kept.iter().filter(|(op, _)| op.ret >= write.inv);
    let open = not_before.filter(|(op, _)| !op.is_read() || op.inv > write.ret);
    open.map(|(op, id)| {
        let beside = op.inv <= write.ret;
        let from = if beside { NONE } else { op.from };
        (RegisterOp { from, ..*op }, *id)
    })
    .collect()
}

/// `kept` without `run` and without what may have seen its writes, until nothing more must go.
fn without(kept: &Kept, run: &[usize]) -> Kept {
    let mut leaves = vec![false; kept.len()];
    for &at in run {
        leaves[at] = true;
    }
    let mut settled = false;
    while !settled {
        settled = true;
        for at in 0..kept.len() {
            let gone = kept[at].0;
            if !leaves[at] || gone.is_read() {
                continue;
            }
            for (seer_at, (seer, _)) in kept.iter().enumerate() {
                let may_see = seer.from == gone.to && seer.ret >= gone.inv && !leaves[seer_at];
                if may_see && !hidden(kept, &leaves, &gone, seer) {
                    leaves[seer_at] = true;
                    settled = false;
                }
            }
        }
    }
    let stay = kept.iter().zip(&leaves).filter(|(_, leaves)| !**leaves);
    stay.map(|(kept, _)| *kept).collect()
}

/// Whether a certain write that stays lies between `gone` and `seer`.
fn hidden(kept: &Kept, leaves: &[bool], gone: &RegisterOp, seer: &RegisterOp) -> bool {
    let mut between = kept.iter().zip(leaves);
    between.any(|((op, _), leaves)| {
        let certain = !op.is_read() && op.ret != NEVER;
        certain && !leaves && gone.ret < op.inv && op.ret < seer.inv
    })
}

/// Tries every order.
fn some_order_explains(ops: &[RegisterOp], state: u32, taken: u64) -> bool {
    let open = |at: usize| taken >> at & 1 == 0;
    if (0..ops.len()).all(|at| !open(at) || ops[at].is_info()) {
        return true;
    }
    (0..ops.len()).filter(|&at| open(at)).any(|at| {
        let op = &ops[at];
        let preceded = (0..ops.len()).any(|other| open(other) && ops[other].ret < op.inv);
        let legal = op.is_blind() || op.from == state;
        let next = if op.is_read() { state } else { op.to };
        legal && !preceded && some_order_explains(ops, next, taken | 1 << at)
    })
}
