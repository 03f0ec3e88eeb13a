//! One fault planted in a long correct history of a register, a lock or keys is found, and the op
//! that it was planted in is among the ops that prove it.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::{History, Op, OpType, Process, Value};
use plimsoll_checkers::models::{Level, Model, ModelOptions, ModelVerdict, judge_model};
use serde_json::{Value as Json, json};

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// A line of a history that a real object of this kind recorded.
fn line(process: u64, kind: OpType, f: &str, value: Json, key: Option<&str>) -> Op {
    let mut op = Op::new(Process::Client(process), kind, f, Value::Other(value));
    if let Some(key) = key {
        op.extra.insert("key".to_owned(), Json::from(key));
    }
    op
}

/// Runs `step` at one moment inside each op; it gives the op's f, argument, answer and key. Some
/// ops are never answered, some answers are lost after the effect.
fn record<S>(
    count: usize,
    seed: u64,
    mut state: S,
    step: impl Fn(&mut S, &mut Chance) -> Act,
) -> Vec<Op> {
    let mut chance = Chance(seed);
    let mut lines: Vec<Op> = Vec::new();
    let mut open: Vec<Option<(usize, Option<Act>)>> = vec![None; 5];
    let mut names: Vec<u64> = (0..5).collect();
    let mut begun = 0;
    while begun < count || open.iter().any(Option::is_some) {
        let at = chance.below(5) as usize;
        match open[at].take() {
            None if begun < count => {
                // What is asked becomes known when it takes effect.
                lines.push(line(names[at], OpType::Invoke, "", Json::Null, None));
                open[at] = Some((lines.len() - 1, None));
                begun += 1;
            }
            None => {}
            Some((invoked, None)) => {
                let act = step(&mut state, &mut chance);
                let key = act.key;
                lines[invoked] = line(names[at], OpType::Invoke, act.f, act.asked.clone(), key);
                open[at] = Some((invoked, Some(act)));
            }
            Some((_, Some(act))) => {
                let lost = act.may_be_lost && chance.below(40) == 0;
                let kind = if lost { OpType::Info } else { OpType::Ok };
                lines.push(line(names[at], kind, act.f, act.answer, act.key));
                if lost {
                    names[at] += 5;
                }
            }
        }
    }
    lines
}

#[derive(Clone)]
struct Act {
    f: &'static str,
    asked: Json,
    answer: Json,
    key: Option<&'static str>,
    may_be_lost: bool,
}

fn act(f: &'static str, asked: Json, answer: Json) -> Act {
    let may_be_lost = f != "read" && f != "get";
    Act {
        f,
        asked,
        answer,
        key: None,
        may_be_lost,
    }
}

/// A register; with few values they repeat, with 0 each is new.
fn register(count: usize, values: u64) -> Vec<Op> {
    record(
        count,
        values + 1,
        (Json::Null, 0_u64),
        |(held, last), chance| {
            *last += 1;
            let new = json!(if values == 0 {
                *last
            } else {
                chance.below(values)
            });
            match chance.below(4) {
                0 | 1 => act("read", Json::Null, held.clone()),
                2 => {
                    held.clone_from(&new);
                    act("write", new.clone(), new)
                }
                _ => {
                    let pair = json!([held, new]);
                    *held = new;
                    act("cas", pair.clone(), pair)
                }
            }
        },
    )
}

fn keys(count: usize) -> Vec<Op> {
    let held = [String::new(), String::new()];
    record(count, 99, (held, 0_u64), |(held, last), chance| {
        *last += 1;
        let at = chance.below(2) as usize;
        let piece = format!("<{last}>");
        let acted = match chance.below(20) {
            0 => {
                held[at].clone_from(&piece);
                act("put", json!(piece), json!(piece))
            }
            1..=9 => {
                held[at].push_str(&piece);
                act("append", json!(piece), json!(piece))
            }
            _ => act("get", Json::Null, json!(held[at])),
        };
        Act {
            key: Some(["a", "b"][at]),
            ..acted
        }
    })
}

fn judge(mut ops: Vec<Op>, model: Model) -> ModelVerdict {
    for (index, op) in (0..).zip(&mut ops) {
        op.index = index;
    }
    let history = History::new(None, ops).unwrap();
    judge_model(&history, model, &ModelOptions::default()).unwrap()
}

fn valid(ops: &[Op], model: Model) {
    let verdict = judge(ops.to_vec(), model);
    assert_eq!(verdict.valid, Validity::Valid, "{:?}", verdict.anomalies);
    assert_eq!(verdict.level, Level::Linearizable);
}

/// The positions of answered ops of this kind, from the middle on.
fn answered(ops: &[Op], f: &str) -> Vec<usize> {
    let from = ops.len() / 2;
    let wanted = |&at: &usize| ops[at].kind == OpType::Ok && ops[at].f == f;
    (from..ops.len()).filter(wanted).collect()
}

fn text(op: &Op) -> &Json {
    match &op.value {
        Value::Other(value) => value,
        _ => &Json::Null,
    }
}

/// Plants `value` as the answer at `at`, and expects it found there.
fn planted(ops: &[Op], at: usize, value: Json, model: Model) {
    let mut ops = ops.to_vec();
    ops[at].value = Value::Other(value);
    let verdict = judge(ops, model);
    assert_eq!(
        verdict.valid,
        Validity::Invalid,
        "{at}: {:?}",
        verdict.reason
    );
    let proof = &verdict.anomalies[0].ops;
    assert!(
        proof.contains(&(at as u64)),
        "{at}: {:?}",
        verdict.anomalies[0]
    );
    assert!(proof.len() <= 30, "{at}: {:?}", verdict.anomalies[0]);
}

#[test]
fn a_correct_register_is_valid_and_a_read_of_nothing_ever_written_is_found() {
    for values in [0, 5] {
        let ops = register(1_500, values);
        valid(&ops, Model::CasRegister);
        for at in answered(&ops, "read").into_iter().step_by(97) {
            planted(&ops, at, json!("phantom"), Model::CasRegister);
        }
    }
}

#[test]
fn a_read_of_a_value_long_overwritten_is_found() {
    let ops = register(1_500, 0);
    let writes = answered(&ops[..ops.len() / 3], "write");
    let old = text(&ops[writes[0]]).clone();
    for at in answered(&ops, "read").into_iter().step_by(97) {
        planted(&ops, at, old.clone(), Model::CasRegister);
    }
}

#[test]
fn a_wrong_read_among_repeated_values_is_found() {
    // With one op at a time any other value is wrong.
    let mut held = Json::Null;
    let mut ops = Vec::new();
    let mut chance = Chance(3);
    for _ in 0..1_500 {
        let new = json!(chance.below(4));
        let (f, value) = match chance.below(2) {
            0 => ("read", held.clone()),
            _ => ("write", new.clone()),
        };
        held = value.clone();
        ops.push(line(1, OpType::Invoke, f, value.clone(), None));
        ops.push(line(1, OpType::Ok, f, value, None));
    }
    valid(&ops, Model::Register);
    for at in answered(&ops, "read").into_iter().step_by(97) {
        let other = text(&ops[at]).as_u64().map_or(3, |value| (value + 1) % 4);
        planted(&ops, at, json!(other), Model::Register);
    }
}

#[test]
fn two_updates_of_one_value_are_found() {
    let ops = register(1_500, 0);
    let updates = answered(&ops, "cas");
    let from = text(&ops[updates[0]])[0].clone();
    let second = updates[40];
    let invoked = (0..second)
        .rev()
        .find(|&at| ops[at].process == ops[second].process);
    let mut ops = ops;
    let mut pair = text(&ops[second]).clone();
    pair[0] = from;
    let asked = invoked.unwrap();
    ops[asked].value = Value::Other(pair.clone());
    planted(&ops, second, pair, Model::CasRegister);
}

#[test]
fn a_get_that_lacks_reorders_or_invents_an_append_is_found() {
    let ops = keys(1_500);
    valid(&ops, Model::Kv);
    let mut tried = 0;
    for at in answered(&ops, "get").into_iter().step_by(41) {
        let seen = text(&ops[at]).as_str().unwrap().to_owned();
        let pieces: Vec<&str> = seen.split_inclusive('>').collect();
        if pieces.len() < 8 {
            continue;
        }
        let lacking = [&pieces[..2], &pieces[3..]].concat().concat();
        let swapped = [&pieces[..2], &[pieces[3], pieces[2]], &pieces[4..]]
            .concat()
            .concat();
        for wrong in [lacking, swapped, format!("{seen}<0>"), pieces[..3].concat()] {
            planted(&ops, at, json!(wrong), Model::Kv);
        }
        tried += 1;
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn a_lock_taken_twice_is_found() {
    let mut ops = Vec::new();
    for round in 0..800_u64 {
        let process = round % 3;
        for f in ["acquire", "release"] {
            ops.push(line(process, OpType::Invoke, f, Json::Null, None));
            ops.push(line(process, OpType::Ok, f, Json::Null, None));
        }
    }
    valid(&ops, Model::Mutex);
    // Process 7 takes it while it is held, between an acquire and its release.
    let within = 2_002;
    for (at, kind) in [(within, OpType::Invoke), (within + 1, OpType::Ok)] {
        ops.insert(at, line(7, kind, "acquire", Json::Null, None));
    }
    let verdict = judge(ops.clone(), Model::Mutex);
    assert_eq!(verdict.valid, Validity::Invalid);
    assert!(
        verdict.anomalies[0].ops.contains(&(within as u64 + 1)),
        "{:?}",
        verdict.anomalies
    );
    // Unanswered, it may not have happened.
    ops.remove(within + 1);
    assert_eq!(judge(ops, Model::Mutex).valid, Validity::Valid);
}

#[test]
fn what_is_not_the_models_is_refused_with_its_line() {
    let ops = vec![line(1, OpType::Invoke, "enqueue", json!(1), None)];
    for model in [Model::Register, Model::CasRegister, Model::Kv, Model::Mutex] {
        let history = History::new(None, ops.clone()).unwrap();
        let error = judge_model(&history, model, &ModelOptions::default()).unwrap_err();
        assert_eq!(error.line, 1);
        assert!(error.reason.contains("enqueue"), "{error}");
    }
}

#[test]
fn a_budget_that_runs_out_is_unknown_and_says_what_was_explored() {
    let ops = register(1_500, 5);
    let history = History::new(
        None,
        (0..)
            .zip(ops)
            .map(|(index, op)| Op { index, ..op })
            .collect(),
    );
    let mut options = ModelOptions::default();
    options.budget.steps = 10;
    let verdict = judge_model(&history.unwrap(), Model::CasRegister, &options).unwrap();
    assert_eq!(verdict.valid, Validity::Unknown);
    assert!(verdict.reason.unwrap().contains("steps"));
    assert!(verdict.counts["steps_count"] > 0);
}
