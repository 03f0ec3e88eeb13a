//! The deepest-first walk over a list of ops linked by index.

use std::collections::BTreeSet;

use super::super::register::NEVER;
use super::seats::Seats;
use super::states::{REFUSED, States};
use super::{Sequential, Span};

const NIL: u32 = u32::MAX;

/// Where the walk stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Depth {
    /// An order of all ops that ended.
    Order(Vec<u32>),
    /// None exists, unless two fingerprints were equal by chance.
    Exhausted {
        /// The op that ends last of those at whose end a path was stuck: all that ended before it
        /// had an order, and no path got past it.
        furthest: u32,
    },
    /// The budget ran out.
    Stopped,
}

/// Wing and Gong's search with a memo of fingerprints of 128 bits.
#[derive(Debug)]
pub(super) struct DeepestFirst {
    /// Entries: begin of op `i` at `2 i`, its end at `2 i + 1`; the head is last.
    next: Vec<u32>,
    before: Vec<u32>,
    spans: Vec<Span>,
    seed: u64,
    memo: BTreeSet<u128>,
    path: Vec<(u32, u32)>,
    taken: u128,
    state: u32,
    untried: Vec<u32>,
    at: u32,
    /// Ops that must still take effect.
    certain: usize,
    furthest: u32,
    pub steps: u64,
}

impl DeepestFirst {
    pub fn new<M: Sequential>(spans: &[Span], seed: u64, states: &States<'_, M>) -> Self {
        let seats = Seats::new(spans);
        let head = spans.len() as u32 * 2;
        let mut walk = Self {
            next: vec![NIL; spans.len() * 2 + 1],
            before: vec![NIL; spans.len() * 2 + 1],
            spans: spans.to_vec(),
            seed,
            memo: BTreeSet::new(),
            path: Vec::new(),
            taken: 0,
            state: states.initial.first().copied().unwrap_or(REFUSED),
            untried: states.initial.iter().skip(1).copied().collect(),
            at: head,
            certain: spans.iter().filter(|span| span.ret != NEVER).count(),
            furthest: NIL,
            steps: 0,
        };
        let mut last = head;
        for &(op, ends) in &seats.events {
            let entry = op * 2 + u32::from(ends);
            walk.next[last as usize] = entry;
            walk.before[entry as usize] = last;
            last = entry;
        }
        walk.at = walk.next[head as usize];
        walk
    }

    fn head(&self) -> usize {
        self.next.len() - 1
    }

    /// Goes on until `limit` steps in all.
    pub fn walk<M: Sequential>(&mut self, states: &mut States<'_, M>, limit: u64) -> Depth {
        loop {
            if self.certain == 0 {
                return Depth::Order(self.path.iter().map(|(op, _)| *op).collect());
            }
            if self.steps >= limit {
                return Depth::Stopped;
            }
            self.steps += 1;
            let stuck = self.at == NIL || self.at & 1 == 1;
            if !stuck {
                let op = self.at / 2;
                let state = states.step(self.state, op);
                if state != REFUSED && self.memo.insert(self.fingerprint(op, state)) {
                    self.take(op, state);
                } else {
                    self.at = self.next[self.at as usize];
                }
                continue;
            }
            self.note_furthest();
            if let Some((op, state)) = self.path.pop() {
                self.put_back(op, state);
            } else if let Some(state) = self.untried.pop() {
                self.state = state;
                self.at = self.next[self.head()];
            } else {
                let furthest = self.furthest;
                return Depth::Exhausted { furthest };
            }
        }
    }

    fn note_furthest(&mut self) {
        if self.at != NIL {
            let ret = |op: u32| self.spans[op as usize].ret;
            let op = self.at / 2;
            if self.furthest == NIL || ret(op) > ret(self.furthest) {
                self.furthest = op;
            }
        }
    }

    fn take(&mut self, op: u32, state: u32) {
        self.path.push((op, self.state));
        self.taken ^= zobrist(self.seed, op);
        self.state = state;
        self.unlink(op * 2);
        if self.spans[op as usize].ret != NEVER {
            self.unlink(op * 2 + 1);
            self.certain -= 1;
        }
        self.at = self.next[self.head()];
    }

    fn put_back(&mut self, op: u32, state: u32) {
        self.taken ^= zobrist(self.seed, op);
        self.state = state;
        if self.spans[op as usize].ret != NEVER {
            self.relink(op * 2 + 1);
            self.certain += 1;
        }
        self.relink(op * 2);
        self.at = self.next[op as usize * 2];
    }

    fn unlink(&mut self, entry: u32) {
        let (before, next) = (self.before[entry as usize], self.next[entry as usize]);
        self.next[before as usize] = next;
        if next != NIL {
            self.before[next as usize] = before;
        }
    }

    fn relink(&mut self, entry: u32) {
        let (before, next) = (self.before[entry as usize], self.next[entry as usize]);
        self.next[before as usize] = entry;
        if next != NIL {
            self.before[next as usize] = entry;
        }
    }

    fn fingerprint(&self, op: u32, state: u32) -> u128 {
        let held = zobrist(!self.seed, state);
        self.taken ^ zobrist(self.seed, op) ^ held
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> u64 {
        (self.memo.len() * 24 + self.next.len() * 16) as u64
    }
}

/// A random-looking word of 128 bits for each number.
fn zobrist(seed: u64, number: u32) -> u128 {
    let half = |salt: u64| {
        let mut z = seed ^ salt ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    u128::from(half(0x5851_f42d_4c95_7f2d)) << 64 | u128::from(half(0x1405_7b7e_f767_814f))
}
