//! `plimsoll check` as a script sees it: one exit code a class of outcome, JSON
//! alone on stdout, people served on stderr.

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;

fn golden(name: &str) -> PathBuf {
    let golden = "../checkers/tests/golden";
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("{golden}/{name}.jsonl"))
}

fn check(file: &PathBuf, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("check").arg(file).args(options);
    command.output().expect("it runs")
}

#[test]
fn each_class_of_outcome_has_its_exit_code() {
    for (name, code) in [
        ("lost-write-valid", 0),
        ("lost-write-permitted-with-acks-1", 0),
        ("lost-write-invalid", 1),
        ("lost-write-unknown-without-final-reads", 2),
        ("phantom-read-unknown-in-a-torn-history", 2),
        ("not-recovered-stays-invalid-when-safety-is-disproved", 1),
    ] {
        let output = check(&golden(name), &[]);
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert!(output.stdout.is_empty(), "{name}");
    }
    let strict = check(&golden("lost-write-permitted-with-acks-1"), &["--strict"]);
    assert_eq!(strict.status.code(), Some(1));
}

#[test]
fn a_file_that_is_no_history_ends_with_64_line_and_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl");
    std::fs::write(&file, "{\"plimsoll\":1,\"promise\":{}}\n[]\n\n").expect("room");
    let output = check(&file, &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{text}");
    assert!(text.contains("line 2"), "{text}");
    let absent = check(&folder.path().join("absent"), &[]);
    assert_eq!(absent.status.code(), Some(64));
}

#[test]
fn json_stands_alone_on_stdout() {
    let output = check(&golden("lost-write-invalid"), &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["valid"], false);
    assert_eq!(json["anomaly_counts"]["lost-write"], 1);
    assert!(output.stderr.is_empty());
}

#[test]
fn the_report_is_written_where_it_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("report.html");
    let page_word = page.display().to_string();
    let output = check(&golden("lost-write-invalid"), &["--html", &page_word]);
    assert_eq!(output.status.code(), Some(1));
    let text = std::fs::read_to_string(page).expect("a page");
    assert!(text.contains("1 of 3"));
}

#[test]
fn evidence_beside_the_history_is_reported_and_leaves_the_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl");
    std::fs::copy(golden("lost-write-invalid"), &file).expect("room");
    let read = |output: Output| -> serde_json::Value {
        serde_json::from_slice(&output.stdout).expect("one object")
    };
    let before = read(check(&file, &["--format", "json"]));
    assert_eq!(before["loss_report"]["stages"]["unknown"], 1);
    assert!(before["loss_report"]["resolved"].is_null());
    let (key, value) = (&before["lost"][0]["key"], &before["lost"][0]["value"]);
    let disk = format!("{{\"nodes\":{{\"n9\":{{\"partitions\":{{{key}:[[7,{value},2]]}}}}}}}}");
    std::fs::write(folder.path().join("disk.json"), disk).expect("room");
    let after = read(check(&file, &["--format", "json"]));
    let resolved = &after["loss_report"]["resolved"];
    assert_eq!(resolved["lost_last_seen"][0]["node"], "n9");
    assert_eq!(
        (&before["valid"], &before["anomalies"]),
        (&after["valid"], &after["anomalies"])
    );
    std::fs::write(folder.path().join("disk.json"), "[]").expect("room");
    let output = check(&file, &[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{text}");
    assert!(text.contains("disk.json"), "{text}");
}

const REGISTER: &str = "{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
";

fn register(options: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.edn");
    std::fs::write(&file, REGISTER).expect("room");
    check(&file, options)
}

#[test]
fn an_object_is_judged_as_the_model_that_is_named() {
    let output = register(&["--model", "register", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["model"], "register");
    for field in ["valid", "level", "anomaly_counts", "anomalies", "counts"] {
        assert!(!json[field].is_null(), "{field}");
    }
    assert!(output.stderr.is_empty());
    let output = register(&["--model", "cas-register", "--initial", "nil"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = text.lines().next().expect("a verdict");
    assert!(first.contains("cas-register"), "{text}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_model_that_nobody_knows_is_refused_with_the_names_of_all() {
    let output = register(&["--model", "toaster"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{text}");
    for name in [
        "log",
        "cas-register",
        "set-full",
        "unique-ids",
        "kv",
        "stats",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn the_header_names_the_model_unless_the_command_line_does() {
    let golden = std::fs::read_to_string(golden("lost-write-valid")).expect("a golden history");
    let header = golden.lines().next().expect("a header");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("history.jsonl");
    let named = |model: &str| {
        let header = header.replacen('{', &format!("{{\"model\":{model},"), 1);
        let op = "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}";
        std::fs::write(&file, format!("{header}\n{op}\n")).expect("room");
    };
    named("\"register\"");
    let output = check(&file, &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!(json["model"], "register");
    named("\"toaster\"");
    let output = check(&file, &[]);
    assert_eq!(output.status.code(), Some(64));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("toaster") && text.contains("unique-ids"),
        "{text}"
    );
    let output = check(&file, &["--model", "register", "--format", "json"]);
    assert!(!output.stdout.is_empty());
}

#[test]
fn options_that_mean_nothing_for_the_model_are_refused() {
    let output = register(&["--model", "register", "--promise", "/nowhere/promise.json"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64));
    assert!(text.contains("--promise"), "{text}");
    let output = check(&golden("lost-write-valid"), &["--initial", "0"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64));
    assert!(text.contains("--model"), "{text}");
}
