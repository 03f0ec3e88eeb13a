//! Registers in which every value is written once: polynomial (Gibbons and Korach, "Testing Shared
//! Memories", for reads and writes; read-modify-writes join their clusters into blocks).
//!
//! The write of a value and the reads of it are a cluster; a read-modify-write puts its cluster
//! right behind the one it read from, so the clusters form blocks with one order inside. A block
//! spans from its first end to its last begin. Two blocks of which each must precede the other
//! refute; otherwise sorting the blocks gives an order. O(n log n).

mod clusters;
mod flaw;
mod sequential;

pub use flaw::Flaw;
pub use sequential::sequential;

use super::problem::RegisterOp;
use clusters::{Block, Clusters};

/// No op.
const NONE: u32 = super::problem::NONE;

/// What the polynomial algorithm says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unique {
    /// An order of all ops that took effect.
    Linearizable(Vec<u32>),
    /// There is none.
    Flawed(Flaw),
    /// A value may have been written twice, or the first value written; ask the search.
    Repeated,
}

/// Judges `ops` on a register that first holds `initial`.
pub fn unique(ops: &[RegisterOp], initial: u32) -> Unique {
    let Some(mut clusters) = Clusters::new(ops, initial) else {
        return Unique::Repeated;
    };
    match clusters.blocks() {
        Err(flaw) => Unique::Flawed(flaw),
        Ok((first, blocks)) => match conflict(first, &blocks) {
            Some(flaw) => Unique::Flawed(flaw),
            None => Unique::Linearizable(clusters.order(blocks)),
        },
    }
}

/// Two blocks that each hold an op which ended before one of the other began.
fn conflict(first: Block, blocks: &[Block]) -> Option<Flaw> {
    let soonest = blocks.iter().min_by_key(|block| block.first_end)?;
    if first.last_begin.1 != NONE && first.last_begin.0 > soonest.first_end.0 {
        return Some(Flaw::InitialReturned {
            read: first.last_begin.1,
            before: soonest.first_end.1,
        });
    }
    let mut sorted: Vec<&Block> = blocks.iter().collect();
    sorted.sort_unstable_by_key(|block| block.first_end);
    // For each prefix by first end: the block that begins last, and the runner-up.
    let mut best: Vec<(usize, usize)> = Vec::with_capacity(sorted.len());
    for at in 0..sorted.len() {
        let begin = |of: usize| sorted[of].last_begin.0;
        let (one, two) = best.last().copied().unwrap_or((at, at));
        best.push(match () {
            () if at == one => (at, at),
            () if begin(at) > begin(one) => (at, one),
            () if one == two || begin(at) > begin(two) => (one, at),
            () => (one, two),
        });
    }
    for (at, block) in sorted.iter().enumerate() {
        let within = sorted.partition_point(|other| other.first_end.0 < block.last_begin.0);
        let Some(&(one, two)) = within.checked_sub(1).and_then(|last| best.get(last)) else {
            continue;
        };
        let rival = if one == at { two } else { one };
        if rival != at && sorted[rival].last_begin.0 > block.first_end.0 {
            let span = |block: &Block| (block.first_end.1, block.last_begin.1);
            return Some(Flaw::Zones {
                one: span(block),
                other: span(sorted[rival]),
            });
        }
    }
    None
}
