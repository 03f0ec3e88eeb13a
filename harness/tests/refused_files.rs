//! Files that cannot be what they are given as, through the real program: each
//! is refused at once, with its name and a reason, and nothing waits for it or
//! reads it without an end.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;

/// Far beyond what any of these takes; a program that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(120);
const MEMORY_KIB: u32 = 4 << 20;

/// With bounded memory, so that a regression does not take the machine down.
fn bounded(words: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {MEMORY_KIB}; exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .args(words)
        .timeout(PATIENCE);
    command
}

fn refused(words: &[&str], code: i32, hints: &[&str]) {
    let output = bounded(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
    for hint in hints {
        assert!(text.contains(hint), "{words:?}: {hint} is not in: {text}");
    }
    assert!(!text.contains("panicked"), "{words:?}: {text}");
}

fn pipe(folder: &Path) -> String {
    let path = folder.join("pipe").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    path
}

#[test]
fn a_device_without_an_end_and_a_pipe_without_a_writer_are_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe(folder.path());
    for path in ["/dev/zero", &pipe] {
        let hints = [path, "no regular file"];
        refused(&["soak", path], 64, &hints);
        refused(&["broker", "--config", path], 64, &hints);
        refused(&["test", "--scenario", path], 64, &hints);
    }
    let history = folder.path().join("history.jsonl");
    std::fs::write(&history, "").unwrap();
    let words = ["check", &history.display().to_string(), "--promise", &pipe];
    refused(&words, 64, &[&pipe, "no regular file"]);
}

/// A description with these lines in it.
fn description(folder: &Path, ports: &str, node: &str) -> String {
    let text =
        format!("name = \"a\"\n[ports]\n{ports}\n[limits]\nstart = \"1s\"\n[node]\n{node}\n");
    let path = folder.join("mine.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_mistake_in_a_description_is_a_usage_error_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    for (ports, node, hints) in [
        (
            "client = 0",
            "command = [\"true\"]",
            ["line 3", "ports.client"],
        ),
        (
            "client = 1",
            "command = [\"{bug}\"]",
            ["line 7", "node.command"],
        ),
        (
            "client = 1",
            "command = [\"true\"]\ndata = \"/var\"",
            ["line 8", "node.data"],
        ),
    ] {
        let system = description(folder.path(), ports, node);
        refused(&["test", "--system", &system, "--out", &out], 64, &hints);
    }
    assert!(!Path::new(&out).exists(), "a run's folder was made");
}

#[test]
fn a_preparation_without_an_end_fails_the_test_bed_at_the_limit_of_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let node = "prepare = [[\"sleep\", \"86462\"]]\ncommand = [\"true\"]";
    let system = description(folder.path(), "client = 9092", node);
    let words = [
        "test", "--where", "local", "--system", &system, "--out", &out,
    ];
    refused(
        &words,
        3,
        &["preparing node n", "sleep 86462", "limits.start"],
    );
}

#[test]
fn a_history_that_is_no_regular_file_is_refused_unless_it_is_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = pipe(folder.path());
    for options in [&[][..], &["--stream"], &["--model", "register"]] {
        let words = [&["check", &pipe], options].concat();
        refused(&words, 64, &[&pipe, "no regular file", "-"]);
    }
    refused(&["check", "/dev/zero"], 64, &["no regular file"]);
    let target = folder.path().join("x.edn").display().to_string();
    refused(
        &["convert", &pipe, &target],
        64,
        &[&pipe, "no regular file"],
    );
    let history = "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n";
    for name in ["-", "/dev/stdin"] {
        let output = bounded(&["check", name, "--model", "register"])
            .write_stdin(history)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{name}: {text}");
    }
}

#[test]
fn a_compose_file_without_an_engine_is_told_in_few_lines() {
    let works = |program: &str, word: &str| {
        let output = std::process::Command::new(program).arg(word).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !works("docker", "--version") || !works("docker-compose", "version") {
        println!("skipped: there is no docker command with compose");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compose.yml");
    std::fs::write(&file, "services: {}\n").unwrap();
    let socket = format!("unix://{}", folder.path().join("nobody").display());
    let system = format!("compose:{}", file.display());
    let output = bounded(&["test", "--system", &system])
        .env("DOCKER_HOST", &socket)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("no Docker engine answers"), "{text}");
    assert!(text.contains(&socket), "{text}");
    assert!(text.lines().count() < 6, "{text}");
}

#[test]
fn a_data_directory_that_cannot_be_made_is_named_and_its_cause_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken");
    std::fs::write(&file, "").unwrap();
    let path = file.display().to_string();
    let words = ["broker", "--node-id", "1", "--data-dir", &path];
    let place = [
        "--listen",
        "127.77.0.1:9092",
        "--controllers",
        "1@127.77.0.1:9094",
    ];
    let words = [&words[..], &place].concat();
    let output = bounded(&words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&path), "{text}");
    assert_eq!(text.matches("File exists").count(), 1, "{text}");
}
