//! Histories with their verdicts: `golden/<name>.jsonl` beside
//! `golden/<name>.verdict.json`.
//!
//! A verdict file names the fields that must be equal. `proof` lists, by
//! anomaly, the ops that each finding must name.

use std::path::{Path, PathBuf};

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{Verdict, check, judge};
use serde_json::{Value as Json, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn read(path: &Path) -> History {
    let mut reader = HistoryReader::new();
    let bytes = std::fs::read(path).expect("a golden history");
    reader.push_bytes(&bytes).expect("well-formed lines");
    reader.finish().expect("a well-formed history")
}

fn verdict_of(history: &History) -> Verdict {
    let promise = history
        .header()
        .map_or_else(Promise::unstated, |header| header.promise.clone());
    judge(check(history), &promise)
}

fn proofs(verdict: &Json, anomaly: &str) -> Json {
    let list = verdict["anomalies"].as_array().expect("a list");
    let of = list.iter().filter(|one| one["anomaly"] == anomaly);
    of.map(|one| one["ops"].clone()).collect()
}

fn differences(verdict: &Json, expected: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    for (field, wanted) in expected.as_object().expect("an object") {
        if field == "proof" {
            for (anomaly, ops) in wanted.as_object().expect("an object") {
                let got = proofs(verdict, anomaly);
                if &got != ops {
                    wrong.push(format!("proof of {anomaly}: {got} instead of {ops}"));
                }
            }
        } else if verdict.get(field) != Some(wanted) {
            let got = verdict.get(field).unwrap_or(&Json::Null);
            wrong.push(format!("{field}: {got} instead of {wanted}"));
        }
    }
    wrong
}

#[test]
fn every_golden_history_gets_its_verdict() {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    names.sort();
    assert!(names.len() >= 50, "only {} histories", names.len());
    let mut wrong = Vec::new();
    for path in names {
        let expected = std::fs::read_to_string(path.with_extension("verdict.json")).unwrap();
        let expected: Json = serde_json::from_str(&expected).unwrap();
        let verdict = serde_json::to_value(verdict_of(&read(&path))).unwrap();
        for difference in differences(&verdict, &expected) {
            let sentences: Vec<&Json> = verdict["anomalies"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| &one["sentence"])
                .collect();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            wrong.push(format!(
                "{name}: {difference} ({sentences:?}, {})",
                verdict["reason"]
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_same_history_gives_the_same_bytes_each_time() {
    let path = folder().join("inconsistent-offsets-invalid-for-two-reads.jsonl");
    let once = serde_json::to_string(&verdict_of(&read(&path))).unwrap();
    let again = serde_json::to_string(&verdict_of(&read(&path))).unwrap();
    assert_eq!(once, again);
}

#[test]
fn the_verdict_has_the_keys_that_scripts_rely_on() {
    let path = folder().join("lost-write-invalid.jsonl");
    let verdict = serde_json::to_value(verdict_of(&read(&path))).unwrap();
    for key in [
        "valid",
        "permitted",
        "anomaly_counts",
        "anomalies",
        "attempted",
        "acked",
        "failed",
        "indeterminate",
        "lost_acked",
        "duplicates",
        "faults",
        "leader_changes",
        "isr_shrinks",
        "unavailable_ms",
        "latency_ms",
        "seed",
        "run",
        "replay",
    ] {
        assert!(verdict.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(verdict["valid"], json!(false));
    for quantile in ["p50", "p99", "max"] {
        assert!(verdict["latency_ms"][quantile].is_number(), "{quantile}");
    }
}

#[test]
fn every_anomaly_has_a_valid_an_invalid_and_an_unknown_history() {
    let anomalies = [
        "lost-write",
        "vanished-read",
        "phantom-read",
        "g1a",
        "divergent-replicas",
        "inconsistent-offsets",
        "duplicate",
        "realtime-order",
        "poll-skip",
        "int-poll-skip",
        "nonmonotonic-poll",
        "int-nonmonotonic-poll",
        "two-leaders",
        "hw-regression",
        "stale-read",
    ];
    let names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let mut missing = Vec::new();
    for anomaly in anomalies {
        for kinds in [&["valid", "permitted"][..], &["invalid"], &["unknown"]] {
            let is_one = |name: &&String| {
                let kinds = kinds.iter().map(|kind| format!("{anomaly}-{kind}"));
                kinds.into_iter().any(|wanted| name.starts_with(&wanted))
            };
            if !names.iter().any(|name| is_one(&name)) {
                missing.push(format!("{anomaly} {kinds:?}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
