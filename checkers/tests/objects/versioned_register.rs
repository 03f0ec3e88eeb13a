//! The versioned register's keys against every order.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::OpType;
use plimsoll_checkers::models::{Model, ModelVerdict};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::order::{Oracle, some_order_fits};
use super::{Recorded, agrees, cases, judged};

/// Revisions that an unanswered write may take.
const REVISIONS: u64 = 6;

pub struct Versioned;

impl Oracle for Versioned {
    type State = (u64, Json);

    fn initial(&self) -> (u64, Json) {
        (0, Json::Null)
    }

    fn apply(&self, state: &(u64, Json), op: &Recorded) -> Vec<(u64, Json)> {
        let (from, to) = match op.f {
            "cas" => (Some(&op.asked[1][0]), op.asked[1][1].clone()),
            _ => (None, op.asked[1].clone()),
        };
        let named = op.got[0].as_u64().filter(|_| op.kind == OpType::Ok);
        if op.f == "read" {
            let same = named.unwrap_or(0) == state.0 && (state.0 == 0 || op.got[1] == state.1);
            return same.then(|| state.clone()).into_iter().collect();
        }
        if from.is_some_and(|from| *from != state.1) {
            return Vec::new();
        }
        let fits =
            |revision: &u64| *revision > state.0 && named.is_none_or(|named| named == *revision);
        (1..=REVISIONS)
            .filter(fits)
            .map(|revision| (revision, to.clone()))
            .collect()
    }
}

/// (begin, length, what, revision, value, other value, how it ended)
type Raw = (u32, u32, u8, u64, i64, i64, u8);

fn recorded(raw: &[Raw]) -> Vec<Recorded> {
    let ops = raw.iter().enumerate().map(
        |(which, &(begin, length, what, revision, value, other, end))| {
            let kind = match end {
                0..=6 => OpType::Ok,
                7 | 8 => OpType::Info,
                _ => OpType::Fail,
            };
            let ok = kind == OpType::Ok;
            let named = if ok { json!(revision) } else { Json::Null };
            let (f, asked, got) = match what {
                0..=2 if ok && revision == 0 => ("read", Json::Null, Json::Null),
                0..=2 => (
                    "read",
                    Json::Null,
                    if ok {
                        json!([revision, value])
                    } else {
                        Json::Null
                    },
                ),
                3..=5 => ("write", json!([null, value]), json!([named, value])),
                _ => (
                    "cas",
                    json!([null, [other, value]]),
                    json!([named, [other, value]]),
                ),
            };
            // Only reads show revision zero.
            let (kind, got) = match ok && f != "read" && revision == 0 {
                true => (OpType::Info, asked.clone()),
                false => (kind, got),
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
        },
    );
    ops.collect()
}

/// What may follow an unseen write is left open, and said to be.
pub fn is_left_open(verdict: &ModelVerdict) -> bool {
    let reason = verdict.reason.as_deref().unwrap_or_default();
    let said = reason.contains("cas may follow") || reason.contains("unanswered ops");
    verdict.valid == Validity::Unknown && said
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_versioned_register_is_accused_exactly_where_no_order_fits(
        raw in prop::collection::vec((0..12_u32, 1..8_u32, 0..8_u8, 0..4_u64, 0..3_i64, 0..3_i64, 0..10_u8), 2..6)
    ) {
        let ops = recorded(&raw);
        let verdict = judged(&ops, Model::VersionedRegister);
        let fits = some_order_fits(&Versioned, &ops);
        let open = is_left_open(&verdict);
        prop_assert!(open || agrees(&verdict, fits), "{} {:?}\n{:?}", fits, verdict, ops);
    }
}
