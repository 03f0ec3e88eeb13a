//! The cases of Jepsen's own tests for the log. They are read in place and
//! skipped, with a notice, where they are not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::path::PathBuf;

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use plimsoll_checkers::{check, realtime_lag, unseen_series};
use serde_json::Value as Json;

fn cases() -> Option<PathBuf> {
    let folder = std::env::var_os("PLIMSOLL_CASES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
        PathBuf::from,
    );
    let file = folder.join("jepsen-verdicts.jsonl");
    file.exists().then_some(file)
}

fn read(case: &Json) -> History {
    let mut reader = HistoryReader::new();
    for op in case["history"].as_array().expect("a list of ops") {
        let line = op.to_string();
        reader
            .push_line(line.as_bytes())
            .expect("a line we can read");
    }
    reader.finish().expect("a history we can read")
}

/// All cases of one checker, parsed.
fn cases_of(keep: impl Fn(&Json) -> bool) -> Option<Vec<Json>> {
    let Some(file) = cases() else {
        println!("skipped: no cases; set PLIMSOLL_CASES to their folder");
        return None;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let all = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    Some(all.filter(|case| keep(&case["expected"])).collect())
}

#[test]
fn jepsens_own_cases_get_jepsens_verdicts() {
    let Some(cases) = cases_of(|expected| expected["checker"] == "kafka") else {
        return;
    };
    assert!(cases.len() >= 20, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let anomaly = case["expected"]["anomaly"].as_str().unwrap();
        let found = check(&read(&case));
        let of_kind = found.findings.iter().filter(|one| one.anomaly == anomaly);
        let sentences: Vec<_> = of_kind.map(|one| one.sentence.clone()).collect();
        if sentences.len() as u64 != case["expected"]["count"].as_u64().unwrap() {
            wrong.push(format!("{}: {sentences:?}", case["id"]));
        }
        if found.doubts.iter().any(|doubt| doubt.contains("bug")) {
            wrong.push(format!("{}: {:?}", case["id"], found.doubts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_lag_of_each_poll_is_jepsens() {
    let Some(cases) = cases_of(|expected| expected["function"] == "realtime-lag") else {
        return;
    };
    for case in cases {
        let lags = serde_json::to_value(realtime_lag(&read(&case))).unwrap();
        assert_eq!(lags, case["expected"]["lags"]);
        let measures = check(&read(&case)).measures;
        let worst = serde_json::to_value(measures.worst_realtime_lag).unwrap();
        assert_eq!(worst, case["expected"]["worst-realtime-lag"]);
    }
}

#[test]
fn what_nobody_has_seen_yet_is_counted_as_jepsen_does() {
    let Some(cases) = cases_of(|expected| expected["function"] == "unseen") else {
        return;
    };
    for case in cases {
        let series = unseen_series(&read(&case));
        let expected = case["expected"]["series"].as_array().unwrap();
        assert_eq!(series.len(), expected.len());
        for (one, expected) in series.iter().zip(expected) {
            assert_eq!(Json::from(one.time), expected["time"]);
            assert_eq!(
                serde_json::to_value(&one.unseen).unwrap(),
                expected["unseen"]
            );
        }
    }
}

/// A field of Jepsen's result: a count under `counts`, anything else beside it.
fn field<'v>(verdict: &'v Json, name: &str) -> &'v Json {
    let name = name.replace('-', "_");
    match name.as_str() {
        "attempted_count" => &verdict["counts"]["attempt_count"],
        _ if name.ends_with("_count") => &verdict["counts"][&name],
        _ => &verdict[&name],
    }
}

/// Jepsen's own maps have dashes in the names of their fields.
fn underscored(value: &Json) -> Json {
    match value {
        Json::Array(list) => list.iter().map(underscored).collect(),
        Json::Object(map) => {
            let fields = map.iter();
            let fields = fields.map(|(name, value)| (name.replace('-', "_"), underscored(value)));
            Json::Object(fields.collect())
        }
        other => other.clone(),
    }
}

#[test]
fn the_other_checkers_give_jepsens_results_field_by_field() {
    let models = [
        "total-queue",
        "set-full",
        "counter",
        "unique-ids",
        "queue(unordered-queue)",
    ];
    let kept = |expected: &Json| {
        expected["checker"]
            .as_str()
            .is_some_and(|name| models.contains(&name))
    };
    let Some(cases) = cases_of(kept) else {
        return;
    };
    assert!(cases.len() >= 18, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["expected"]["checker"].as_str().unwrap();
        let model: Model = name.split('(').next().unwrap().parse().unwrap();
        let verdict = judge_model(&read(&case), model, &ModelOptions::default()).unwrap();
        let verdict = serde_json::to_value(verdict).unwrap();
        for (name, expected) in case["expected"]["result"].as_object().unwrap() {
            let got = field(&verdict, name);
            if *got != underscored(expected) {
                wrong.push(format!(
                    "{} {name}: {got} instead of {expected}",
                    case["id"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
