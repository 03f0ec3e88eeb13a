//! The counter's bounds: never an accusation where an order fits, and at each moment what they say.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::OpType;
use plimsoll_checkers::models::Model;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::order::{Oracle, some_order_fits};
use super::{Recorded, cases, judged};

struct Sum;

impl Oracle for Sum {
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, state: &i64, op: &Recorded) -> Vec<i64> {
        match op.f {
            "add" => vec![state + op.asked.as_i64().unwrap_or(0)],
            _ if op.kind != OpType::Ok || op.got == *state => vec![*state],
            _ => Vec::new(),
        }
    }
}

/// Whether at some moment of each read its value lay between what was certain and what was possible.
fn within_bounds(ops: &[Recorded]) -> bool {
    let reads = ops
        .iter()
        .filter(|op| op.f == "read" && op.kind == OpType::Ok);
    let adds: Vec<&Recorded> = ops
        .iter()
        .filter(|op| op.f == "add" && op.kind != OpType::Fail)
        .collect();
    let bound = |moment: u32, sign: i64| -> i64 {
        let each = adds.iter().map(|add| {
            let by = add.asked.as_i64().unwrap_or(0);
            let ended = add.kind == OpType::Ok && add.end <= moment;
            let counts = if by.signum() == sign {
                ended
            } else {
                add.begin <= moment
            };
            if counts { by } else { 0 }
        });
        each.sum()
    };
    reads.into_iter().all(|read| {
        let value = read.got.as_i64().unwrap_or(0);
        (read.begin..=read.end)
            .any(|moment| bound(moment, 1) <= value && value <= bound(moment, -1))
    })
}

/// (begin, length, what, number, how it ended)
type Raw = (u32, u32, u8, i64, u8);

fn recorded(raw: &[Raw]) -> Vec<Recorded> {
    let ops = raw
        .iter()
        .enumerate()
        .map(|(which, &(begin, length, what, number, end))| {
            let kind = match end {
                0..=6 => OpType::Ok,
                7 | 8 => OpType::Info,
                _ => OpType::Fail,
            };
            let (f, asked, got) = match what {
                0..=2 => ("add", json!(number), json!(number)),
                _ => ("read", Json::Null, json!(number)),
            };
            let which = which as u32;
            Recorded {
                begin: begin * 16 + which,
                end: (begin + length) * 16 + which,
                f,
                asked,
                kind,
                got,
            }
        });
    ops.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_counter_is_never_accused_where_some_order_fits(
        raw in prop::collection::vec((0..12_u32, 1..8_u32, 0..5_u8, -2..4_i64, 0..10_u8), 2..7)
    ) {
        let ops = recorded(&raw);
        let verdict = judged(&ops, Model::Counter);
        let valid = verdict.valid == Validity::Valid;
        prop_assert_eq!(valid, within_bounds(&ops), "{:?}\n{:?}", verdict, ops);
        prop_assert!(valid || !some_order_fits(&Sum, &ops), "{:?}\n{:?}", verdict, ops);
    }
}
