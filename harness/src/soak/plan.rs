//! Which run comes when, and with which seed. Pure: the soak's seed and the
//! number of a run give both, so that a soak that goes on later goes on with
//! the same plan.
//!
//! Cells are dealt like cards: each deal holds every cell as often as its
//! weight says, in an order of its own. So weights are met exactly, and a
//! short soak sees every cell.

use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};

/// Streams of random numbers, kept apart.
const STREAM_DEAL: u64 = 0x6465_616c;
const STREAM_RUN: u64 = 0x7275_6e73;
const STREAM_CANARY: u64 = 0x6361_6e61;
/// An odd number with its bits well spread (the golden ratio's).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The plan of one soak.
#[derive(Clone, Debug)]
pub struct Plan {
    seed: u64,
    /// Each cell's index, as often as its weight says.
    deck: Vec<usize>,
}

impl Plan {
    pub fn new(seed: u64, weights: impl Iterator<Item = u32>) -> Plan {
        let deck = weights.enumerate().flat_map(|(cell, weight)| {
            let copies = usize::try_from(weight).unwrap_or(1);
            std::iter::repeat_n(cell, copies)
        });
        Plan {
            seed,
            deck: deck.collect(),
        }
    }

    /// The cell of the run with this number, counted from 0.
    pub fn cell(&self, run: u64) -> usize {
        let length = u64::try_from(self.deck.len()).unwrap_or(u64::MAX).max(1);
        let mut deal = self.deck.clone();
        deal.shuffle(&mut self.rng(STREAM_DEAL, run / length));
        let at = usize::try_from(run % length).unwrap_or(0);
        deal.get(at).copied().unwrap_or(0)
    }

    pub fn run_seed(&self, run: u64) -> u64 {
        short(&mut self.rng(STREAM_RUN, run))
    }

    pub fn canary_seed(&self, round: u64, trial: u64) -> u64 {
        let nth = round.wrapping_mul(1 << 20).wrapping_add(trial);
        short(&mut self.rng(STREAM_CANARY, nth))
    }

    fn rng(&self, stream: u64, nth: u64) -> ChaCha8Rng {
        let mixed = self.seed ^ stream.rotate_left(32) ^ nth.wrapping_add(1).wrapping_mul(SPREAD);
        ChaCha8Rng::seed_from_u64(mixed)
    }
}

/// Short enough to be typed again.
fn short(rng: &mut ChaCha8Rng) -> u64 {
    1 + (rng.next_u64() >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn plan(seed: u64) -> Plan {
        Plan::new(seed, [3, 1, 2].into_iter())
    }

    #[test]
    fn the_same_seed_gives_the_same_runs_from_any_number_on() {
        let all = |plan: Plan| -> Vec<(usize, u64)> {
            (0..60)
                .map(|run| (plan.cell(run), plan.run_seed(run)))
                .collect()
        };
        assert_eq!(all(plan(7)), all(plan(7)));
        assert_ne!(all(plan(7)), all(plan(8)));
    }

    #[test]
    fn weights_are_met_in_each_deal_and_deals_differ_in_order() {
        let plan = plan(7);
        let deal =
            |nth: u64| -> Vec<usize> { (nth * 6..nth * 6 + 6).map(|n| plan.cell(n)).collect() };
        let mut orders = BTreeSet::new();
        for nth in 0..20 {
            let mut sorted = deal(nth);
            orders.insert(sorted.clone());
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 0, 0, 1, 2, 2]);
        }
        assert!(orders.len() > 5);
    }

    #[test]
    fn every_run_and_every_trial_of_a_canary_has_a_seed_of_its_own() {
        let plan = plan(7);
        let mut seeds: BTreeSet<u64> = (0..500).map(|run| plan.run_seed(run)).collect();
        seeds.extend(
            (0..50)
                .flat_map(|r| (0..10).map(move |t| (r, t)))
                .map(|(r, t)| plan.canary_seed(r, t)),
        );
        assert_eq!(seeds.len(), 1000);
    }
}
