//! From the steps of a walk to an order of all ops.

use super::depth::Depth;
use super::problem::{NONE, Problem};
use super::walk::{Progress, Walk};
use super::{Meter, RegisterOp};

/// An order in which every op that ended takes effect, found by the deepest-first walk.
pub(super) fn find<const W: usize>(problem: &Problem<'_>, meter: &mut Meter) -> Option<Vec<u32>> {
    let mut depth = Depth::<W>::new(problem);
    let mut limit = 1 << 16;
    loop {
        let progress = depth.walk(limit.min(meter.steps_left));
        let full = depth.bytes() > meter.bytes || limit >= meter.steps_left;
        if progress != Progress::Stopped || full {
            meter.steps += depth.steps();
            meter.steps_left = meter.steps_left.saturating_sub(depth.steps());
            let found = progress == Progress::Explained;
            return found.then(|| complete(problem, &depth.best_path()));
        }
        limit = (limit * 2).min(limit + meter.bytes / super::BYTES_PER_STEP);
    }
}

/// Puts the ops without a step of their own into the order of steps: overwritten writes right
/// before the write that overwrote them, reads where their value was first there.
fn complete(problem: &Problem<'_>, path: &[(u32, u32)]) -> Vec<u32> {
    let mut stepped = vec![false; problem.ops.len()];
    for &(op, _) in path {
        stepped[op as usize] = true;
    }
    let mut filling = Filling {
        problem,
        stepped,
        open: Vec::new(),
        order: Vec::with_capacity(problem.ops.len()),
        state: problem.initial,
    };
    let mut path = path.iter().peekable();
    for (at, event) in problem.events.iter().enumerate() {
        while let Some(&(op, _)) = path.next_if(|(_, event)| *event as usize == at) {
            filling.step(op);
        }
        if event.is_return() {
            filling.take_reads();
        } else if !problem.ops[event.op()].is_info() {
            filling.open.push(event.op() as u32);
        }
    }
    filling.order
}

struct Filling<'p, 'o> {
    problem: &'p Problem<'o>,
    stepped: Vec<bool>,
    /// Ops begun, not in the order yet, without a step.
    open: Vec<u32>,
    order: Vec<u32>,
    state: u32,
}

impl Filling<'_, '_> {
    fn step(&mut self, op: u32) {
        self.take_reads();
        let &RegisterOp { from, to, .. } = &self.problem.ops[op as usize];
        if from == NONE {
            self.take(|op| op.is_blind());
        }
        self.open.retain(|&at| at != op);
        self.order.push(op);
        self.state = to;
        self.take_reads();
    }

    fn take_reads(&mut self) {
        let state = self.state;
        self.take(|op| op.is_read() && op.from == state);
    }

    fn take(&mut self, wanted: impl Fn(&RegisterOp) -> bool) {
        let (problem, stepped, order) = (self.problem, &self.stepped, &mut self.order);
        self.open.retain(|&at| {
            let takes = !stepped[at as usize] && wanted(&problem.ops[at as usize]);
            if takes {
                order.push(at);
            }
            !takes
        });
    }
}
