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
