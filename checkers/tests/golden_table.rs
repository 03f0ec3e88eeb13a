//! The table of `golden/README.md`: one line for each history, derived from its name, its header and
//! its verdict file.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// All histories, those of the log before the folders of the other models.
fn histories() -> Vec<PathBuf> {
    let entries = |of: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(of).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = entries(&folder())
        .into_iter()
        .partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| entries(folder)));
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files
}

/// What a log's header promises, in short.
fn promise(history: &str) -> String {
    let first = history.lines().next().unwrap_or_default();
    let header: Json = serde_json::from_str(first).unwrap_or(Json::Null);
    if header.get("plimsoll").is_none() {
        return "none: strict".to_owned();
    }
    if let Some(model) = header["model"].as_str() {
        return model.to_owned();
    }
    let promise = &header["promise"];
    let settings = &promise["settings"];
    let text = |value: &Json| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let mut words = match settings {
        Json::Null => vec!["no settings".to_owned()],
        settings => vec![
            format!("acks={}", text(&settings["acks"])),
            format!("min ISR {}", settings["min_insync"]),
        ],
    };
    let flags = [
        (&settings["unclean_elections"], "unclean elections"),
        (&settings["idempotent"], "idempotent"),
        (&promise["classes"]["process"], "K"),
        (&promise["classes"]["disk"], "D"),
        (&promise["strict"], "strict"),
        (&promise["linearizable_reads"], "linearizable reads"),
        (&promise["eventual"], "eventual"),
    ];
    let set = flags.iter().filter(|(flag, _)| **flag == true);
    words.extend(set.map(|(_, name)| (*name).to_owned()));
    words.join(", ")
}

fn anomalies(verdict: &Json) -> String {
    let Some(counts) = verdict["anomaly_counts"].as_object() else {
        return "not compared".to_owned();
    };
    let each: Vec<String> = counts
        .iter()
        .map(|(name, count)| match count.as_u64() {
            Some(1) => name.clone(),
            _ => format!("{name} ×{count}"),
        })
        .collect();
    match each.is_empty() {
        true => "–".to_owned(),
        false => each.join(", "),
    }
}

fn row(path: &Path) -> String {
    let history = std::fs::read_to_string(path).unwrap();
    let verdict = std::fs::read_to_string(path.with_extension("verdict.json")).unwrap();
    let verdict: Json = serde_json::from_str(&verdict).unwrap();
    let place = path.strip_prefix(folder()).unwrap().display().to_string();
    let sentence = path
        .file_stem()
        .unwrap()
        .to_string_lossy()
        .replace('-', " ");
    let valid = match &verdict["valid"] {
        Json::Bool(true) => "valid",
        Json::Bool(false) => "invalid",
        _ => "unknown",
    };
    let note = verdict["note"]
        .as_str()
        .map_or_else(String::new, |note| format!(". {note}"));
    format!(
        "| [{sentence}]({place}){note} | {} | {valid} | {} |",
        promise(&history),
        anomalies(&verdict)
    )
}

#[test]
fn the_table_has_one_line_for_each_history() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let is_row = |line: &&str| line.contains(".jsonl)") && line.starts_with("| [");
    let written: Vec<&str> = readme.lines().filter(is_row).collect();
    let wanted: Vec<String> = histories().iter().map(|path| row(path)).collect();
    assert!(wanted.len() >= 250, "only {} histories", wanted.len());
    if written != wanted {
        let folder = folder();
        panic!(
            "replace the rows of {}/README.md by these:\n{}",
            folder.display(),
            wanted.join("\n")
        );
    }
}

#[test]
fn every_history_has_a_verdict_and_every_verdict_a_history() {
    let verdicts = |of: &Path| -> usize {
        let entries = std::fs::read_dir(of).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .filter(|name| name.to_string_lossy().ends_with(".verdict.json"))
            .count()
    };
    let all = histories();
    let folders: std::collections::BTreeSet<&Path> =
        all.iter().map(|path| path.parent().unwrap()).collect();
    let counted: usize = folders.into_iter().map(verdicts).sum();
    assert_eq!(all.len(), counted);
    for path in all {
        assert!(
            path.with_extension("verdict.json").is_file(),
            "{}",
            path.display()
        );
    }
}
