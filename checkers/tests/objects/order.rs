//! Every order of ops that real time allows, as a search for one that a model accepts.

use plimsoll_checkers::history::OpType;

use super::Recorded;

/// What a model does with an op: the states it may lead to.
pub trait Oracle {
    type State: Clone;

    fn initial(&self) -> Self::State;

    /// All states after an op in a state; none where it is impossible.
    fn apply(&self, state: &Self::State, op: &Recorded) -> Vec<Self::State>;
}

/// Whether some order explains all ops. Those without an answer may never happen.
pub fn some_order_fits<O: Oracle>(oracle: &O, ops: &[Recorded]) -> bool {
    let ops: Vec<&Recorded> = ops.iter().filter(|op| op.kind != OpType::Fail).collect();
    place(oracle, &ops, 0, &oracle.initial())
}

fn place<O: Oracle>(oracle: &O, ops: &[&Recorded], done: u32, state: &O::State) -> bool {
    let waits = |which: usize| done & (1 << which) == 0 && ops[which].kind == OpType::Ok;
    if !(0..ops.len()).any(waits) {
        return true;
    }
    (0..ops.len()).any(|which| {
        let op = ops[which];
        let free = done & (1 << which) == 0;
        let blocked = (0..ops.len()).any(|other| waits(other) && ops[other].end < op.begin);
        free && !blocked
            && oracle
                .apply(state, op)
                .iter()
                .any(|after| place(oracle, ops, done | 1 << which, after))
    })
}
