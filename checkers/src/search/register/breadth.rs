//! All configurations at once, event by event.

use super::config::Config;
use super::problem::Problem;
use super::seen::Seen;
use super::steps::{AtEnd, Stepper};
use super::walk::{Progress, Walk};

/// The frontier walk: linear in the events, and as wide as the configurations that do not cover
/// each other.
#[derive(Debug)]
pub(super) struct Breadth<'p, 'o, const W: usize> {
    stepper: Stepper<'p, 'o, W>,
    frontier: Vec<Config<W>>,
    /// Where an event's work is interrupted.
    queue: Vec<Config<W>>,
    passed: Vec<Config<W>>,
    seen: Seen<W>,
    inside: bool,
}

impl<'p, 'o, const W: usize> Breadth<'p, 'o, W> {
    pub fn new(problem: &'p Problem<'o>) -> Self {
        Self {
            stepper: Stepper::new(problem),
            frontier: vec![Config::first(problem.initial)],
            queue: Vec::new(),
            passed: Vec::new(),
            seen: Seen::new(),
            inside: false,
        }
    }

    /// Starts on the return of `at`; true if every configuration has it already.
    fn enter(&mut self, at: usize) -> bool {
        let slot = self.stepper.problem.place[at];
        let stepper = &self.stepper;
        let mut all = self.frontier.iter();
        if all.all(|one| stepper.at_end(one, at) == AtEnd::Passes) {
            for config in &mut self.frontier {
                config.done = config
                    .done
                    .or(self.stepper.window.reads_of[config.state as usize]);
                config.release(slot);
            }
            return true;
        }
        self.seen.clear();
        self.queue.clear();
        self.passed.clear();
        for config in self.frontier.drain(..) {
            let ends = self.stepper.at_end(&config, at);
            if ends != AtEnd::Waits {
                self.passed.push(config);
            }
            if ends != AtEnd::Passes {
                self.queue.push(config);
            }
        }
        self.inside = true;
        false
    }

    fn expand(&mut self, at: usize, limit: u64) -> bool {
        let problem = self.stepper.problem;
        let slot = problem.place[at];
        let is_read = problem.ops[at].is_read();
        let value = problem.ops[at].from;
        while let Some(config) = self.queue.pop() {
            let (queue, passed, seen) = (&mut self.queue, &mut self.passed, &mut self.seen);
            self.stepper.each_step(&config, at, |next, _| {
                let ends = next.done.has(slot) || (is_read && value == next.state);
                if ends {
                    passed.push(next);
                } else if seen.insert(0, &next) {
                    queue.push(next);
                }
            });
            if self.stepper.steps >= limit {
                return self.queue.is_empty();
            }
        }
        true
    }

    fn leave(&mut self, at: usize) {
        let slot = self.stepper.problem.place[at];
        for config in &mut self.passed {
            let reads = self.stepper.window.reads_of[config.state as usize];
            config.done = config.done.or(reads);
            config.release(slot);
        }
        self.stepper.window.forward(self.stepper.problem);
        self.inside = false;
        self.prune();
    }

    /// Keeps the configurations that no other covers.
    fn prune(&mut self) {
        let window = &self.stepper.window;
        self.frontier.clear();
        if self.passed.len() > 8 {
            self.passed.sort_unstable_by_key(|one| {
                (one.group(window), one.used, one.spare.0, one.done.0)
            });
            self.passed.dedup();
        }
        let mut begin = 0;
        let grouped = self.passed.len() > 8;
        let mut group = None;
        for config in self.passed.drain(..) {
            let of = grouped.then(|| config.group(window));
            if of != group {
                group = of;
                begin = self.frontier.len();
            }
            let usages = &self.stepper.usages;
            let mut members = self.frontier[begin..].iter();
            if members.any(|other| other.covers(&config, window, usages)) {
                continue;
            }
            let mut kept = begin;
            for at in begin..self.frontier.len() {
                if !config.covers(&self.frontier[at], window, usages) {
                    self.frontier[kept] = self.frontier[at];
                    kept += 1;
                }
            }
            self.frontier.truncate(kept);
            self.frontier.push(config);
        }
    }
}

impl<const W: usize> Walk for Breadth<'_, '_, W> {
    fn walk(&mut self, limit: u64) -> Progress {
        let problem = self.stepper.problem;
        while let Some(event) = problem.events.get(self.stepper.window.next) {
            if !event.is_return() {
                self.stepper.window.forward(problem);
                continue;
            }
            let at = event.op();
            if !self.inside && self.enter(at) {
                self.stepper.window.forward(problem);
                continue;
            }
            if !self.expand(at, limit) {
                return Progress::Stopped;
            }
            self.leave(at);
            if self.frontier.is_empty() {
                return Progress::Refuted(at as u32);
            }
            self.stepper.steps += 1;
            if self.stepper.steps >= limit {
                return Progress::Stopped;
            }
        }
        Progress::Explained
    }

    fn steps(&self) -> u64 {
        self.stepper.steps
    }

    fn bytes(&self) -> u64 {
        let configs = self.frontier.capacity() + self.queue.capacity() + self.passed.capacity();
        (configs * size_of::<Config<W>>()) as u64
            + self.seen.bytes()
            + self.stepper.usages.bytes()
    }
}
