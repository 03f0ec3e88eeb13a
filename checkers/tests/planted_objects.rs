//! One fault planted in a long correct history of a queue, a counter, a set or a versioned register is
//! found, and the op that it was planted in is among the ops that prove it.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::collections::VecDeque;

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::{History, Op, OpType, Process, Value};
use plimsoll_checkers::models::{Model, ModelOptions, ModelVerdict, judge_model};
use serde_json::{Value as Json, json};

/// How many ops a history has.
const OPS: usize = 900;

/// A linear congruence: the same histories in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What an op did: what was asked, and the answer unless it was lost.
struct Act {
    f: &'static str,
    asked: Json,
    answer: Option<Json>,
}

fn act(f: &'static str, asked: Json, answer: impl Into<Option<Json>>) -> Act {
    let answer = answer.into();
    Act { f, asked, answer }
}

fn line(process: u64, kind: OpType, f: &str, value: Json) -> Op {
    let value = match value {
        Json::Null => Value::None,
        value => Value::Other(value),
    };
    Op::new(Process::Client(process), kind, f, value)
}

/// Four processes, whose ops overlap; each takes effect by `step` at one moment between its begin
/// and its end. A process whose answer was lost goes on under another number.
fn record(mut step: impl FnMut(&mut Chance) -> Act) -> Vec<Op> {
    let mut chance = Chance(11);
    let mut lines: Vec<Op> = Vec::new();
    let mut numbers = [0, 1, 2, 3_u64];
    let mut open: [Option<(usize, Option<Act>)>; 4] = [const { None }; 4];
    let mut begun = 0;
    while begun < OPS || open.iter().any(Option::is_some) {
        let who = chance.below(4) as usize;
        let process = numbers[who];
        open[who] = match open[who].take() {
            None if begun == OPS => None,
            None => {
                begun += 1;
                lines.push(line(process, OpType::Invoke, "", Json::Null));
                Some((lines.len() - 1, None))
            }
            Some((invoke, None)) => {
                let act = step(&mut chance);
                lines[invoke] = line(process, OpType::Invoke, act.f, act.asked.clone());
                Some((invoke, Some(act)))
            }
            Some((_, Some(act))) => {
                let (kind, value) = match act.answer {
                    Some(answer) => (OpType::Ok, answer),
                    None => (OpType::Info, act.asked),
                };
                lines.push(line(process, kind, act.f, value));
                numbers[who] += u64::from(kind == OpType::Info) * 4;
                None
            }
        };
    }
    lines
}

/// Ops one after another, by one process.
fn alone(lines: &mut Vec<Op>, f: &str, asked: Json, answer: Json) {
    lines.push(line(1_000_000, OpType::Invoke, f, asked));
    lines.push(line(1_000_000, OpType::Ok, f, answer));
}

fn judge(mut ops: Vec<Op>, model: Model) -> ModelVerdict {
    for (index, op) in (0..).zip(&mut ops) {
        (op.index, op.time) = (index, index * 1_000_000);
    }
    let history = History::new(None, ops).unwrap();
    judge_model(&history, model, &ModelOptions::default()).unwrap()
}

fn value(op: &Op) -> Json {
    match &op.value {
        Value::Other(value) => value.clone(),
        _ => Json::Null,
    }
}

/// Positions of answers with a value, in the middle third.
fn answers(ops: &[Op], f: &str) -> Vec<usize> {
    let is_one =
        |&at: &usize| ops[at].kind == OpType::Ok && ops[at].f == f && !value(&ops[at]).is_null();
    (ops.len() / 3..2 * ops.len() / 3).filter(is_one).collect()
}

fn begin_of(ops: &[Op], end: usize) -> usize {
    let same = |&at: &usize| ops[at].process == ops[end].process;
    (0..end).rev().find(same).unwrap()
}

/// The end of the op of this f and value.
fn end_of(ops: &[Op], f: &str, wanted: &Json) -> usize {
    let is_it = |op: &Op| op.f == f && op.kind != OpType::Invoke && value(op) == *wanted;
    ops.iter().position(is_it).unwrap()
}

/// Expects an anomaly of this kind that names the op at `at`.
#[track_caller]
fn found(ops: Vec<Op>, model: Model, kind: &str, at: usize) {
    let verdict = judge(ops, model);
    assert_eq!(verdict.valid, Validity::Invalid, "{:?}", verdict.reason);
    let names_it = |ops: &[u64]| ops.contains(&(at as u64)) && ops.len() <= 30;
    let mut anomalies = verdict.anomalies.iter();
    assert!(
        anomalies.any(|one| one.kind == kind && names_it(&one.ops)),
        "no {kind} at {at}: {:?}",
        verdict.anomalies.iter().take(5).collect::<Vec<_>>()
    );
}

/// `ops` with another value at `at`.
fn with(ops: &[Op], at: usize, value: Json) -> Vec<Op> {
    let mut ops = ops.to_vec();
    ops[at].value = Value::Other(value);
    ops
}

#[track_caller]
fn valid(ops: &[Op], model: Model) {
    let verdict = judge(ops.to_vec(), model);
    assert_eq!(
        verdict.valid,
        Validity::Valid,
        "{:?} {:?}",
        verdict.reason,
        verdict.anomalies
    );
}

/// Some answers of enqueues are lost after the effect.
fn queue() -> Vec<Op> {
    let (mut held, mut last) = (VecDeque::new(), 0);
    record(move |chance| match chance.below(20) {
        0..11 => {
            last += 1;
            held.push_back(last);
            let answer = (chance.below(30) > 0).then(|| json!(last));
            act("enqueue", json!(last), answer)
        }
        _ => act(
            "dequeue",
            Json::Null,
            held.pop_front().map_or(Json::Null, Json::from),
        ),
    })
}

#[test]
fn a_queue_that_invents_repeats_or_takes_back_an_element_is_found() {
    let ops = queue();
    valid(&ops, Model::Queue);
    let taken = answers(&ops, "dequeue");
    for &at in taken.iter().step_by(23) {
        found(with(&ops, at, json!(-1)), Model::Queue, "phantom-read", at);
        if at != taken[0] {
            let again = value(&ops[taken[0]]);
            found(with(&ops, at, again), Model::Queue, "duplicate", at);
        }
        let mut failed = ops.clone();
        let put = end_of(&ops, "enqueue", &value(&ops[at]));
        failed[put].kind = OpType::Fail;
        if put < at {
            found(failed, Model::Queue, "G1a", at);
        }
    }
}

#[test]
fn a_queue_that_swaps_or_passes_over_elements_is_found() {
    let ops = queue();
    let taken = answers(&ops, "dequeue");
    let put = |at: usize| end_of(&ops, "enqueue", &value(&ops[at]));
    let acked = |at: usize| ops[put(at)].kind == OpType::Ok;
    let mut tried = 0;
    for &first in taken.iter().step_by(17).filter(|&&at| acked(at)) {
        // In order beyond doubt, at both ends.
        let later = |&&second: &&usize| {
            first < begin_of(&ops, second) && put(first) < begin_of(&ops, put(second))
        };
        let Some(&second) = taken.iter().find(later) else {
            continue;
        };
        let swapped = with(&ops, first, value(&ops[second]));
        let swapped = with(&swapped, second, value(&ops[first]));
        found(swapped, Model::Queue, "realtime-order", first);
        // Never taken: the dequeue fails instead.
        let mut lost = ops.clone();
        lost[first].kind = OpType::Fail;
        found(lost, Model::Queue, "lost-write", put(first));
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn a_queue_that_says_it_is_empty_while_it_is_not_is_found() {
    let ops = queue();
    let mut tried = 0;
    for at in answers(&ops, "enqueue").into_iter().step_by(29) {
        // A dequeue of nothing between the end of an enqueue and the begin of its dequeue.
        let out = ops
            .iter()
            .position(|op| op.f == "dequeue" && value(op) == value(&ops[at]));
        if out.is_none_or(|out| begin_of(&ops, out) <= at) {
            continue;
        }
        let mut empty = Vec::new();
        alone(&mut empty, "dequeue", Json::Null, Json::Null);
        let mut planted = ops.clone();
        planted.splice(at + 1..=at, empty);
        found(planted, Model::Queue, "lost-write", at + 2);
        tried += 1;
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn a_total_queue_that_loses_or_invents_an_element_is_found() {
    let mut ops = queue();
    let model = Model::TotalQueue;
    // Jepsen's total queue has no answer for an empty queue.
    let empty: Vec<usize> = (0..ops.len())
        .filter(|&at| ops[at].f == "dequeue" && ops[at].kind == OpType::Ok)
        .filter(|&at| value(&ops[at]).is_null())
        .collect();
    for at in empty {
        ops[at].kind = OpType::Fail;
    }
    let put: Vec<Json> = ops
        .iter()
        .filter(|op| op.f == "enqueue" && op.kind == OpType::Ok)
        .map(value)
        .collect();
    let taken: Vec<Json> = ops
        .iter()
        .filter(|op| op.f == "dequeue")
        .map(value)
        .collect();
    let left: Vec<Json> = put.into_iter().filter(|one| !taken.contains(one)).collect();
    alone(&mut ops, "drain", Json::Null, Json::from(left.clone()));
    valid(&ops, model);
    let drain = ops.len() - 1;
    for which in (0..left.len()).step_by(left.len().div_ceil(5)) {
        let mut without = left.clone();
        let lost = without.remove(which);
        let put = end_of(&ops, "enqueue", &lost);
        found(
            with(&ops, drain, Json::from(without)),
            model,
            "lost-write",
            put,
        );
        let mut more = left.clone();
        more.insert(which, json!("never put in"));
        found(
            with(&ops, drain, Json::from(more)),
            model,
            "phantom-read",
            drain,
        );
    }
    for at in answers(&ops, "dequeue").into_iter().step_by(37) {
        found(with(&ops, at, json!(-1)), model, "phantom-read", at);
        let put = end_of(&ops, "enqueue", &value(&ops[at]));
        let mut failed = ops.clone();
        failed[at].kind = OpType::Fail;
        if ops[put].kind == OpType::Ok {
            found(failed, model, "lost-write", put);
        }
    }
}

#[test]
fn a_counter_beyond_its_bounds_is_found() {
    let mut sum = 0_i64;
    let ops = record(move |chance| {
        let by = chance.below(9) as i64 - 3;
        match chance.below(2) {
            0 => act("read", Json::Null, json!(sum)),
            _ => {
                sum += by;
                let answer = (chance.below(40) > 0).then(|| json!(by));
                act("add", json!(by), answer)
            }
        }
    });
    valid(&ops, Model::Counter);
    for at in answers(&ops, "read").into_iter().step_by(19) {
        // What was open or unanswered by then may have been added or not.
        let begin = begin_of(&ops, at);
        let unsure = ops[..at]
            .iter()
            .filter(|op| op.kind == OpType::Info)
            .count()
            + at
            - begin
            + 4;
        let beyond = 6 * unsure as i64 + 1;
        for wrong in [-beyond, beyond] {
            let read = value(&ops[at]).as_i64().unwrap();
            let planted = with(&ops, at, json!(read + wrong));
            found(planted, Model::Counter, "counter-out-of-bounds", at);
        }
    }
}

#[test]
fn a_set_that_loses_repeats_or_invents_an_element_is_found() {
    let mut held: Vec<Json> = Vec::new();
    let ops = record(move |chance| match chance.below(4) {
        0 => act("read", Json::Null, Json::from(held.clone())),
        _ => {
            let element = json!(held.len());
            held.push(element.clone());
            let answer = (chance.below(30) > 0).then(|| element.clone());
            act("add", element, answer)
        }
    });
    let model = Model::SetFull;
    let mut all = ops.clone();
    let (from, last) = (ops.len(), ops.len() + 1);
    let elements: Vec<Json> = ops
        .iter()
        .filter(|op| op.f == "add" && op.kind == OpType::Invoke)
        .map(value)
        .collect();
    alone(&mut all, "read", Json::Null, Json::from(elements));
    valid(&all, model);
    for at in answers(&all, "read").into_iter().step_by(13) {
        let mut seen = value(&all[at]).as_array().unwrap().clone();
        let first = seen[seen.len() / 2].clone();
        let mut vanishes = all.clone();
        for later in (at + 1..all.len()).filter(|&end| all[end].kind == OpType::Ok) {
            if all[later].f == "read" && begin_of(&all, later) > at {
                let mut rest = value(&all[later]).as_array().unwrap().clone();
                rest.retain(|element| *element != first);
                vanishes[later].value = Value::Other(Json::from(rest));
            }
        }
        assert!(from > at);
        found(vanishes, model, "lost-write", last);
        seen.push(first);
        found(
            with(&all, at, Json::from(seen.clone())),
            model,
            "duplicate",
            at,
        );
        seen.pop();
        seen.push(json!("never added"));
        found(with(&all, at, Json::from(seen)), model, "phantom-read", at);
    }
}

/// Revisions leave gaps; a cas never follows a write whose answer was lost before a read shows it.
fn versioned() -> Vec<Op> {
    let (mut revision, mut held, mut unseen) = (0_u64, json!("first"), true);
    record(move |chance| {
        let what = chance.below(10);
        if what < 4 && revision > 0 {
            unseen = false;
            return act("read", Json::Null, json!([revision, held]));
        }
        revision += 2;
        let new = json!(format!("v{revision}"));
        if what < 7 && !unseen {
            let both = json!([held, new]);
            held = new;
            return act("cas", json!([null, both]), json!([revision, both]));
        }
        unseen = chance.below(30) == 0;
        held = new.clone();
        let answer = (!unseen).then(|| json!([revision, new]));
        act("write", json!([null, new]), answer)
    })
}

#[test]
fn a_versioned_register_that_reads_wrongly_is_found() {
    let ops = versioned();
    let model = Model::VersionedRegister;
    valid(&ops, model);
    let old = value(&ops[answers(&ops, "write")[0]]);
    for at in answers(&ops, "read").into_iter().skip(40).step_by(19) {
        let revision = value(&ops[at])[0].clone();
        let other = with(&ops, at, json!([revision, "never written"]));
        let judged = judge(other.clone(), model);
        let kind = match judged.anomaly_counts.contains_key("phantom-read") {
            true => "phantom-read",
            false => "inconsistent-revisions",
        };
        found(other, model, kind, at);
        found(
            with(&ops, at, json!([3, "never written"])),
            model,
            "phantom-read",
            at,
        );
        found(with(&ops, at, old.clone()), model, "stale-read", at);
    }
}

#[test]
fn a_versioned_register_that_writes_wrongly_is_found() {
    let ops = versioned();
    let model = Model::VersionedRegister;
    let shown = |pair: &Json| {
        ops.iter()
            .any(|op| op.f == "read" && op.kind == OpType::Ok && value(op) == *pair)
    };
    let writes = answers(&ops, "write");
    let mut tried = [0, 0];
    for &at in writes.iter().skip(10).step_by(3) {
        let pair = value(&ops[at]);
        let taken = value(&ops[writes[0]])[0].clone();
        found(
            with(&ops, at, json!([taken, pair[1]])),
            model,
            "inconsistent-revisions",
            at,
        );
        if shown(&pair) {
            let mut failed = ops.clone();
            failed[at].kind = OpType::Fail;
            found(failed, model, "G1a", at);
            tried[0] += 1;
        } else {
            let compared = |op: &Op| op.f == "cas" && value(op)[1][0] == pair[1];
            if !ops.iter().any(compared) {
                found(
                    with(&ops, at, json!([3, pair[1]])),
                    model,
                    "realtime-order",
                    at,
                );
                tried[1] += 1;
            }
        }
    }
    assert!(tried.iter().all(|count| *count > 1), "{tried:?}");
    for at in answers(&ops, "cas").into_iter().step_by(17) {
        let pair = value(&ops[at]);
        let wrong = json!(["another", pair[1][1]]);
        let planted = with(&ops, begin_of(&ops, at), json!([null, wrong]));
        let planted = with(&planted, at, json!([pair[0], wrong]));
        found(planted, model, "not-linearizable", at);
    }
}
