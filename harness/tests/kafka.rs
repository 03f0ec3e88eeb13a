//! Real Apache Kafka in the lab, resolved by Maven. Where Java or Maven are
//! missing the test says so and passes, except in CI.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

fn plimsoll(words: &[&str], out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["test", "--format", "json", "--system", "kafka", "--out"])
        .arg(out)
        .args(words)
        .output()
        .unwrap()
}

/// Whether what Kafka needs is on this machine.
fn can_run() -> bool {
    let runs = |program: &str| Command::new(program).arg("-version").output().is_ok();
    let there = runs("java") && runs("mvn");
    assert!(
        there || std::env::var_os("CI").is_none(),
        "CI needs Java and Maven"
    );
    if !there {
        println!("skipped: Java or Maven is missing");
    }
    there
}

#[test]
fn three_kafka_brokers_keep_what_they_acknowledged_when_their_leader_is_killed() {
    if !can_run() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let scenario = out.path().join("kill.toml");
    let kill = "title = 'kill'\n[[fault]]\nat = 3\nlasts = 7\nkind = 'kill'\ntarget = 'leader'\n";
    std::fs::write(&scenario, kill).unwrap();
    // Longer than the default, for machines that are busy.
    let words = [
        "--session-timeout",
        "3s",
        "--time-limit",
        "16",
        "--seed",
        "7",
        "--scenario",
        scenario.to_str().unwrap(),
    ];
    let output = plimsoll(&words, out.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    assert_eq!(verdict["valid"], true, "{said}\n{verdict:#}");
    assert_eq!(verdict["faults"], 1, "{said}");
    assert!(verdict["acked"].as_u64().unwrap() > 100, "{said}");
    assert!(verdict["leader_changes"].as_u64().unwrap() > 0, "{said}");
    let log = out.path().join("latest/nodes/n2/broker.log");
    assert!(std::fs::read_to_string(log).unwrap().contains("Kafka"));
}

#[test]
fn a_folder_that_is_no_kafka_distribution_is_refused_before_anything_starts() {
    if !can_run() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let output = plimsoll(&["--kafka-home", out.path().to_str().unwrap()], out.path());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("--kafka-home") && said.contains("libs"),
        "{said}"
    );
}
