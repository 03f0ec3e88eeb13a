//! Many configurations at once, event by event.
//!
//! A narrow frontier of the most promising ones goes first. Where it dies, the walk returns to an
//! earlier event with a wider one, and in the end to the start with all of them; only a frontier
//! from which nothing was ever left out refutes a history.

use super::config::Config;
use super::problem::Problem;
use super::seen::Seen;
use super::steps::{AtEnd, Stepper};
use super::walk::{Progress, Walk};

/// How much wider, and how much further back, each time that the frontier dies.
const WIDER: usize = 8;
const FURTHER: usize = 4;

/// Events between two frontiers that are kept for returning to, for each configuration in them.
const STRIDE: usize = 4;

/// A frontier to return to.
#[derive(Debug)]
struct Checkpoint<const W: usize> {
    event: usize,
    frontier: Vec<Config<W>>,
    whole: bool,
}

/// The frontier walk: linear in the events, and at most as wide as the configurations that do not
/// cover each other.
#[derive(Debug)]
pub(super) struct Breadth<'p, 'o, const W: usize> {
    stepper: Stepper<'p, 'o, W>,
    frontier: Vec<Config<W>>,
    /// Where an event's work is interrupted.
    queue: Vec<Config<W>>,
    passed: Vec<Config<W>>,
    seen: Seen<W>,
    inside: bool,
    /// Nothing was left out on the way to this frontier.
    whole: bool,
    /// Configurations that are kept where nothing has gone wrong.
    narrow: usize,
    width: usize,
    retreat: usize,
    /// Event from which the frontier may be narrow again.
    relax_at: usize,
    checkpoints: Vec<Checkpoint<W>>,
}

impl<'p, 'o, const W: usize> Breadth<'p, 'o, W> {
    pub fn new(problem: &'p Problem<'o>, narrow: usize) -> Self {
        Self {
            stepper: Stepper::new(problem),
            frontier: vec![Config::first(problem.initial)],
            queue: Vec::new(),
            passed: Vec::new(),
            seen: Seen::new(),
            inside: false,
            whole: true,
            narrow,
            width: narrow,
            retreat: narrow.saturating_mul(STRIDE),
            relax_at: 0,
            checkpoints: Vec::new(),
        }
    }

    /// Leaves out the least promising configurations beyond the width.
    fn narrow(&mut self) {
        if self.frontier.len() <= self.width {
            return;
        }
        let window = &self.stepper.window;
        self.frontier.sort_by_key(|config| config.debt(window));
        self.frontier.truncate(self.width);
        self.whole = false;
    }

    fn keep_checkpoint(&mut self) {
        let event = self.stepper.window.next;
        let stride = self.narrow.saturating_mul(STRIDE);
        let last = self.checkpoints.last();
        let due = last.is_none_or(|last| event >= last.event.saturating_add(stride));
        if due {
            self.checkpoints.push(Checkpoint {
                event,
                frontier: self.frontier.clone(),
                whole: self.whole,
            });
        }
        if event >= self.relax_at {
            self.width = self.narrow;
            self.retreat = stride;
        }
    }

    /// Returns to an earlier, wider frontier; false if nothing was left out in this one.
    fn retreat(&mut self) -> bool {
        if self.whole {
            return false;
        }
        let event = self.stepper.window.next;
        let to = event.saturating_sub(self.retreat);
        while self.checkpoints.len() > 1
            && self.checkpoints.last().is_some_and(|last| last.event > to)
        {
            self.checkpoints.pop();
        }
        let Some(checkpoint) = self.checkpoints.last() else {
            return false;
        };
        self.frontier.clone_from(&checkpoint.frontier);
        self.whole = checkpoint.whole;
        self.stepper
            .window
            .seek(self.stepper.problem, checkpoint.event);
        self.width = self.width.saturating_mul(WIDER);
        self.retreat = self.retreat.saturating_mul(FURTHER);
        if self.checkpoints.len() == 1 {
            self.width = usize::MAX;
        }
        self.relax_at = self.relax_at.max(event + self.narrow * STRIDE);
        true
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
            self.passed
                .sort_unstable_by_key(|one| (one.group(window), one.used, one.spare.0, one.done.0));
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
            if !self.inside {
                self.keep_checkpoint();
            }
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
            if self.frontier.is_empty() && !self.retreat() {
                return Progress::Refuted(at as u32);
            }
            self.narrow();
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
        let kept = self.checkpoints.iter().map(|kept| kept.frontier.capacity());
        let configs = self.frontier.capacity()
            + self.queue.capacity()
            + self.passed.capacity()
            + kept.sum::<usize>();
        (configs * size_of::<Config<W>>()) as u64 + self.seen.bytes() + self.stepper.usages.bytes()
    }
}
