//! What a refuted history gets beside its verdict: the first op that no order lets end, an order of
//! all before it, and few ops that no order explains either.

use super::prefix::prefix;
use super::problem::{NEVER, NONE, RegisterOp};
use super::witness;
use super::zones::{Flaw, Unique, unique};
use super::{Decision, Meter, decide, order};

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

fn explain_unique(ops: &[RegisterOp], initial: u32) -> Explanation {
    let mut ends: Vec<u32> = ops.iter().map(|op| op.ret).collect();
    ends.retain(|end| *end != NEVER);
    let found = explain_prefixes(ends, initial, |moment| {
        let (cut, names) = prefix(ops, moment);
        Some((vec![cut], names))
    });
    found.map_or_else(
        || unproved(0),
        |mut found| {
            if let Some(flaw) = &found.flaw {
                found.witness = witness::of_flaw(ops, flaw);
            }
            found
        },
    )
}

/// A history as it stood at one moment: every way to read it as unique values, or only one that
/// has an order, and the names of the ops. `None` if it is not known.
pub type View = Option<(Vec<Vec<RegisterOp>>, Vec<u32>)>;

/// Explains a history of values that are written once each, given its ends in time and what had
/// been recorded at each moment. Prefixes of a history with an order have one too, so the shortest
/// without is found by halving. `None` if every prefix has one, or one is not known.
pub fn explain_prefixes(
    mut ends: Vec<u32>,
    initial: u32,
    view: impl Fn(u32) -> View,
) -> Option<Explanation> {
    ends.sort_unstable();
    let flaw_of = |ops: &Vec<RegisterOp>| match unique(ops, initial) {
        Unique::Flawed(flaw) => Some(flaw),
        _ => None,
    };
    let flawed = |moment: u32| {
        view(moment).is_none_or(|(ways, _)| ways.iter().all(|ops| flaw_of(ops).is_some()))
    };
    let end = *ends.get(ends.partition_point(|end| !flawed(*end)))?;
    let (ways, names) = view(end)?;
    let name = |at: u32| names[at as usize];
    let mut witness = Vec::new();
    let mut proved = true;
    let mut only = None;
    for ops in &ways {
        let flaw = flaw_of(ops)?;
        proved &= witness::proves(ops, initial, &flaw);
        witness.extend(witness::of_flaw(ops, &flaw).into_iter().map(name));
        only = (ways.len() == 1).then_some(flaw.renamed(name));
    }
    witness.sort_unstable();
    witness.dedup();
    let last = ways[0].iter().position(|op| op.ret == end).unwrap_or(0);
    let order = end
        .checked_sub(1)
        .and_then(&view)
        .and_then(|(ways, names)| {
            let Unique::Linearizable(order) = unique(ways.first()?, initial) else {
                return None;
            };
            Some(order.into_iter().map(|at| names[at as usize]).collect())
        });
    Some(Explanation {
        op: name(last as u32),
        order: order.or_else(|| (end == 0).then(Vec::new)),
        witness,
        proved,
        flaw: only,
    })
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

fn explain_repeated(ops: &[RegisterOp], initial: u32, op: u32, meter: &mut Meter) -> Explanation {
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
