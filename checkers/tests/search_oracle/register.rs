//! Registers with repeated values.

use plimsoll_checkers::search::register::{
    Decision, Meter, NEVER, NONE, RegisterOp, decide, order,
};

use crate::oracle::{explains, first_violation};
use crate::{Chance, cases};

fn compare(ops: &[RegisterOp], initial: u32) -> bool {
    let mut meter = Meter::new(1 << 40, 1 << 40);
    let decision = decide(ops, initial, &mut meter);
    let expected = first_violation(ops, initial);
    let got = match decision {
        Decision::Linearizable => None,
        Decision::Violation { op } => Some(ops[op as usize].ret),
        Decision::OutOfBudget => panic!("out of budget"),
    };
    assert_eq!(got, expected, "{ops:?} from {initial}");
    let found = order(ops, initial, &mut meter);
    assert_eq!(found.is_some(), expected.is_none(), "{ops:?}");
    if let Some(found) = found {
        explains(ops, initial, &found).unwrap_or_else(|wrong| panic!("{wrong}: {found:?} {ops:?}"));
    }
    expected.is_none()
}

/// Every kind of op over `values` values: what it needs, what it leaves, whether it may be open.
fn kinds(values: u32) -> Vec<(u32, u32, bool)> {
    let mut kinds = Vec::new();
    for a in 0..values {
        kinds.push((a, NONE, false));
        kinds.push((NONE, a, false));
        kinds.push((NONE, a, true));
        for b in 0..values {
            kinds.push((a, b, false));
            kinds.push((a, b, true));
        }
    }
    kinds
}

/// Every way in which `count` intervals can lie, by their begins and ends.
fn layouts(count: usize) -> Vec<Vec<(u32, u32)>> {
    fn place(at: u32, partial: &mut Vec<(u32, u32)>, count: usize, all: &mut Vec<Vec<(u32, u32)>>) {
        if at as usize == 2 * count {
            all.push(partial.clone());
            return;
        }
        for open in 0..partial.len() {
            if partial[open].1 == NEVER {
                partial[open].1 = at;
                place(at + 1, partial, count, all);
                partial[open].1 = NEVER;
            }
        }
        if partial.len() < count {
            partial.push((at, NEVER));
            place(at + 1, partial, count, all);
            partial.pop();
        }
    }
    let mut all = Vec::new();
    place(0, &mut Vec::new(), count, &mut all);
    all
}

#[test]
fn every_history_of_up_to_three_ops_over_two_values_is_judged_as_the_oracle_does() {
    let kinds = kinds(2);
    let mut valid = 0_u64;
    let mut all = 0_u64;
    for count in 1..=3 {
        for layout in layouts(count) {
            for number in 0..kinds.len().pow(count as u32) {
                let mut rest = number;
                let mut op = |&(inv, ret): &(u32, u32)| {
                    let (from, to, info) = kinds[rest % kinds.len()];
                    rest /= kinds.len();
                    let ret = if info { NEVER } else { ret };
                    RegisterOp { inv, ret, from, to }
                };
                let ops: Vec<RegisterOp> = layout.iter().map(&mut op).collect();
                all += 1;
                valid += u64::from(compare(&ops, 0));
            }
        }
    }
    assert!(valid > 1000 && all - valid > 1000, "{valid} of {all}");
}

fn random(chance: &mut Chance) -> Vec<RegisterOp> {
    let count = 3 + chance.below(6);
    let values = 2 + chance.below(3);
    let span = 4 + chance.below(3 * count);
    let longest = 1 + chance.below(8);
    let infos = chance.below(4);
    let mut ops = Vec::new();
    for _ in 0..count {
        let inv = chance.below(span);
        let (a, b) = (chance.below(values), chance.below(values));
        let (from, to) = match chance.below(10) {
            0..=3 => (a, NONE),
            4..=6 => (NONE, a),
            _ => (a, b),
        };
        let info = to != NONE && chance.below(10) < 2 * infos;
        let ret = if info { NEVER } else { inv + chance.below(longest) };
        ops.push(RegisterOp { inv, ret, from, to });
    }
    ops
}

#[test]
fn random_histories_are_judged_as_the_oracle_does() {
    let mut chance = Chance(1);
    let cases = cases(40_000);
    let mut valid = 0;
    for _ in 0..cases {
        valid += u64::from(compare(&random(&mut chance), 0));
    }
    assert!(valid * 10 > cases && valid * 10 < 9 * cases, "{valid} of {cases}");
}
