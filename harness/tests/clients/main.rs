//! Runs of which a client library sends the records: the libraries that people
//! use, programs that speak the protocol, and programs that break it.
//!
//! Where what a test needs is not installed, it says so and passes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Whether all of these can be started; what cannot is told.
fn installed(programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| {
        let version = if program.starts_with("java") {
            "-version"
        } else {
            "--version"
        };
        Command::new(program).arg(version).output().is_err()
    });
    if let Some(program) = missing {
        eprintln!("skipped: {program} is not installed");
    }
    missing.is_none()
}

/// A run with its results in a folder of its own.
fn run(folder: &Path, client: &str, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["test", "--format", "json", "--client", client])
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn verdict(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", said(output)))
}

/// What test.json says of a setting.
fn setting(folder: &Path, name: &str) -> String {
    let path = folder.join("results/latest/test.json");
    let test: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    test["settings"][name].as_str().unwrap().to_owned()
}

const LOCAL: &str = "--where local --faults none --partitions 2 --time-limit 2 --seed 1";
const KILLS: &str = "--faults kill --fault-target leader --fault-interval 2s --time-limit 8 --partitions 2 --seed 7";

/// The library keeps what it acknowledged through the loss of leaders, with idempotence once each.
fn survives_killed_leaders(client: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), client, &format!("{KILLS} --idempotent"));
    let verdict = verdict(&output);
    let shown = format!("{:#}\n{}", verdict["anomalies"], said(&output));
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(verdict["valid"], true, "{shown}");
    assert!(verdict["acked"].as_u64().unwrap() > 50, "{shown}");
    assert!(verdict["faults"].as_u64().unwrap() > 0, "{shown}");
    assert_eq!(verdict["duplicates"], 0, "{shown}");
    let recorded = setting(folder.path(), "client");
    assert!(recorded.starts_with(client), "{recorded}");
}

#[test]
fn the_java_client_keeps_what_it_acknowledged_while_leaders_are_killed() {
    if installed(&["java", "javac", "mvn"]) {
        survives_killed_leaders("java");
    }
}

#[cfg(feature = "librdkafka")]
#[test]
fn librdkafka_keeps_what_it_acknowledged_while_leaders_are_killed() {
    survives_killed_leaders("librdkafka");
}

#[cfg(not(feature = "librdkafka"))]
#[test]
fn without_librdkafka_its_client_is_a_usage_error_that_says_how_to_build_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), "librdkafka", LOCAL);
    assert_eq!(output.status.code(), Some(64));
    let said = said(&output);
    assert!(said.contains("--features librdkafka"), "{said}");
}

#[test]
fn a_client_that_acknowledges_what_it_never_sent_is_caught() {
    if !installed(&["python3"]) {
        return;
    }
    let liar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/liar.py");
    let folder = tempfile::tempdir().unwrap();
    let client = format!("exec:python3 {}", liar.display());
    let output = run(folder.path(), &client, LOCAL);
    let verdict = verdict(&output);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(verdict["acked"].as_u64().unwrap() > 50, "{verdict:#}");
    assert_eq!(verdict["lost_acked"], verdict["acked"], "{verdict:#}");
}

#[test]
fn a_client_that_ends_by_itself_fails_the_test_bed_and_leaves_its_records_unknown() {
    if !installed(&["python3"]) {
        return;
    }
    let liar = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/liar.py");
    let folder = tempfile::tempdir().unwrap();
    let client = format!("exec:python3 {} 20", liar.display());
    let output = run(folder.path(), &client, LOCAL);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("ended by itself"), "{said}");
    assert!(said.contains("this was the last one"), "{said}");
    let path = folder.path().join("results/latest/history.jsonl");
    let history = std::fs::read_to_string(path).unwrap();
    let ops: Vec<Value> = history
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sends = |kind: &str| {
        let of_kind = |op: &&Value| op["f"] == "send" && op["type"] == kind;
        ops.iter().filter(of_kind).count()
    };
    assert_eq!(sends("ok"), 20);
    assert!(sends("info") > 0, "{history}");
    assert_eq!(sends("invoke"), sends("ok") + sends("info"), "{history}");
}

#[test]
fn a_client_that_does_not_speak_the_protocol_fails_the_test_bed_and_says_why() {
    for (client, why) in [
        ("exec:/no/such/producer", "could not be started"),
        ("exec:true", "ended before it was ready (exit status: 0)"),
        ("exec:true", "it said nothing on stderr"),
        ("exec:cat", "should have said that it is ready"),
        ("exec:cat /dev/zero", "a line of more than 65536 bytes"),
        ("exec:head -c 100 /bin/true", "not UTF-8"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), client, LOCAL);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{client}: {said}");
        assert!(said.contains(why), "{client}: {said}");
    }
}
