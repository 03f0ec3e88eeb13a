//! The command line as a script sees it: exit codes, and messages that say
//! what to do.

use assert_cmd::Command;

fn plimsoll(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.args(line.split_whitespace());
    command
}

fn usage_error(line: &str, hint: &str) {
    let output = plimsoll(line).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{line}: {text}");
    assert!(text.contains(hint), "{line}: {text}");
    assert!(output.stdout.is_empty(), "{line}");
}

#[test]
fn help_and_version_are_no_errors() {
    for line in [
        "--help",
        "--version",
        "test --help",
        "compare --help",
        "scenario --help",
        "check --help",
        "convert --help",
        "doctor --help",
        "broker --help",
    ] {
        plimsoll(line).assert().code(0);
    }
}

#[test]
fn a_closed_stderr_changes_neither_the_work_nor_the_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["compare", "--budget", "0", "--out", "c"])
        .current_dir(folder.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stderr.take());
    let status = child.wait().expect("it ends");
    // No run at all: nothing can be told.
    assert_eq!(status.code(), Some(2));
    assert!(folder.path().join("c/compare.html").exists());
}

#[test]
fn every_usage_error_says_what_to_do_and_ends_with_64() {
    usage_error("", "Usage");
    usage_error("test --no-such-option", "--no-such-option");
    usage_error(
        "test --replication-factor 4",
        "larger than available brokers: 3",
    );
    usage_error("test --nodes 0", "--nodes");
    usage_error("test --min-insync 5", "--replication-factor 3");
    usage_error("test --acks 2", "all");
    usage_error("test --faults quake", "kill, pause, partition");
    usage_error("test --time-limit soon", "30s");
    usage_error("test --where local --faults partition", "--where lab");
    usage_error("test --system postgres", "builtin");
    usage_error("test --scenario nowhere.toml", "rolling-restart");
    usage_error("test --bug no-such-bug", "ack-all-on-local-append");
    usage_error("scenario nowhere", "rolling-restart");
    usage_error("compare --acks 1 --acks 7", "acks");
    usage_error("compare --runs many", "--runs");
    usage_error("compare --nope 1", "--nope is no option");
    usage_error("compare --min-runs 5 --runs 2", "--min-runs 5");
    usage_error("check x --model toaster", "cas-register");
    usage_error("convert x y.edn --from yaml", "etcd");
}

#[test]
fn a_usage_error_ends_with_the_usage_of_what_was_called() {
    for (line, usage) in [
        ("test --nodes 2", "plimsoll test [OPTIONS]"),
        ("compare --nodes 2", "plimsoll compare [OPTIONS]"),
        ("compare --runs many", "plimsoll compare [OPTIONS]"),
        ("soak nowhere.toml", "plimsoll soak [OPTIONS] [SUITE.toml]"),
        (
            "soak --resume nowhere",
            "plimsoll soak [OPTIONS] [SUITE.toml]",
        ),
        ("scenario nowhere", "plimsoll scenario <NAME> [OPTIONS]"),
    ] {
        usage_error(line, &format!("Usage: {usage}"));
    }
}

#[test]
fn compare_names_its_own_options_in_its_help() {
    let output = plimsoll("compare --help").output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("--runs") && text.contains("--acks"), "{text}");
}
