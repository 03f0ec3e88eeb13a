//! Just-in-time configurations, event by event.

use std::collections::BTreeSet;

use super::super::register::{Mask, NEVER};
use super::seats::Seats;
use super::states::{REFUSED, States};
use super::{Found, Sequential, Span};

/// A state with the open ops that took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Config<const W: usize> {
    state: u32,
    done: [u64; W],
}

/// All configurations that no other makes superfluous.
pub(super) struct Frontier<'s, const W: usize> {
    seats: &'s Seats,
    spans: &'s [Span],
    next: usize,
    /// Open ops in the order in which they began.
    open: Vec<u32>,
    infos: Mask<W>,
    configs: Vec<Config<W>>,
    queue: Vec<Config<W>>,
    seen: BTreeSet<Config<W>>,
    passed: Vec<Config<W>>,
    inside: bool,
    pub steps: u64,
}

impl<'s, const W: usize> Frontier<'s, W> {
    pub fn new<M: Sequential>(seats: &'s Seats, spans: &'s [Span], states: &States<'_, M>) -> Self {
        let done = [0; W];
        let initial = states.initial.iter();
        Self {
            seats,
            spans,
            next: 0,
            open: Vec::new(),
            infos: Mask::EMPTY,
            configs: initial.map(|&state| Config { state, done }).collect(),
            queue: Vec::new(),
            seen: BTreeSet::new(),
            passed: Vec::new(),
            inside: false,
            steps: 0,
        }
    }

    /// Goes on until `limit` steps in all; `None` if they did not suffice.
    pub fn walk<M: Sequential>(&mut self, states: &mut States<'_, M>, limit: u64) -> Option<Found> {
        while let Some(&(op, ends)) = self.seats.events.get(self.next) {
            if !ends {
                self.open.push(op);
                if self.spans[op as usize].ret == NEVER {
                    self.infos = self.infos.or(Mask::of(self.seats.slot[op as usize]));
                }
                self.next += 1;
                continue;
            }
            if !self.inside {
                self.inside = true;
                self.seen = self.configs.iter().copied().collect();
                self.queue = std::mem::take(&mut self.configs);
            }
            while let Some(config) = self.queue.pop() {
                self.expand(states, config, op);
                if self.steps >= limit {
                    return None;
                }
            }
            self.leave(op);
            if self.configs.is_empty() {
                return Some(Found::Violation { op });
            }
            self.next += 1;
        }
        Some(Found::Linearizable(None))
    }

    fn expand<M: Sequential>(
        &mut self,
        states: &mut States<'_, M>,
        mut config: Config<W>,
        target: u32,
    ) {
        let done = |config: &Config<W>, slot: u32| Mask(config.done).has(slot);
        self.steps += 1;
        // What changes nothing in any state is taken as soon as it is legal.
        for &op in &self.open {
            let slot = self.seats.slot[op as usize];
            if !done(&config, slot)
                && states.model.is_read_only(op as usize)
                && states.step(config.state, op) != REFUSED
            {
                config.done = Mask(config.done).or(Mask::of(slot)).0;
            }
        }
        if done(&config, self.seats.slot[target as usize]) {
            self.passed.push(config);
            return;
        }
        for (at, &op) in self.open.iter().enumerate() {
            let slot = self.seats.slot[op as usize];
            if done(&config, slot) || states.model.is_read_only(op as usize) {
                continue;
            }
            let is_info = self.spans[op as usize].ret == NEVER;
            let earlier = self.open[..at].iter();
            let has_twin = is_info
                && earlier
                    .filter(|&&twin| self.spans[twin as usize].ret == NEVER)
                    .any(|&twin| {
                        let unused = !done(&config, self.seats.slot[twin as usize]);
                        unused && states.model.same(twin as usize, op as usize)
                    });
            if has_twin {
                continue;
            }
            self.steps += 1;
            let state = states.step(config.state, op);
            if state == REFUSED || (is_info && state == config.state) {
                continue;
            }
            let done = Mask(config.done).or(Mask::of(slot)).0;
            let next = Config { state, done };
            if self.seen.insert(next) {
                self.queue.push(next);
            }
        }
    }

    /// The op is over: its slot is free. Fewer indeterminate ops used is better.
    fn leave(&mut self, op: u32) {
        let bit = Mask::of(self.seats.slot[op as usize]);
        self.open.retain(|&other| other != op);
        self.inside = false;
        for config in &mut self.passed {
            config.done = Mask(config.done).without(bit).0;
        }
        let infos = self.infos;
        let key = |config: &Config<W>| {
            let used = Mask(config.done).and(infos);
            let certain = Mask(config.done).without(infos).0;
            (config.state, certain, used.len(), used.0)
        };
        self.passed.sort_unstable_by_key(key);
        self.passed.dedup();
        for config in self.passed.drain(..) {
            let (state, certain, _, used) = key(&config);
            let mut group = self.configs.iter().rev().take_while(|other| {
                let (of_state, of_certain, ..) = key(other);
                (of_state, of_certain) == (state, certain)
            });
            let covered = group.any(|other| {
                let (.., of_used) = key(other);
                Mask(of_used).without(Mask(used)).is_empty()
            });
            if !covered {
                self.configs.push(config);
            }
        }
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> u64 {
        let configs = self.configs.len() + self.queue.len() + self.passed.len();
        ((configs + 2 * self.seen.len()) * size_of::<Config<W>>()) as u64
    }
}
