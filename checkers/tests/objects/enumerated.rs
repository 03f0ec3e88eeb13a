//! All histories of up to three ops, of four with `PLIMSOLL_ORACLE_OPS=4`: every interleaving of
//! begins and ends, every kind of op, every value, every outcome.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::OpType;
use plimsoll_checkers::models::Model;
use serde_json::{Value as Json, json};

use super::order::{Oracle, some_order_fits};
use super::queue::Fifo;
use super::versioned_register::{Versioned, is_left_open};
use super::{Recorded, agrees, judged};

/// What an op is, but for its time.
#[derive(Debug, Clone)]
struct Kind {
    f: &'static str,
    asked: Json,
    outcome: OpType,
    got: Json,
}

fn kind(f: &'static str, outcome: OpType, asked: Json, got: Json) -> Kind {
    Kind {
        f,
        asked,
        outcome,
        got,
    }
}

/// The largest number of ops.
fn largest() -> usize {
    let asked = std::env::var("PLIMSOLL_ORACLE_OPS").ok();
    asked.map_or(3, |text| text.parse().unwrap())
}

/// Every way in which `count` intervals can lie, as begins and ends at distinct moments.
fn layouts(count: usize) -> Vec<Vec<(u32, u32)>> {
    const OPEN: u32 = u32::MAX;
    fn place(
        moment: u32,
        spans: &mut Vec<(u32, u32)>,
        count: usize,
        all: &mut Vec<Vec<(u32, u32)>>,
    ) {
        if moment as usize == 2 * count {
            all.push(spans.clone());
            return;
        }
        for which in 0..spans.len() {
            if spans[which].1 == OPEN {
                spans[which].1 = moment;
                place(moment + 1, spans, count, all);
                spans[which].1 = OPEN;
            }
        }
        if spans.len() < count {
            spans.push((moment, OPEN));
            place(moment + 1, spans, count, all);
            spans.pop();
        }
    }
    let mut all = Vec::new();
    place(0, &mut Vec::new(), count, &mut all);
    all
}

/// What was counted.
#[derive(Debug, Default)]
struct Counted {
    valid: u64,
    invalid: u64,
    open: u64,
}

/// Judges all histories of `count` ops, of these kinds for each, and holds them against `oracle`.
fn compare<O: Oracle>(
    model: Model,
    oracle: &O,
    count: usize,
    kinds: impl Fn(usize) -> Vec<Kind>,
    counted: &mut Counted,
) {
    let kinds: Vec<Vec<Kind>> = (0..count).map(kinds).collect();
    let all: usize = kinds.iter().map(Vec::len).product();
    for layout in layouts(count) {
        for number in 0..all {
            let mut rest = number;
            let op = |(of, &(begin, end)): (&Vec<Kind>, &(u32, u32))| {
                let kind = of[rest % of.len()].clone();
                rest /= of.len();
                Recorded {
                    begin,
                    end,
                    f: kind.f,
                    asked: kind.asked,
                    kind: kind.outcome,
                    got: kind.got,
                }
            };
            let ops: Vec<Recorded> = kinds.iter().zip(&layout).map(op).collect();
            let verdict = judged(&ops, model);
            let fits = some_order_fits(oracle, &ops);
            if is_left_open(&verdict) {
                counted.open += 1;
                continue;
            }
            assert!(agrees(&verdict, fits), "{fits} {verdict:?}\n{ops:?}");
            match verdict.valid {
                Validity::Valid => counted.valid += 1,
                _ => counted.invalid += 1,
            }
        }
    }
}

/// Dequeues of these values, of nothing, and without an answer.
fn dequeues(values: &[i64]) -> Vec<Kind> {
    let mut kinds = vec![
        kind("dequeue", OpType::Ok, Json::Null, Json::Null),
        kind("dequeue", OpType::Info, Json::Null, Json::Null),
        kind("dequeue", OpType::Fail, Json::Null, Json::Null),
    ];
    let taken = values.iter();
    kinds.extend(taken.map(|value| kind("dequeue", OpType::Ok, Json::Null, json!(value))));
    kinds
}

#[test]
fn every_small_history_of_a_queue_of_distinct_values_is_judged_as_the_oracle_does() {
    let mut counted = Counted::default();
    for count in 1..=largest() {
        // The op at a place enqueues the value of that place, so that none repeats; any op may
        // dequeue any of them.
        let values: Vec<i64> = (0..count as i64).collect();
        let kinds = |place: usize| {
            let mut kinds = dequeues(&values);
            for outcome in [OpType::Ok, OpType::Info, OpType::Fail] {
                kinds.push(kind("enqueue", outcome, json!(place), json!(place)));
            }
            kinds
        };
        compare(Model::Queue, &Fifo, count, kinds, &mut counted);
    }
    assert_eq!(counted.open, 0, "{counted:?}");
    assert!(
        counted.valid > 1_000 && counted.invalid > 1_000,
        "{counted:?}"
    );
}

#[test]
fn every_small_history_of_a_queue_of_repeated_values_is_judged_as_the_oracle_does() {
    let mut counted = Counted::default();
    for count in 1..=largest() {
        let kinds = |_| {
            let mut kinds = dequeues(&[0, 1]);
            for value in [0, 1] {
                for outcome in [OpType::Ok, OpType::Info] {
                    kinds.push(kind("enqueue", outcome, json!(value), json!(value)));
                }
            }
            kinds
        };
        compare(Model::Queue, &Fifo, count, kinds, &mut counted);
    }
    assert_eq!(counted.open, 0, "{counted:?}");
    assert!(
        counted.valid > 1_000 && counted.invalid > 1_000,
        "{counted:?}"
    );
}

/// Reads, writes and cas over two values and these revisions.
fn versioned(revisions: &[u64], compared: &[Json]) -> Vec<Kind> {
    let mut kinds = vec![kind("read", OpType::Ok, Json::Null, Json::Null)];
    for value in [0, 1] {
        let asked = json!([null, value]);
        kinds.push(kind("write", OpType::Info, asked.clone(), Json::Null));
        for revision in revisions {
            let got = json!([revision, value]);
            kinds.push(kind("read", OpType::Ok, Json::Null, got.clone()));
            kinds.push(kind("write", OpType::Ok, asked.clone(), got));
        }
        for from in compared {
            let asked = json!([null, [from, value]]);
            kinds.push(kind("cas", OpType::Info, asked.clone(), Json::Null));
            for revision in revisions {
                let got = json!([revision, [from, value]]);
                kinds.push(kind("cas", OpType::Ok, asked.clone(), got));
            }
        }
    }
    kinds.push(kind("write", OpType::Fail, json!([null, 0]), Json::Null));
    kinds
}

#[test]
fn every_small_history_of_a_versioned_register_is_judged_as_the_oracle_does() {
    let mut counted = Counted::default();
    // Two revisions that leave no room between them, and two that do.
    for revisions in [[1, 2], [1, 3]] {
        for count in 1..=largest() {
            let compared = match count {
                4.. => vec![json!(0)],
                _ => vec![Json::Null, json!(0), json!(1)],
            };
            let kinds = |_| versioned(&revisions, &compared);
            compare(
                Model::VersionedRegister,
                &Versioned,
                count,
                kinds,
                &mut counted,
            );
        }
    }
    // Unanswered ops abound here, and what a cas may follow is then often left open.
    let all = counted.valid + counted.invalid + counted.open;
    assert!(counted.open * 8 < all, "{counted:?}");
    assert!(
        counted.valid > 1_000 && counted.invalid > 1_000,
        "{counted:?}"
    );
}
