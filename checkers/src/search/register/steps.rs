//! The single steps of a configuration on the way to letting an op end.
//!
//! Steps are taken only when an op ends that has not taken effect (just in time). Reads are taken
//! as soon as they are legal: they change nothing. A blind write that takes effect makes every other
//! open blind write spare, since each can be put right before it. Among open ops with equal
//! arguments the one that ends first goes first, indeterminate ones last. All of it is compared with
//! an exhaustive oracle in the tests.

use super::config::Config;
use super::mask::Mask;
use super::problem::{Problem, RegisterOp};
use super::usage::Usages;
use super::window::Window;

/// What an op that ends asks of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// Nothing: it took effect.
    Passes,
    /// It is spare: it may end as overwritten, or take effect at last.
    Either,
    /// It must take effect first.
    Waits,
}

/// What a walk needs to take steps.
#[derive(Debug)]
pub(super) struct Stepper<'p, 'o, const W: usize> {
    pub problem: &'p Problem<'o>,
    pub window: Window<W>,
    pub usages: Usages,
    /// Steps taken so far.
    pub steps: u64,
}

impl<'p, 'o, const W: usize> Stepper<'p, 'o, W> {
    pub fn new(problem: &'p Problem<'o>) -> Self {
        Self {
            problem,
            window: Window::new(problem),
            usages: Usages::new(problem.classes.len()),
            steps: 0,
        }
    }

    /// What the end of the op `at` asks of `config`.
    #[inline]
    pub fn at_end(&self, config: &Config<W>, at: usize) -> AtEnd {
        let op = &self.problem.ops[at];
        let slot = self.problem.place[at];
        if config.done.has(slot) || (op.is_read() && op.from == config.state) {
            AtEnd::Passes
        } else if config.spare.has(slot) {
            AtEnd::Either
        } else {
            AtEnd::Waits
        }
    }

    /// Calls `emit` with each configuration one step from `config`, and the op that made it, the
    /// most promising last.
    pub fn each_step(
        &mut self,
        config: &Config<W>,
        target: usize,
        mut emit: impl FnMut(Config<W>, u32),
    ) {
        let goal = self.problem.ops[target];
        let mut from = *config;
        from.done = from.done.or(self.window.reads_of[from.state as usize]);
        // What an idle step left must be needed before the next write: else it is left for later.
        if !config.idle {
            self.info_writes(&from, &goal, &mut emit);
        }
        self.info_rmws(&from, &goal, &mut emit);
        if !config.idle {
            self.writes(&from, target, &mut emit);
        }
        self.rmws(&from, target, &mut emit);
        if goal.is_blind() && !config.idle {
            let next = self.write(&from, goal.to, Mask::of(self.problem.place[target]));
            emit(next, target as u32);
        }
    }

    fn rmws(&mut self, from: &Config<W>, target: usize, emit: &mut impl FnMut(Config<W>, u32)) {
        let open = self.window.rmws_from[from.state as usize].without(from.done);
        let mut rest = open;
        let mut wanted = None;
        while let Some(slot) = rest.pop() {
            let at = self.window.op_in[slot as usize];
            if self.has_sooner(open, at) {
                continue;
            }
            self.steps += 1;
            let mut next = *from;
            next.state = self.problem.ops[at as usize].to;
            let reads = self.window.reads_of[next.state as usize];
            next.done = next.done.or(Mask::of(slot)).or(reads);
            next.idle = false;
            if at as usize == target {
                wanted = Some(next);
            } else {
                emit(next, at);
            }
        }
        if let Some(next) = wanted {
            emit(next, target as u32);
        }
    }

    /// Whether another op of `open` with equal arguments ends before the op `at`.
    fn has_sooner(&self, mut open: Mask<W>, at: u32) -> bool {
        let op = &self.problem.ops[at as usize];
        while let Some(slot) = open.pop() {
            let other_at = self.window.op_in[slot as usize];
            let other = &self.problem.ops[other_at as usize];
            if other.to == op.to && (other.ret, other_at) < (op.ret, at) {
                return true;
            }
        }
        false
    }

    fn writes(&mut self, from: &Config<W>, target: usize, emit: &mut impl FnMut(Config<W>, u32)) {
        let goal = self.problem.ops[target];
        let mut rest = self.window.writes.without(from.done);
        while let Some(slot) = rest.pop() {
            let mut first = self.window.op_in[slot as usize];
            let value = self.problem.ops[first as usize].to;
            let class = self.window.writes_of[value as usize].without(from.done);
            rest = rest.without(class);
            let mut others = class;
            while let Some(slot) = others.pop() {
                let at = self.window.op_in[slot as usize];
                let ends = |at: u32| (self.problem.ops[at as usize].ret, at);
                if ends(at) < ends(first) {
                    first = at;
                }
            }
            let bit = Mask::of(self.problem.place[first as usize]);
            // The op that ends now is taken last, by the caller.
            if first as usize == target {
                continue;
            }
            let next = self.write(from, value, bit);
            if self.leads_on(&next, &goal) {
                emit(next, first);
            }
        }
    }

    /// The register holds `value` by the write in `bit`, or by an indeterminate one if that is
    /// empty; every other open write becomes spare.
    fn write(&mut self, from: &Config<W>, value: u32, bit: Mask<W>) -> Config<W> {
        self.steps += 1;
        let mut next = *from;
        next.state = value;
        next.done = next.done.or(bit);
        next.spare = self.window.writes.without(next.done);
        let reads = self.window.reads_of[value as usize];
        next.idle = reads.without(next.done).is_empty();
        next.done = next.done.or(reads);
        next
    }

    /// A write that nothing needs before the next write can be left for later.
    fn leads_on(&self, next: &Config<W>, goal: &RegisterOp) -> bool {
        let value = next.state as usize;
        !next.idle
            || goal.from == next.state
            || !self.window.rmws_from[value].without(next.done).is_empty()
            || self
                .problem
                .classes_from
                .get(value)
                .is_some_and(|classes| !classes.is_empty())
    }

    fn info_writes(
        &mut self,
        from: &Config<W>,
        goal: &RegisterOp,
        emit: &mut impl FnMut(Config<W>, u32),
    ) {
        let problem = self.problem;
        for &class in &problem.blind_classes {
            let value = problem.classes[class as usize].to;
            let same = self.window.writes_of[value as usize].without(from.done);
            let changes = value != from.state || self.has_unsettled_writes(from);
            if !same.is_empty() || !changes {
                continue;
            }
            let Some(op) = self.unused(from, class) else {
                continue;
            };
            let mut next = self.write(from, value, Mask::EMPTY);
            if self.leads_on(&next, goal) {
                next.used = self.usages.with(from.used, class);
                emit(next, op);
            }
        }
    }

    fn has_unsettled_writes(&self, config: &Config<W>) -> bool {
        let settled = config.done.or(config.spare);
        !self.window.writes.without(settled).is_empty()
    }

    fn info_rmws(
        &mut self,
        from: &Config<W>,
        goal: &RegisterOp,
        emit: &mut impl FnMut(Config<W>, u32),
    ) {
        let problem = self.problem;
        let Some(classes) = problem.classes_from.get(from.state as usize) else {
            return;
        };
        for &class in classes {
            let value = problem.classes[class as usize].to;
            if self.has_open_rmw(from, value) {
                continue;
            }
            let Some(op) = self.unused(from, class) else {
                continue;
            };
            self.steps += 1;
            let mut next = *from;
            next.state = value;
            let reads = self.window.reads_of[value as usize];
            next.idle = reads.without(next.done).is_empty();
            next.done = next.done.or(reads);
            if self.leads_on(&next, goal) {
                next.used = self.usages.with(from.used, class);
                emit(next, op);
            }
        }
    }

    fn has_open_rmw(&self, from: &Config<W>, to: u32) -> bool {
        let mut open = self.window.rmws_from[from.state as usize].without(from.done);
        while let Some(slot) = open.pop() {
            let at = self.window.op_in[slot as usize];
            if self.problem.ops[at as usize].to == to {
                return true;
            }
        }
        false
    }

    /// The next unused op of `class`, if one has begun.
    fn unused(&self, config: &Config<W>, class: u32) -> Option<u32> {
        let used = self.usages.count(config.used, class);
        let begun = self.window.begun[class as usize];
        (used < begun).then(|| self.problem.classes[class as usize].ops[used as usize])
    }
}
