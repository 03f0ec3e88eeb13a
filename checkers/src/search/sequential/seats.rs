//! Events in order and a slot for each op while it is open; indeterminate ops keep theirs.

use super::super::register::NEVER;
use super::Span;

/// The begins and ends of a history.
#[derive(Debug)]
pub(super) struct Seats {
    /// Op, and whether it ends.
    pub events: Vec<(u32, bool)>,
    pub slot: Vec<u32>,
    pub slots: u32,
}

impl Seats {
    pub fn new(spans: &[Span]) -> Self {
        let mut keyed: Vec<(u32, bool, u32)> = Vec::with_capacity(spans.len() * 2);
        for (at, span) in (0..).zip(spans) {
            keyed.push((span.inv, false, at));
            if span.ret != NEVER {
                keyed.push((span.ret, true, at));
            }
        }
        keyed.sort_unstable();
        let events: Vec<(u32, bool)> = keyed.iter().map(|&(_, ends, op)| (op, ends)).collect();
        let mut seats = Self {
            events,
            slot: vec![0; spans.len()],
            slots: 0,
        };
        let mut free = Vec::new();
        for &(op, ends) in &seats.events {
            if ends {
                free.push(seats.slot[op as usize]);
                continue;
            }
            seats.slot[op as usize] = free.pop().unwrap_or_else(|| {
                seats.slots += 1;
                seats.slots - 1
            });
        }
        seats
    }
}
