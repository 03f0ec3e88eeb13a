//! The queue's patterns, and its search where they do not apply.

use plimsoll_checkers::history::OpType;
use plimsoll_checkers::models::Model;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::order::{Oracle, some_order_fits};
use super::{Recorded, agrees, cases, judged};

pub struct Fifo;

impl Oracle for Fifo {
    type State = Vec<Json>;

    fn initial(&self) -> Vec<Json> {
        Vec::new()
    }

    fn apply(&self, state: &Vec<Json>, op: &Recorded) -> Vec<Vec<Json>> {
        let rest = || state[1..].to_vec();
        match (op.f, op.kind) {
            ("enqueue", _) => vec![[state.as_slice(), std::slice::from_ref(&op.asked)].concat()],
            ("dequeue", OpType::Ok) if op.got.is_null() => {
                state.is_empty().then(Vec::new).into_iter().collect()
            }
            ("dequeue", OpType::Ok) => {
                let first = state.first() == Some(&op.got);
                first.then(rest).into_iter().collect()
            }
            _ => (!state.is_empty()).then(rest).into_iter().collect(),
        }
    }
}

/// (begin, length, what, value, how it ended)
type Raw = (u32, u32, u8, i64, u8);

fn recorded(raw: &[Raw], repeats: bool) -> Vec<Recorded> {
    let mut next = 0;
    let ops = raw
        .iter()
        .enumerate()
        .map(|(which, &(begin, length, what, value, end))| {
            let kind = match end {
                0..=6 => OpType::Ok,
                7 | 8 => OpType::Info,
                _ => OpType::Fail,
            };
            let (f, asked, got) = match what {
                0..=3 => {
                    next += 1;
                    let value = json!(if repeats { value % 2 } else { next - 1 });
                    ("enqueue", value.clone(), value)
                }
                4 => ("dequeue", Json::Null, Json::Null),
                _ if kind == OpType::Ok => ("dequeue", Json::Null, json!(value)),
                _ => ("dequeue", Json::Null, Json::Null),
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

fn small() -> impl Strategy<Value = Vec<Raw>> {
    let op = (0..12_u32, 1..8_u32, 0..9_u8, 0..4_i64, 0..10_u8);
    prop::collection::vec(op, 2..7)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_queue_is_accused_exactly_where_no_order_fits(raw in small()) {
        let ops = recorded(&raw, false);
        let verdict = judged(&ops, Model::Queue);
        prop_assert!(agrees(&verdict, some_order_fits(&Fifo, &ops)), "{:?}\n{:?}", verdict, ops);
    }

    #[test]
    fn a_queue_of_values_that_repeat_is_searched(raw in small()) {
        let ops = recorded(&raw, true);
        let verdict = judged(&ops, Model::Queue);
        prop_assert!(agrees(&verdict, some_order_fits(&Fifo, &ops)), "{:?}\n{:?}", verdict, ops);
    }
}
