//! Registers whose values may repeat, with indeterminate ops.
//!
//! [`decide`] races the two walks of this folder; both go over the same configurations, so each is
//! a complete judge of its own.

mod breadth;
mod config;
mod depth;
mod explain;
mod mask;
mod order;
mod prefix;
mod problem;
mod seen;
mod steps;
mod usage;
mod walk;
mod window;
mod witness;
mod zones;

pub(super) use mask::Mask;

pub use explain::{Explanation, Judgement, View, explain_prefixes, judge};
pub use problem::{NEVER, NONE, RegisterOp};
pub use zones::{Flaw, Unique, sequential, unique};

use breadth::Breadth;
use depth::Depth;
use problem::Problem;
use walk::{Progress, Walk};

/// How far a search may go, and how far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    /// Steps left.
    pub steps_left: u64,
    /// Bytes that may be held at one time.
    pub bytes: u64,
    /// Steps taken.
    pub steps: u64,
    /// Configurations that a frontier keeps where nothing has gone wrong, at least 1.
    pub narrow: usize,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// An order explains every op.
    Linearizable,
    /// None does; `op` is the first whose end no order allows.
    Violation {
        /// Index of the op.
        op: u32,
    },
    /// The budget ran out.
    OutOfBudget,
}

impl Meter {
    /// A meter that has run nothing.
    pub fn new(steps: u64, bytes: u64) -> Self {
        Self {
            steps_left: steps,
            bytes,
            steps: 0,
            narrow: NARROW,
        }
    }
}

/// Wide enough that little is searched twice, and narrow enough to be fast.
const NARROW: usize = 16;

/// What one step can add to the memory held, roughly; it keeps a turn from overrunning the cap.
const BYTES_PER_STEP: u64 = 160;

/// Judges `ops` on a register that first holds `initial`.
pub fn decide(ops: &[RegisterOp], initial: u32, meter: &mut Meter) -> Decision {
    let problem = Problem::new(ops, initial);
    match problem.slots {
        0..=64 => race::<1>(&problem, meter),
        65..=128 => race::<2>(&problem, meter),
        129..=256 => race::<4>(&problem, meter),
        257..=1024 => race::<16>(&problem, meter),
        _ => Decision::OutOfBudget,
    }
}

/// As [`decide`], by the frontier's walk alone.
pub fn frontier(ops: &[RegisterOp], initial: u32, meter: &mut Meter) -> Decision {
    let problem = Problem::new(ops, initial);
    match problem.slots {
        0..=64 => alone::<1>(&problem, meter),
        65..=128 => alone::<2>(&problem, meter),
        129..=256 => alone::<4>(&problem, meter),
        257..=1024 => alone::<16>(&problem, meter),
        _ => Decision::OutOfBudget,
    }
}

fn alone<const W: usize>(problem: &Problem<'_>, meter: &mut Meter) -> Decision {
    let mut breadth = Breadth::<W>::new(problem, meter.narrow);
    let progress = breadth.walk(meter.steps_left);
    meter.steps += breadth.steps();
    match progress {
        Progress::Explained => Decision::Linearizable,
        Progress::Refuted(op) => Decision::Violation { op },
        Progress::Stopped => Decision::OutOfBudget,
    }
}

/// The order that explains every op of `ops`, if one is found within the budget.
pub fn order(ops: &[RegisterOp], initial: u32, meter: &mut Meter) -> Option<Vec<u32>> {
    let problem = Problem::new(ops, initial);
    match problem.slots {
        0..=64 => order::find::<1>(&problem, meter),
        65..=128 => order::find::<2>(&problem, meter),
        129..=256 => order::find::<4>(&problem, meter),
        257..=1024 => order::find::<16>(&problem, meter),
        _ => None,
    }
}

/// Both walks in turn, each with twice the steps of its last turn; the frontier's share is greater,
/// since it is never lost in one corner.
fn race<const W: usize>(problem: &Problem<'_>, meter: &mut Meter) -> Decision {
    let mut depth = Depth::<W>::new(problem);
    let mut breadth = Breadth::<W>::new(problem, meter.narrow);
    let mut limit = 4 * problem.events.len() as u64 + 64;
    loop {
        let mut progress = depth.walk(limit.min(meter.steps_left));
        if progress == Progress::Stopped {
            let rest = meter.steps_left.saturating_sub(depth.steps());
            progress = breadth.walk((limit * FRONTIER_SHARE).min(rest));
        }
        let steps = depth.steps() + breadth.steps();
        let decision = match progress {
            Progress::Explained => Some(Decision::Linearizable),
            Progress::Refuted(op) => Some(Decision::Violation { op }),
            Progress::Stopped => {
                let spent = steps >= meter.steps_left;
                let full = depth.bytes() + breadth.bytes() > meter.bytes;
                (spent || full).then_some(Decision::OutOfBudget)
            }
        };
        if let Some(decision) = decision {
            meter.steps += steps;
            meter.steps_left = meter.steps_left.saturating_sub(steps);
            return decision;
        }
        limit = (limit * 2).min(limit + meter.bytes / BYTES_PER_STEP);
    }
}

/// Steps of the frontier's walk for each one of the deepest-first walk.
const FRONTIER_SHARE: u64 = 16;
