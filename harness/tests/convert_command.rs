//! `plimsoll convert` as a script sees it: nothing is lost on the way to EDN
//! and back, nothing that exists is overwritten, and nothing half stays behind.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

fn golden(name: &str) -> PathBuf {
    let golden = "../checkers/tests/golden";
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("{golden}/{name}.jsonl"))
}

fn plimsoll(command: &str, paths: &[&Path], options: &[&str]) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    run.arg(command).args(paths).args(options);
    run.output().unwrap()
}

fn convert(from: &Path, to: &Path) {
    let output = plimsoll("convert", &[from, to], &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("lines written to"), "{text}");
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_history_is_the_same_after_edn_and_back_compressed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["lost-write-invalid", "lost-write-permitted-with-acks-1"] {
        let at = |end: &str| folder.path().join(format!("{name}.{end}"));
        convert(&golden(name), &at("edn"));
        convert(&at("edn"), &at("edn.zst"));
        convert(&at("edn.zst"), &at("jsonl.zst"));
        convert(&at("jsonl.zst"), &at("jsonl"));
        assert_eq!(lines(&at("jsonl")), lines(&golden(name)));
        let edn = fs::read_to_string(at("edn")).unwrap();
        let mut of_edn = edn.lines();
        assert!(of_edn.next().unwrap().starts_with(";; plimsoll {"));
        assert!(of_edn.next().unwrap().starts_with("{:index 0, :time "));
        assert!(edn.contains(":value [[:send \"log-0\" "), "{edn}");
    }
}

#[test]
fn a_converted_history_gets_the_same_verdict() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code) in [
        ("lost-write-valid", 0),
        ("lost-write-invalid", 1),
        ("lost-write-unknown-without-final-reads", 2),
    ] {
        let edn = folder.path().join(format!("{name}.edn"));
        convert(&golden(name), &edn);
        let output = plimsoll("check", &[&edn], &[]);
        assert_eq!(output.status.code(), Some(code), "{name}");
    }
}

#[test]
fn what_exists_is_kept_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("history.edn");
    fs::write(&out, "mine").unwrap();
    let input = golden("lost-write-valid");
    let output = plimsoll("convert", &[&input, &out], &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64));
    assert!(text.contains("--force"), "{text}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    let output = plimsoll("convert", &[&input, &out], &["--force"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(fs::read_to_string(&out).unwrap().starts_with(";;"));
}

#[test]
fn what_is_no_history_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("history.edn");
    fs::write(&input, "{:process 0, :type :ok, :f :read}\n").unwrap();
    let out = folder.path().join("out.jsonl");
    let output = plimsoll("convert", &[&input, &out], &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(64));
    assert!(text.contains("line 1"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = plimsoll("convert", &[&input, Path::new("/nowhere/a.edn")], &[]);
    assert_eq!(nowhere.status.code(), Some(64));
    let unnamed = plimsoll("convert", &[&input, &folder.path().join("out")], &[]);
    let text = String::from_utf8_lossy(&unnamed.stderr);
    assert!(text.contains("--to"), "{text}");
}

#[test]
fn streams_are_read_and_written() {
    let mut run = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    run.args(["convert", "-", "-", "--to", "jsonl"]);
    run.write_stdin(
        "INFO  jepsen.util - 0\t:invoke\t:cas\t[0 1]\nINFO  jepsen.util - 0\t:info\t:cas\t:timed-out\n",
    );
    let output = run.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(
        text,
        concat!(
            "{\"index\":0,\"time\":0,\"process\":0,\"type\":\"invoke\",\"f\":\"cas\",\"value\":[0,1]}\n",
            "{\"index\":1,\"time\":0,\"process\":0,\"type\":\"info\",\"f\":\"cas\",\"value\":null,\"error\":\"timed-out\"}\n",
        )
    );
    assert!(output.stderr.is_empty());
}

#[test]
fn knossos_reads_what_is_written() {
    let mut run = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    run.args(["convert", "-", "-", "--to", "edn"]);
    run.write_stdin("{\"process\":0,\"type\":\"invoke\",\"f\":\"cas\",\"value\":[0,1]}\n");
    let output = run.output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{:index 0, :time 0, :process 0, :type :invoke, :f :cas, :value [0 1]}\n"
    );
}
