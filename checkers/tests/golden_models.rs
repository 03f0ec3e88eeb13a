//! Histories of objects with their verdicts: `golden/<model>/<name>.jsonl` beside
//! `golden/<model>/<name>.verdict.json`, in the format of `golden/README.md`.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::{Path, PathBuf};

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use serde_json::Value as Json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn read(path: &Path) -> History {
    let mut reader = HistoryReader::new();
    reader.push_bytes(&std::fs::read(path).unwrap()).unwrap();
    reader.finish().unwrap()
}

fn json(path: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The histories of one model, by name.
fn histories(model: Model) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder().join(model.name())).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut histories: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    histories.sort();
    histories
}

/// Every model but the log, whose histories lie in the folder itself.
fn models() -> impl Iterator<Item = Model> {
    let all = Model::NAMES.into_iter().map(|(_, model)| model);
    all.filter(|model| *model != Model::Log)
}

fn judged(history: &History, model: Model, expected: &Json) -> Json {
    let mut options = ModelOptions {
        initial: expected.get("initial").cloned(),
        ..ModelOptions::default()
    };
    if let Some(steps) = expected.get("budget_steps") {
        options.budget.steps = steps.as_u64().unwrap();
    }
    serde_json::to_value(judge_model(history, model, &options).unwrap()).unwrap()
}

/// What each anomaly says under `field`.
fn of_each(verdict: &Json, field: &str) -> Json {
    let anomalies = verdict["anomalies"].as_array().unwrap().iter();
    anomalies.map(|anomaly| anomaly[field].clone()).collect()
}

fn proofs(verdict: &Json, anomaly: &str) -> Json {
    let anomalies = verdict["anomalies"].as_array().unwrap().iter();
    let of = anomalies.filter(|one| one["type"] == anomaly);
    of.map(|one| one["ops"].clone()).collect()
}

/// One line for each field that is not as expected, or that nobody would look at.
fn differences(verdict: &Json, expected: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |field: &str, got: &Json, wanted: &Json| {
        if got != wanted {
            wrong.push(format!("{field}: {got} instead of {wanted}"));
        }
    };
    for (field, wanted) in expected.as_object().unwrap() {
        match field.as_str() {
            "valid" | "anomaly_counts" | "level" => compare(field, &verdict[field], wanted),
            "proof" => {
                for (anomaly, ops) in wanted.as_object().unwrap() {
                    compare(anomaly, &proofs(verdict, anomaly), ops);
                }
            }
            "causes" => compare(field, &of_each(verdict, "cause"), wanted),
            "keys" => compare(field, &of_each(verdict, "key"), wanted),
            "counts" => {
                for (name, count) in wanted.as_object().unwrap() {
                    compare(name, &verdict["counts"][name], count);
                }
            }
            "fields" => {
                for (name, value) in wanted.as_object().unwrap() {
                    compare(name, &verdict[name], value);
                }
            }
            "reason_says" => {
                let reason = verdict["reason"].as_str().unwrap_or_default();
                let says = reason.contains(wanted.as_str().unwrap());
                compare(reason, &Json::from(says), &Json::from(true));
            }
            "initial" | "budget_steps" | "note" => {}
            unknown => compare(unknown, &Json::from("not a field of the format"), wanted),
        }
    }
    wrong
}

#[test]
fn every_golden_history_of_an_object_gets_its_verdict() {
    let mut wrong = Vec::new();
    let mut looked_at = 0;
    for model in models() {
        for path in histories(model) {
            let history = read(&path);
            let expected = json(&path.with_extension("verdict.json"));
            let named = history.header().unwrap().extra["model"].clone();
            assert_eq!(named, model.name(), "{}", path.display());
            let verdict = judged(&history, model, &expected);
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let all = differences(&verdict, &expected).into_iter();
            wrong.extend(all.map(|one| format!("{}/{name}: {one}\n  {verdict}", model.name())));
            looked_at += 1;
        }
    }
    assert!(looked_at >= 100, "only {looked_at} histories");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_model_has_a_valid_an_invalid_and_an_unknown_history() {
    // Bounds can always be computed, and completions always be counted.
    let never_unknown = [Model::Counter, Model::Stats];
    let mut missing = Vec::new();
    for model in models() {
        let verdicts: Vec<Json> = histories(model)
            .iter()
            .map(|path| json(&path.with_extension("verdict.json"))["valid"].clone())
            .collect();
        for wanted in [Json::from(true), Json::from(false), Json::from("unknown")] {
            let impossible = wanted == "unknown" && never_unknown.contains(&model);
            if !impossible && !verdicts.contains(&wanted) {
                missing.push(format!("{} {wanted}", model.name()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_kind_of_anomaly_of_an_object_has_a_history() {
    let kinds = [
        (Model::Register, &["not-linearizable"][..]),
        (Model::CasRegister, &["not-linearizable"]),
        (
            Model::VersionedRegister,
            &[
                "G1a",
                "inconsistent-revisions",
                "not-linearizable",
                "phantom-read",
                "realtime-order",
                "stale-read",
            ],
        ),
        (
            Model::Queue,
            &[
                "G1a",
                "duplicate",
                "lost-write",
                "not-linearizable",
                "phantom-read",
                "realtime-order",
            ],
        ),
        (Model::TotalQueue, &["lost-write", "phantom-read"]),
        (Model::Set, &["lost-write", "phantom-read"]),
        (Model::SetFull, &["duplicate", "lost-write", "phantom-read"]),
        (Model::Counter, &["counter-out-of-bounds"]),
        (Model::UniqueIds, &["duplicate"]),
        (Model::Mutex, &["not-linearizable"]),
        (Model::Kv, &["not-linearizable"]),
        (Model::Stats, &["never-succeeded"]),
    ];
    for (model, kinds) in kinds {
        let mut found: Vec<String> = Vec::new();
        for path in histories(model) {
            let expected = json(&path.with_extension("verdict.json"));
            found.extend(
                expected["anomaly_counts"]
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned(),
            );
        }
        found.sort();
        found.dedup();
        assert_eq!(found, kinds, "{}", model.name());
    }
}
