//! Trying orders, for queues that the patterns do not cover.
//!
//! Depth first over the ops that may come next, each state of (ops done, queue) visited once
//! (Wing and Gong, with Lowe's memory). Exact; the budget bounds its steps and memory.

use std::collections::BTreeSet;

use super::NEVER;
use super::reading::{Queue, Span};
use crate::models::Budget;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Some order explains everything.
    Fits,
    /// None does; the end of the earliest op up to which none does.
    None { at: u32 },
    /// The budget ran out.
    Spent { steps: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Enqueue(u32),
    Dequeue(u32),
    /// Found nothing.
    Empty,
    /// May have taken what was first, or nothing.
    Open,
}

struct Op {
    span: Span,
    act: Act,
}

pub(super) fn some_order_fits(queue: &Queue, budget: Budget) -> Answer {
    let ops = acts(queue);
    let mut steps = 0;
    match search(&ops, NEVER, budget, &mut steps) {
        Some(true) => Answer::Fits,
        None => Answer::Spent { steps },
        Some(false) => Answer::None {
            at: earliest(&ops, budget),
        },
    }
}

/// The first answer up to which no order fits; each shorter history is judged anew.
fn earliest(ops: &[Op], budget: Budget) -> u32 {
    let mut ends: Vec<u32> = ops
        .iter()
        .map(|op| op.span.1)
        .filter(|&end| end != NEVER)
        .collect();
    ends.sort_unstable();
    let fits = |&end: &u32| {
        let mut steps = 0;
        search(ops, end, budget, &mut steps) != Some(false)
    };
    let first = ends.partition_point(fits);
    ends.get(first).or(ends.last()).copied().unwrap_or(NEVER)
}

fn acts(queue: &Queue) -> Vec<Op> {
    let mut ops = Vec::new();
    for (which, element) in (0_u32..).zip(&queue.elements) {
        let put = element.enqueues.iter();
        ops.extend(put.map(|&span| Op {
            span,
            act: Act::Enqueue(which),
        }));
        let taken = element.dequeues.iter();
        ops.extend(taken.map(|&span| Op {
            span,
            act: Act::Dequeue(which),
        }));
    }
    ops.extend(queue.empties.iter().map(|&span| Op {
        span,
        act: Act::Empty,
    }));
    let open = queue.open_dequeues.iter();
    ops.extend(open.map(|&begin| Op {
        span: (begin, NEVER),
        act: Act::Open,
    }));
    ops.sort_by_key(|op| op.span);
    ops
}

/// Whether some order fits the history up to `until`: ops that end later have no end yet, and those
/// that begin later are not there. `None`: the budget ran out.
fn search(ops: &[Op], until: u32, budget: Budget, steps: &mut u64) -> Option<bool> {
    let ops: Vec<Op> = ops
        .iter()
        .filter(|op| op.span.0 < until)
        .map(|op| cut(op, until))
        .collect();
    let mut seen: BTreeSet<(Vec<u64>, Vec<u32>)> = BTreeSet::new();
    let mut held = 0;
    let mut stack = vec![(vec![0_u64; ops.len().div_ceil(64)], Vec::<u32>::new())];
    while let Some((done, queue)) = stack.pop() {
        *steps += 1;
        held += (done.len() * 8 + queue.len() * 4 + 64) as u64;
        if *steps > budget.steps || held > budget.bytes {
            return None;
        }
        let is_done = |which: usize| done[which / 64] >> (which % 64) & 1 == 1;
        let open = (0..ops.len()).filter(|&which| !is_done(which));
        let first_end = open
            .clone()
            .map(|which| ops[which].span.1)
            .min()
            .unwrap_or(NEVER);
        if first_end == NEVER {
            return Some(true);
        }
        for which in open.take_while(|&which| ops[which].span.0 <= first_end) {
            if let Some(after) = apply(ops[which].act, &queue) {
                let mut done = done.clone();
                done[which / 64] |= 1 << (which % 64);
                if seen.insert((done.clone(), after.clone())) {
                    stack.push((done, after));
                }
            }
        }
    }
    Some(false)
}

/// An op whose answer is not there yet: an enqueue may happen or not, a dequeue may take anything.
fn cut(op: &Op, until: u32) -> Op {
    if op.span.1 <= until {
        return Op {
            span: op.span,
            act: op.act,
        };
    }
    let act = match op.act {
        Act::Enqueue(which) => Act::Enqueue(which),
        _ => Act::Open,
    };
    Op {
        span: (op.span.0, NEVER),
        act,
    }
}

fn apply(act: Act, queue: &[u32]) -> Option<Vec<u32>> {
    match act {
        Act::Enqueue(which) => {
            let mut after = queue.to_vec();
            after.push(which);
            Some(after)
        }
        Act::Dequeue(which) => (queue.first() == Some(&which)).then(|| queue[1..].to_vec()),
        Act::Empty => queue.is_empty().then(Vec::new),
        // Without effect it need not be done at all.
        Act::Open => (!queue.is_empty()).then(|| queue[1..].to_vec()),
    }
}
