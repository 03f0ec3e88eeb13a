//! Keys with strings, judged as users judge them, against every order.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::{History, Op, OpType, Process, Value};
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use serde_json::Value as Json;

use crate::{Chance, cases};

#[derive(Debug, Clone)]
struct KvOp {
    f: &'static str,
    text: String,
    inv: u32,
    /// None where it never ended.
    ret: Option<u32>,
}

/// Whether some order explains the ops that ended by `moment`, with those open then optional.
fn linearizable(ops: &[KvOp], moment: u32, state: &str, taken: u32) -> bool {
    let open = |at: usize| taken >> at & 1 == 0 && ops[at].inv <= moment;
    let ended = |at: usize| ops[at].ret.filter(|ret| *ret <= moment);
    if (0..ops.len()).all(|at| !open(at) || ended(at).is_none()) {
        return true;
    }
    (0..ops.len()).filter(|&at| open(at)).any(|at| {
        let op = &ops[at];
        let mut others = (0..ops.len()).filter(|&other| open(other));
        if others.any(|other| ended(other).is_some_and(|ret| ret < op.inv)) {
            return false;
        }
        let taken = taken | 1 << at;
        match op.f {
            "get" if ended(at).is_none() => false,
            "get" => op.text == state && linearizable(ops, moment, state, taken),
            "put" => linearizable(ops, moment, &op.text, taken),
            _ => linearizable(ops, moment, &format!("{state}{}", op.text), taken),
        }
    })
}

/// Ops around the moments of a real key, some with a wrong answer.
fn random(chance: &mut Chance) -> Vec<KvOp> {
    let count = 3 + chance.below(5);
    let texts = 2 + chance.below(4);
    let (wrong, spread) = (chance.below(3), 1 + chance.below(12));
    let nested = chance.below(4) == 0;
    let mut state = String::new();
    let mut shown = vec![String::new()];
    let mut ops = Vec::new();
    for at in 0..count {
        let mut piece = char::from(b'a' + chance.below(texts) as u8).to_string();
        // One that begins another makes the strings say less.
        if nested && chance.below(4) == 0 {
            piece.push('a');
        }
        let (f, text) = match chance.below(7) {
            0..=2 => {
                let other = &shown[chance.below(shown.len() as u32) as usize];
                let seen = if chance.below(6) < wrong {
                    other.clone()
                } else {
                    state.clone()
                };
                ("get", seen)
            }
            3 => {
                state.clone_from(&piece);
                ("put", piece)
            }
            _ => {
                state.push_str(&piece);
                ("append", piece)
            }
        };
        shown.push(state.clone());
        let moment = 4 * at + 16;
        let ends = f == "get" || chance.below(8) > 0;
        ops.push(KvOp {
            f,
            text,
            inv: moment - chance.below(spread),
            ret: ends.then(|| moment + chance.below(spread)),
        });
    }
    ops
}

/// As a history: ties become begins before ends. Also each op's position when it ended.
fn record(ops: &mut [KvOp]) -> History {
    let mut events: Vec<(u32, bool, usize)> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        events.push((op.inv, false, at));
        events.extend(op.ret.map(|ret| (ret, true, at)));
    }
    events.sort_unstable();
    let mut recorded = Vec::new();
    for (position, &(_, ends, at)) in (0..).zip(&events) {
        let op = &mut ops[at];
        let kind = if ends { OpType::Ok } else { OpType::Invoke };
        let value = match (op.f, ends) {
            ("get", false) => Value::None,
            _ => Value::Other(Json::from(op.text.as_str())),
        };
        let mut line = Op::new(Process::Client(at as u64), kind, op.f, value);
        line.index = u64::from(position);
        recorded.push(line);
        if ends {
            op.ret = Some(position);
        } else {
            op.inv = position;
        }
    }
    History::new(None, recorded).unwrap()
}

#[test]
fn random_histories_of_a_key_are_judged_as_the_oracle_does() {
    let mut chance = Chance(5);
    let mut counted = [0_u64; 2];
    for _ in 0..cases(5_000) {
        let mut ops = random(&mut chance);
        let history = record(&mut ops);
        let verdict = judge_model(&history, Model::Kv, &ModelOptions::default()).unwrap();
        let mut ends: Vec<u32> = ops.iter().filter_map(|op| op.ret).collect();
        ends.sort_unstable();
        let first = ends
            .into_iter()
            .find(|end| !linearizable(&ops, *end, "", 0));
        match first {
            None => assert_eq!(verdict.valid, Validity::Valid, "{ops:?} {verdict:?}"),
            Some(end) => {
                assert_eq!(verdict.valid, Validity::Invalid, "{ops:?} {verdict:?}");
                let anomaly = &verdict.anomalies[0];
                assert_eq!(
                    anomaly.details["op"],
                    Json::from(end),
                    "{ops:?} {anomaly:?}"
                );
            }
        }
        counted[usize::from(first.is_none())] += 1;
    }
    assert!(
        counted
            .iter()
            .all(|count| count * 20 > counted[0] + counted[1]),
        "{counted:?}"
    );
}
