//! One configuration after another, deepest first, with the order that led to it.

use super::config::Config;
use super::problem::{NONE, Problem};
use super::seen::Seen;
use super::steps::{AtEnd, Stepper};
use super::walk::{Progress, Walk};

/// A configuration to go on from.
#[derive(Debug, Clone, Copy)]
struct Branch<const W: usize> {
    event: u32,
    /// Last step of the path to it.
    path: u32,
    config: Config<W>,
}

/// A step of a path.
#[derive(Debug, Clone, Copy)]
struct Step {
    before: u32,
    op: u32,
    /// Event at which it was taken.
    event: u32,
}

/// The deepest-first walk: nearly linear where an order exists.
#[derive(Debug)]
pub(super) struct Depth<'p, 'o, const W: usize> {
    stepper: Stepper<'p, 'o, W>,
    stack: Vec<Branch<W>>,
    steps: Vec<Step>,
    seen: Seen<W>,
    deepest: u32,
    best: u32,
}

impl<'p, 'o, const W: usize> Depth<'p, 'o, W> {
    pub fn new(problem: &'p Problem<'o>) -> Self {
        let first = Branch {
            event: 0,
            path: NONE,
            config: Config::first(problem.initial),
        };
        Self {
            stepper: Stepper::new(problem),
            stack: vec![first],
            steps: Vec::new(),
            seen: Seen::new(),
            deepest: 0,
            best: NONE,
        }
    }

    /// Passes the events that need no step; the op that needs one, if any is left.
    fn advance(&mut self, config: &mut Config<W>) -> Option<usize> {
        let problem = self.stepper.problem;
        while let Some(event) = problem.events.get(self.stepper.window.next) {
            let at = event.op();
            if event.is_return() {
                if self.stepper.at_end(config, at) != AtEnd::Passes {
                    return Some(at);
                }
                self.end(config, at);
            }
            self.stepper.window.forward(problem);
        }
        None
    }

    fn end(&self, config: &mut Config<W>, at: usize) {
        let reads = self.stepper.window.reads_of[config.state as usize];
        config.done = config.done.or(reads);
        config.release(self.stepper.problem.place[at]);
    }

    /// Takes every step from `config`; the first to be followed comes to lie on top.
    fn branch(&mut self, config: &Config<W>, at: usize, path: u32) {
        let event = self.stepper.window.next as u32;
        let (stack, steps) = (&mut self.stack, &mut self.steps);
        self.stepper.each_step(config, at, |next, op| {
            let step = Step {
                before: path,
                op,
                event,
            };
            steps.push(step);
            stack.push(Branch {
                event,
                path: steps.len() as u32 - 1,
                config: next,
            });
        });
        if self.stepper.at_end(config, at) == AtEnd::Either && !config.idle {
            let mut dropped = *config;
            self.end(&mut dropped, at);
            self.stack.push(Branch {
                event: event + 1,
                path,
                config: dropped,
            });
        }
    }

    /// The steps of the path that got furthest: op and event, in order.
    pub fn best_path(&self) -> Vec<(u32, u32)> {
        let mut path = Vec::new();
        let mut at = self.best;
        while at != NONE {
            let step = self.steps[at as usize];
            path.push((step.op, step.event));
            at = step.before;
        }
        path.reverse();
        path
    }
}

impl<const W: usize> Walk for Depth<'_, '_, W> {
    fn walk(&mut self, limit: u64) -> Progress {
        let problem = self.stepper.problem;
        while let Some(branch) = self.stack.pop() {
            self.stepper.window.seek(problem, branch.event as usize);
            let mut config = branch.config;
            let waits = self.advance(&mut config);
            let event = self.stepper.window.next as u32;
            if event > self.deepest || self.best == NONE {
                self.deepest = event;
                self.best = branch.path;
            }
            let Some(at) = waits else {
                self.best = branch.path;
                return Progress::Explained;
            };
            self.stepper.steps += 1;
            if self.seen.insert(event, &config) {
                self.branch(&config, at, branch.path);
            }
            if self.stepper.steps >= limit && !self.stack.is_empty() {
                return Progress::Stopped;
            }
        }
        let stuck = problem.events.get(self.deepest as usize);
        Progress::Refuted(stuck.map_or(NONE, |event| event.op() as u32))
    }

    fn steps(&self) -> u64 {
        self.stepper.steps
    }

    fn bytes(&self) -> u64 {
        (self.stack.capacity() * size_of::<Branch<W>>() + self.steps.capacity() * size_of::<Step>())
            as u64
            + self.seen.bytes()
            + self.stepper.usages.bytes()
    }
}
