//! Every order that real time allows, one after another.

use plimsoll_checkers::search::register::{NEVER, NONE, RegisterOp};

/// Whether some order of `ops` explains all that ended.
pub fn linearizable(ops: &[RegisterOp], initial: u32) -> bool {
    extend(ops, initial, 0)
}

fn extend(ops: &[RegisterOp], state: u32, taken: u32) -> bool {
    let open = |at: usize| taken >> at & 1 == 0;
    if (0..ops.len()).all(|at| !open(at) || ops[at].ret == NEVER) {
        return true;
    }
    for (at, op) in ops.iter().enumerate().filter(|(at, _)| open(*at)) {
        let preceded = (0..ops.len()).any(|other| open(other) && ops[other].ret < op.inv);
        if preceded || (op.from != NONE && op.from != state) {
            continue;
        }
        let next = if op.to == NONE { state } else { op.to };
        if extend(ops, next, taken | 1 << at) {
            return true;
        }
    }
    false
}

/// Whether some order of `ops` that keeps each process's own explains all that ended.
pub fn sequential(ops: &[RegisterOp], process: &[u64], state: u32, taken: u32) -> bool {
    let open = |at: usize| taken >> at & 1 == 0;
    if (0..ops.len()).all(|at| !open(at) || ops[at].ret == NEVER) {
        return true;
    }
    (0..ops.len()).filter(|&at| open(at)).any(|at| {
        let op = &ops[at];
        let mut others = (0..ops.len()).filter(|&other| other != at && open(other));
        let preceded = others.any(|other| {
            let earlier = (ops[other].inv, other) < (op.inv, at);
            process[other] == process[at] && earlier && ops[other].ret != NEVER
        });
        let legal = op.from == NONE || op.from == state;
        let next = if op.to == NONE { state } else { op.to };
        legal && !preceded && sequential(ops, process, next, taken | 1 << at)
    })
}

/// What was recorded when `moment` had just passed; ops still open then are indeterminate.
pub fn prefix(ops: &[RegisterOp], moment: u32) -> Vec<RegisterOp> {
    let begun = ops.iter().filter(|op| op.inv <= moment);
    let cut = begun.map(|op| RegisterOp {
        ret: if op.ret <= moment { op.ret } else { NEVER },
        ..*op
    });
    cut.filter(|op| op.ret != NEVER || op.to != NONE).collect()
}

/// The end of the shortest prefix that no order explains.
pub fn first_violation(ops: &[RegisterOp], initial: u32) -> Option<u32> {
    let mut ends: Vec<u32> = ops.iter().map(|op| op.ret).collect();
    ends.retain(|end| *end != NEVER);
    ends.sort_unstable();
    ends.into_iter()
        .find(|end| !linearizable(&prefix(ops, *end), initial))
}

/// Whether `order` explains `ops`.
pub fn explains(ops: &[RegisterOp], initial: u32, order: &[u32]) -> Result<(), String> {
    let mut state = initial;
    let mut taken = vec![false; ops.len()];
    let mut latest_begin = 0;
    for &at in order {
        let op = &ops[at as usize];
        if std::mem::replace(&mut taken[at as usize], true) {
            return Err(format!("{at} twice"));
        }
        if op.ret < latest_begin {
            return Err(format!("{at} too late"));
        }
        latest_begin = latest_begin.max(op.inv);
        if op.from != NONE && op.from != state {
            return Err(format!("{at} illegal"));
        }
        state = if op.to == NONE { state } else { op.to };
    }
    let missing = (0..ops.len()).find(|&at| !taken[at] && ops[at].ret != NEVER);
    missing.map_or(Ok(()), |at| Err(format!("{at} missing")))
}
