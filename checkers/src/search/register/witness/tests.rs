//! Each reduction keeps an order where there was one, and a violation's witness is small.

use super::super::{Judgement, Meter, judge};
use super::*;

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(bound)) as u32
    }
}

fn history(chance: &mut Chance, noise: u32) -> Vec<RegisterOp> {
    let mut state = 0;
    let values = 2 + chance.below(3);
    let mut next = |at: u32| {
        let value = chance.below(values);
        let seen = if chance.below(100) < noise {
            value
        } else {
            state
        };
        let (from, to) = match chance.below(3) {
            0 => (seen, NONE),
            1 => (NONE, value),
            _ => (seen, value),
        };
        state = if to == NONE { state } else { to };
        let moment = 4 * at + 20;
        let inv = moment - chance.below(12);
        let info = to != NONE && chance.below(6) == 0;
        let ret = if info {
            NEVER
        } else {
            moment + chance.below(12)
        };
        RegisterOp { inv, ret, from, to }
    };
    (0..9).map(&mut next).collect()
}

fn explained(kept: &Kept) -> bool {
    let ops: Vec<RegisterOp> = kept.iter().map(|(op, _)| *op).collect();
    some_order_explains(&ops, 0, 0)
}

#[test]
fn leaving_ops_out_never_makes_a_history_with_an_order_lose_it() {
    let mut chance = Chance(7);
    let mut shrunk = 0;
    for _ in 0..4_000 {
        let ops = history(&mut chance, 10);
        let kept: Kept = ops.into_iter().zip(0..).collect();
        if !explained(&kept) {
            continue;
        }
        for at in 0..kept.len() {
            let run: Vec<usize> = (at..kept.len().min(at + 1 + chance.below(3) as usize)).collect();
            let rest = without(&kept, &run);
            shrunk += usize::from(rest.len() + run.len() == kept.len());
            assert!(explained(&rest), "{run:?} {kept:?}");
            let write = kept[at].0;
            if !write.is_read() && !write.is_info() {
                assert!(explained(&from_write(&kept, &write)), "{at} {kept:?}");
            }
        }
    }
    assert!(shrunk > 1_000, "{shrunk}");
}

#[test]
fn every_violation_has_a_witness_that_stands_its_second_test() {
    let mut chance = Chance(8);
    let mut sizes = [0; 10];
    for _ in 0..4_000 {
        let ops = history(&mut chance, 25);
        let mut meter = Meter::new(1 << 40, 1 << 40);
        if let Judgement::Violation(found) =
            judge(&ops, 0, &mut meter, &mut Meter::new(1 << 40, 1 << 40))
        {
            assert!(found.proved, "{found:?} {ops:?}");
            assert!(found.order.is_some(), "{found:?}");
            sizes[found.witness.len()] += 1;
        }
    }
    assert!(sizes[1..5].iter().sum::<u32>() > 500, "{sizes:?}");
}
