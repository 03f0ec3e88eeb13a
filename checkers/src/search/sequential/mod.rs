//! Any deterministic object: just-in-time configurations and a deepest-first walk (Wing and Gong,
//! with Lowe's memo), in turn under doubling budgets.

mod frontier;
mod seats;
mod states;
mod wgl;

use super::register::Meter;
use frontier::Frontier;
use seats::Seats;
use states::States;
use wgl::{DeepestFirst, Depth};

/// An object whose ops have one result in each state.
pub trait Sequential {
    /// What the object holds.
    type State: Clone + Ord;

    /// What it first holds; any of these.
    fn initial(&self) -> Vec<Self::State>;
    /// The state after op `op`; `None` if its result is wrong in `state`.
    fn step(&self, state: &Self::State, op: usize) -> Option<Self::State>;
    /// Whether the op changes no state in which it is legal, whatever the state is.
    fn is_read_only(&self, op: usize) -> bool;
    /// Whether two ops do the same in every state.
    fn same(&self, one: usize, other: usize) -> bool;
}

/// When an op began and ended; `ret` is [`super::register::NEVER`] for one that may take effect at
/// any later time, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Begin.
    pub inv: u32,
    /// End.
    pub ret: u32,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This order explains every op, if the deepest-first walk found it.
    Linearizable(Option<Vec<u32>>),
    /// None does; `op` ends the shortest prefix without an order.
    Violation {
        /// Index of the op.
        op: u32,
    },
    /// The budget ran out.
    OutOfBudget,
}

/// Seeds of the fingerprints: a refutation must stand under both.
const SEEDS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];

/// Judges ops with these spans on `model`.
pub fn search<M: Sequential>(model: &M, spans: &[Span], meter: &mut Meter) -> Found {
    let seats = Seats::new(spans);
    match seats.slots {
        0..=64 => race::<M, 1>(model, spans, &seats, meter),
        65..=256 => race::<M, 4>(model, spans, &seats, meter),
        257..=2048 => race::<M, 32>(model, spans, &seats, meter),
        _ => deepest_alone(model, spans, meter),
    }
}

fn race<M: Sequential, const W: usize>(
    model: &M,
    spans: &[Span],
    seats: &Seats,
    meter: &mut Meter,
) -> Found {
    let mut states = States::new(model);
    let mut deep = DeepestFirst::new(spans, SEEDS[0], &states);
    let mut wide = Frontier::<W>::new(seats, spans, &states);
    let mut limit = 16 * spans.len() as u64 + 256;
    loop {
        let allowed = limit.min(meter.steps_left);
        let mut found = None;
        // That none exists is left to the frontier, which also says at which op.
        if let Depth::Order(order) = deep.walk(&mut states, allowed) {
            found = Some(Found::Linearizable(Some(order)));
        }
        if found.is_none() {
            found = wide.walk(&mut states, allowed);
        }
        let steps = deep.steps + wide.steps;
        let full = deep.bytes() + wide.bytes() + states.bytes() > meter.bytes;
        if found.is_none() && (full || steps >= meter.steps_left) {
            found = Some(Found::OutOfBudget);
        }
        if let Some(found) = found {
            meter.steps += steps;
            meter.steps_left = meter.steps_left.saturating_sub(steps);
            return found;
        }
        limit = (limit * 2).min(limit + meter.bytes / 256);
    }
}

/// As [`search`], by the deepest-first walk alone: with very many ops open at once a frontier is out
/// of reach.
pub fn deepest_alone<M: Sequential>(model: &M, spans: &[Span], meter: &mut Meter) -> Found {
    let mut last = 0;
    for seed in SEEDS {
        let mut states = States::new(model);
        let mut deep = DeepestFirst::new(spans, seed, &states);
        let mut limit = 1 << 16;
        loop {
            let depth = deep.walk(&mut states, limit.min(meter.steps_left));
            match depth {
                Depth::Order(order) => {
                    meter.steps += deep.steps;
                    return Found::Linearizable(Some(order));
                }
                Depth::Exhausted { furthest } => {
                    last = furthest;
                    break;
                }
                Depth::Stopped => {}
            }
            if limit >= meter.steps_left || deep.bytes() + states.bytes() > meter.bytes {
                meter.steps += deep.steps;
                meter.steps_left = meter.steps_left.saturating_sub(deep.steps);
                return Found::OutOfBudget;
            }
            limit = (limit * 2).min(limit + meter.bytes / 256);
        }
        meter.steps += deep.steps;
        meter.steps_left = meter.steps_left.saturating_sub(deep.steps);
    }
    Found::Violation { op: last }
}
