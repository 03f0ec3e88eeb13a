//! What a refuted history gets beside its verdict: the first op that no order lets end, an order of
//! all before it, and few ops that no order explains either.

use super::prefix::prefix;
use super::problem::{NEVER, NONE, RegisterOp};
use super::zones::{Flaw, Unique, unique};
use super::{Decision, Meter, decide, order};
use super::witness;

/// A verdict with its proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// An order explains every op.
    Linearizable,
    /// None does.
    Violation(Explanation),
    /// The budget ran out.
    OutOfBudget,
}

/// Why no order explains a history. Ops are indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The op that ends the shortest prefix without an order.
    pub op: u32,
    /// An order of what had begun before; `None` if it was not found within the budget.
    pub order: Option<Vec<u32>>,
    /// Ops that no order explains, few, and `op` among them wherever it is needed.
    pub witness: Vec<u32>,
    /// Whether the witness stood its second test.
    pub proved: bool,
    /// What the polynomial algorithm found in that prefix, where every value is written once.
    pub flaw: Option<Flaw>,
}

/// Judges `ops` on a register that first holds `initial` within `meter`, and explains a violation
/// within `explaining`.
pub fn judge(
    ops: &[RegisterOp],
    initial: u32,
    meter: &mut Meter,
    explaining: &mut Meter,
) -> Judgement {
    match unique(ops, initial) {
        Unique::Linearizable(_) => Judgement::Linearizable,
        Unique::Flawed(_) => Judgement::Violation(explain_unique(ops, initial)),
        Unique::Repeated => match decide(ops, initial, meter) {
            Decision::Linearizable => Judgement::Linearizable,
            Decision::OutOfBudget => Judgement::OutOfBudget,
            Decision::Violation { op } => {
                Judgement::Violation(explain_repeated(ops, initial, op, explaining))
            }
        },
    }
}

/// Prefixes of a history with an order have one too, so the shortest without is found by halving.
fn explain_unique(ops: &[RegisterOp], initial: u32) -> Explanation {
    let mut ends: Vec<(u32, u32)> = (0..)
        .zip(ops)
        .filter(|(_, op)| op.ret != NEVER)
        .map(|(at, op)| (op.ret, at))
        .collect();
    ends.sort_unstable();
    let flawed = |moment: u32| {
        let (cut, _) = prefix(ops, moment);
        matches!(unique(&cut, initial), Unique::Flawed(_))
    };
    let first = ends.partition_point(|(end, _)| !flawed(*end));
    let (end, op) = ends.get(first).copied().unwrap_or((NEVER - 1, 0));
    let (cut, ids) = prefix(ops, end);
    let (Unique::Flawed(flaw), true) = (unique(&cut, initial), first < ends.len()) else {
        return unproved(op);
    };
    let proved = witness::proves(&cut, initial, &flaw);
    let flaw = flaw.renamed(|at| ids[at as usize]);
    let order = end.checked_sub(1).and_then(|before| {
        let (cut, ids) = prefix(ops, before);
        match unique(&cut, initial) {
            Unique::Linearizable(order) => Some(order),
            _ => None,
        }
        .map(|order| order.into_iter().map(|at| ids[at as usize]).collect())
    });
    Explanation {
        op,
        order: Some(order.unwrap_or_default()),
        witness: witness::of_flaw(ops, &flaw),
        proved,
        flaw: Some(flaw),
    }
}

/// Two algorithms disagree, which is a bug of theirs: nothing is to be accused.
fn unproved(op: u32) -> Explanation {
    Explanation {
        op,
        order: None,
        witness: vec![op],
        proved: false,
        flaw: None,
    }
}

fn explain_repeated(
    ops: &[RegisterOp],
    initial: u32,
    op: u32,
    meter: &mut Meter,
) -> Explanation {
    let end = ops.get(op as usize).map_or(NONE, |op| op.ret);
    let order = end.checked_sub(1).and_then(|before| {
        let (cut, ids) = prefix(ops, before);
        let order = order(&cut, initial, meter)?;
        Some(order.into_iter().map(|at| ids[at as usize]).collect())
    });
    let (witness, proved) = witness::shrink(ops, initial, end, meter);
    Explanation {
        op,
        order,
        witness,
        proved,
        flaw: None,
    }
}
