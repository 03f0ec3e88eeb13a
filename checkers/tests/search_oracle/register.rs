//! Registers with repeated values.

use plimsoll_checkers::search::register::sequential as zones_sequential;
use plimsoll_checkers::search::register::{
    Decision, Meter, NEVER, NONE, RegisterOp, Unique, decide, frontier, order, unique,
};

use crate::oracle::{explains, first_violation, sequential};
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

/// The polynomial algorithm, where it applies, against the search and against its own order.
fn agree(ops: &[RegisterOp], initial: u32) -> Option<bool> {
    let decision = decide(ops, initial, &mut Meter::new(1 << 40, 1 << 40));
    let valid = match unique(ops, initial) {
        Unique::Repeated => return None,
        Unique::Linearizable(order) => {
            let wrong = explains(ops, initial, &order);
            wrong.unwrap_or_else(|wrong| panic!("{wrong}: {order:?} {ops:?}"));
            true
        }
        Unique::Flawed(_) => false,
    };
    assert_eq!(decision == Decision::Linearizable, valid, "{ops:?}");
    Some(valid)
}

#[test]
fn the_polynomial_algorithm_agrees_with_the_search_on_every_small_history() {
    // Values 1 to 4 are written by the ops of that number, so each is written once; the first
    // value is 0.
    let mut counted = [0_u64; 2];
    let largest = if cases(0) >= 1_000_000 { 4 } else { 3 };
    for count in 1..=largest {
        let mut kinds: Vec<Vec<(u32, u32, bool)>> = Vec::new();
        for at in 0..count {
            let to = at + 1;
            let mut of = vec![(NONE, to, false), (NONE, to, true)];
            for from in 0..=count {
                of.push((from, NONE, false));
                of.push((from, to, false));
                of.push((from, to, true));
            }
            kinds.push(of);
        }
        let per = kinds[0].len();
        for layout in layouts(count as usize) {
            for number in 0..per.pow(count) {
                let mut rest = number;
                let mut ops = Vec::with_capacity(4);
                for (of, &(inv, ret)) in kinds.iter().zip(&layout) {
                    let (from, to, info) = of[rest % per];
                    rest /= per;
                    let ret = if info { NEVER } else { ret };
                    ops.push(RegisterOp { inv, ret, from, to });
                }
                if let Some(valid) = agree(&ops, 0) {
                    counted[usize::from(valid)] += 1;
                }
            }
        }
    }
    assert!(counted.iter().all(|count| *count > 1_000), "{counted:?}");
}

/// Each value written once at most, half of the histories in the order of a real register.
fn random_unique(chance: &mut Chance) -> Vec<RegisterOp> {
    let count = 4 + chance.below(8);
    let mut ops: Vec<RegisterOp> = Vec::new();
    let (mut state, mut last) = (0, 0);
    let orderly = chance.below(2) == 0;
    for at in 0..count {
        let seen = if orderly && chance.below(10) > 0 {
            state
        } else {
            chance.below(last + 2)
        };
        let (from, to) = match chance.below(5) {
            0..=2 => (seen, NONE),
            3 => (NONE, last + 1),
            _ => (seen, last + 1),
        };
        if to != NONE {
            last = to;
            state = to;
        }
        let moment = 3 * at + 8;
        let inv = moment - chance.below(8);
        let info = to != NONE && chance.below(4) == 0;
        let ret = if info {
            NEVER
        } else {
            moment + chance.below(8)
        };
        ops.push(RegisterOp { inv, ret, from, to });
    }
    ops
}

#[test]
fn the_polynomial_algorithm_agrees_with_the_search_on_random_histories() {
    let mut chance = Chance(3);
    let mut counted = [0_u64; 2];
    for _ in 0..cases(10_000) {
        let ops = random_unique(&mut chance);
        let valid = agree(&ops, 0).expect("values written once");
        counted[usize::from(valid)] += 1;
    }
    assert!(
        counted
            .iter()
            .all(|count| count * 20 > counted[0] + counted[1]),
        "{counted:?}"
    );
}

#[test]
fn sequential_consistency_of_unique_values_agrees_with_the_oracle() {
    let mut chance = Chance(4);
    let mut counted = [0_u64; 2];
    for _ in 0..cases(5_000) {
        let mut ops = random_unique(&mut chance);
        ops.truncate(8);
        let process: Vec<u64> = ops.iter().map(|_| u64::from(chance.below(3))).collect();
        let found = zones_sequential(&ops, &process, 0).expect("values written once");
        assert_eq!(
            found,
            sequential(&ops, &process, 0, 0),
            "{ops:?} {process:?}"
        );
        counted[usize::from(found)] += 1;
    }
    assert!(
        counted
            .iter()
            .all(|count| count * 20 > counted[0] + counted[1]),
        "{counted:?}"
    );
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

/// Up to sixty ops on two values, most of them in the order of a real register.
fn long(chance: &mut Chance) -> Vec<RegisterOp> {
    let mut ops = Vec::new();
    let mut state = 0;
    let (count, overlap) = (10 + chance.below(50), 1 + chance.below(12));
    for at in 0..count {
        let value = chance.below(3);
        let seen = if chance.below(12) == 0 { value } else { state };
        let (from, to) = match chance.below(3) {
            0 => (seen, NONE),
            1 => (NONE, value),
            _ => (seen, value),
        };
        state = if to == NONE { state } else { to };
        let moment = 10 * at + 100;
        let inv = moment - chance.below(10 * overlap.min(10));
        let info = to != NONE && chance.below(20) == 0;
        let ret = if info {
            NEVER
        } else {
            moment + chance.below(10 * overlap)
        };
        ops.push(RegisterOp { inv, ret, from, to });
    }
    ops
}

#[test]
fn a_narrow_frontier_that_widens_judges_as_the_whole_one_does() {
    let mut chance = Chance(2);
    let cases = cases(1_000);
    let mut valid = 0;
    for _ in 0..cases {
        let ops = long(&mut chance);
        let judge = |narrow: usize| {
            let mut meter = Meter::new(1 << 40, 1 << 40);
            meter.narrow = narrow;
            frontier(&ops, 0, &mut meter)
        };
        let whole = judge(1 << 40);
        for narrow in [1, 2, 5] {
            assert_eq!(judge(narrow), whole, "{narrow} {ops:?}");
        }
        let raced = decide(&ops, 0, &mut Meter::new(1 << 40, 1 << 40));
        assert_eq!(raced, whole, "{ops:?}");
        valid += u64::from(whole == Decision::Linearizable);
    }
    assert!(
        valid * 10 > cases && valid * 10 < 9 * cases,
        "{valid} of {cases}"
    );
}

pub fn random(chance: &mut Chance) -> Vec<RegisterOp> {
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
        let ret = if info {
            NEVER
        } else {
            inv + chance.below(longest)
        };
        ops.push(RegisterOp { inv, ret, from, to });
    }
    ops
}

#[test]
fn random_histories_are_judged_as_the_oracle_does() {
    let mut chance = Chance(1);
    let cases = cases(10_000);
    let mut valid = 0;
    for _ in 0..cases {
        valid += u64::from(compare(&random(&mut chance), 0));
    }
    assert!(
        valid * 10 > cases && valid * 10 < 9 * cases,
        "{valid} of {cases}"
    );
}
