//! Public histories with known verdicts: Jepsen's logs of etcd, Knossos's and Porcupine's test data.
//! They are read in place and skipped, with a notice, where they are not.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::{Path, PathBuf};

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::models::{Model, ModelOptions, ModelVerdict, judge_model};
use plimsoll_checkers::{Validity, formats};
use serde_json::{Value as Json, json};

fn cases() -> PathBuf {
    std::env::var_os("PLIMSOLL_CASES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
        PathBuf::from,
    )
}

/// A folder of the public data.
fn data(name: &str) -> Option<PathBuf> {
    let folder = cases().join("../data").join(name);
    if !folder.exists() {
        println!("skipped: no {}; set PLIMSOLL_CASES", folder.display());
        return None;
    }
    Some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn history(ops: &[Json]) -> History {
    let mut reader = HistoryReader::new();
    for op in ops {
        reader.push_line(op.to_string().as_bytes()).unwrap();
    }
    reader.finish().unwrap()
}

fn stored(file: &Path) -> History {
    formats::read(&std::fs::read(file).unwrap()).unwrap()
}

fn judge(history: &History, model: Model, initial: Option<Json>) -> ModelVerdict {
    let options = ModelOptions {
        initial,
        ..ModelOptions::default()
    };
    judge_model(history, model, &options).unwrap()
}

/// A violation says where it is, what led up to it and which ops prove it.
fn explained(verdict: &ModelVerdict) {
    assert!(!verdict.anomalies.is_empty());
    for anomaly in &verdict.anomalies {
        assert!(
            !anomaly.ops.is_empty() && anomaly.ops.len() <= 40,
            "{anomaly:?}"
        );
        assert!(anomaly.details["op"].is_u64());
        assert!(anomaly.details["prefix"].is_array(), "{anomaly:?}");
        assert!(anomaly.details["refused"].is_string());
    }
}

#[test]
fn every_etcd_log_gets_its_verdict_and_an_explanation() {
    let Some(folder) = data("etcd") else { return };
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut count = 0;
    for line in expected.lines() {
        let (name, valid) = line.split_once('\t').unwrap();
        let history = stored(&folder.join(format!("{name}.log")));
        let verdict = judge(&history, Model::CasRegister, None);
        let wanted = if valid == "true" {
            Validity::Valid
        } else {
            Validity::Invalid
        };
        assert_eq!(verdict.valid, wanted, "{name}: {verdict:?}");
        if valid != "true" {
            explained(&verdict);
        }
        count += 1;
    }
    assert_eq!(count, 60);
}

#[test]
fn every_knossos_history_gets_its_verdict() {
    let Some(folder) = data("knossos/cas-register") else {
        return;
    };
    for (kind, wanted) in [("good", Validity::Valid), ("bad", Validity::Invalid)] {
        for file in files(&folder.join(kind)) {
            let verdict = judge(&stored(&file), Model::CasRegister, Some(json!(0)));
            assert_eq!(verdict.valid, wanted, "{}: {verdict:?}", file.display());
            if wanted == Validity::Invalid {
                explained(&verdict);
            }
        }
    }
}

#[test]
fn every_history_of_keys_gets_its_verdict_and_each_bad_key_an_explanation() {
    let Some(folder) = data("kv") else { return };
    for file in files(&folder) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let verdict = judge(&stored(&file), Model::Kv, None);
        let wanted = if name.ends_with("ok") {
            Validity::Valid
        } else {
            Validity::Invalid
        };
        assert_eq!(verdict.valid, wanted, "{name}: {verdict:?}");
        if wanted == Validity::Invalid {
            explained(&verdict);
        }
        for anomaly in &verdict.anomalies {
            println!(
                "{name} {:?} {:?} {}",
                anomaly.key, anomaly.ops, anomaly.message
            );
            println!("  {}", anomaly.details["refused"]);
        }
    }
}

#[test]
fn knossoss_own_cases_get_its_verdicts_at_its_ops() {
    let file = cases().join("jepsen-verdicts.jsonl");
    if !file.exists() {
        println!("skipped: no cases; set PLIMSOLL_CASES to their folder");
        return;
    }
    let mut count = 0;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let expected = &case["expected"];
        if expected["checker"] != "linearizable" {
            continue;
        }
        let model: Model = expected["model"].as_str().unwrap().parse().unwrap();
        let initial = Some(expected["initial"].clone());
        let verdict = judge(
            &history(case["history"].as_array().unwrap()),
            model,
            initial,
        );
        let valid = verdict.valid == Validity::Valid;
        assert_eq!(json!(valid), expected["valid"], "{line}\n{verdict:?}");
        if let Some(op) = expected["op_index"].as_u64() {
            assert_eq!(verdict.anomalies[0].details["op"], json!(op), "{verdict:?}");
            assert!(verdict.anomalies[0].ops.contains(&op), "{verdict:?}");
        }
        count += 1;
    }
    assert_eq!(count, 7);
}
