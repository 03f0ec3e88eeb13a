//! A soak of short runs with the real program: what it keeps, what it calls
//! blind, and that a kill at any moment costs no more than the run in progress.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::bench::{Bench, eventually, processes_mentioning};

const QUIET: &str = "[test]\ntime-limit='1s'\nfaults='none'\npartitions=1\n[[run]]\nname='quiet'\n";

fn lines(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("soak.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parsed = whole
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line"));
    parsed.collect()
}

fn seeds(lines: &[Value]) -> Vec<(u64, u64)> {
    let number = |line: &Value, name: &str| line[name].as_u64().expect("a number");
    lines
        .iter()
        .map(|line| (number(line, "run"), number(line, "seed")))
        .collect()
}

fn file(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn a_soak_keeps_passing_runs_as_lines_and_its_plan_survives_a_kill() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("quiet.toml"), QUIET).expect("written");
    let mut soak = bench
        .command("soak quiet.toml --runs 4 --seed 5 --out killed")
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let folder = bench.path().join("killed/latest");
    eventually("a run that is over and one in progress", || {
        lines(&folder).len() == 1 && processes_mentioning(&bench.path().join("killed")).len() > 2
    });
    soak.kill().expect("SIGKILL");
    soak.wait().expect("reaped");
    eventually("the end of all processes of the run in progress", || {
        processes_mentioning(&bench.path().join("killed")).is_empty()
    });
    let before = lines(&folder).len();
    let resumed = bench.run("soak --resume killed/latest --format json");
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert_eq!(resumed.status.code(), Some(0), "{said}");
    assert!(
        said.contains(&format!("goes on after {before} run")),
        "{said}"
    );
    let summary: Value = serde_json::from_slice(&resumed.stdout).expect("JSON");
    assert_eq!(
        (&summary["runs"], &summary["valid"]),
        (&4.into(), &4.into()),
        "{said}"
    );

    let whole = bench.run("soak quiet.toml --runs 4 --seed 5 --out whole");
    assert_eq!(whole.status.code(), Some(0));
    assert_eq!(
        seeds(&lines(&folder)),
        seeds(&lines(&bench.path().join("whole/latest")))
    );
    let kept = std::fs::read_dir(folder.join("kept"))
        .expect("a folder")
        .count();
    let running = std::fs::read_dir(folder.join("running"))
        .expect("a folder")
        .count();
    assert_eq!((kept, running), (0, 0), "passing runs are lines only");
    assert!(file(&folder, "summary.md").starts_with("## Soak: No violation in 4 runs."));
    assert!(file(&folder, "junit.xml").contains("4 valid runs"));
}

#[test]
fn a_violation_is_kept_whole_and_fails_the_soak() {
    let bench = Bench::new();
    let text = "[[run]]\nname='lossy'\n[run.test]\nscenario='truncation-then-leader-lost'\n\
                bug='truncate-to-hw'\n";
    std::fs::write(bench.path().join("lossy.toml"), text).expect("written");
    let output = bench.run("soak lossy.toml --runs 4 --seed 1 --stop-on-violation");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let folder = bench.results().join("latest");
    let line = lines(&folder).pop().expect("a line");
    assert_eq!(line["ending"], "invalid", "{said}");
    let kept = folder.join(line["folder"].as_str().expect("a folder"));
    for name in [
        "verdict.json",
        "history.jsonl.zst",
        "report.html",
        "nodes/n1/broker.log",
    ] {
        assert!(kept.join(name).exists(), "{name}");
    }
    let junit = file(&folder, "junit.xml");
    assert!(junit.contains("<failure message=\"lost-write: "), "{junit}");
    assert!(
        junit.contains(line["replay"].as_str().expect("a command")),
        "{junit}"
    );
}

#[test]
fn a_soak_that_misses_a_known_bug_is_called_blind() {
    let bench = Bench::new();
    // Without faults the bug has no way to show.
    let text = format!(
        "{QUIET}[[canary]]\nbug='ack-all-on-local-append'\nexpect='lost-write'\ntrials=2\n"
    );
    std::fs::write(bench.path().join("blind.toml"), text).expect("written");
    let output = bench.run("soak blind.toml --runs 1");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("BLIND") && said.contains("trial 2 of 2: not caught"),
        "{said}"
    );
    let folder = bench.results().join("latest");
    assert!(file(&folder, "summary.md").contains("THE SOAK IS BLIND"));
    assert!(file(&folder, "junit.xml").contains("<failure message=\"the soak is blind"));
}

#[test]
fn a_suite_that_cannot_be_used_is_a_usage_error_that_names_the_line() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("bad.toml"), format!("{QUIET}wieght=2\n")).expect("written");
    let output = bench.run("soak bad.toml");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{said}");
    assert!(
        said.contains("bad.toml") && said.contains("line 7"),
        "{said}"
    );
}

#[test]
fn an_interrupted_soak_sums_up_what_it_saw() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("quiet.toml"), QUIET).expect("written");
    let soak = bench
        .command("soak quiet.toml --time-limit 1h")
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let folder = bench.results().join("latest");
    eventually("a run that is over", || !lines(&folder).is_empty());
    let pid = rustix::process::Pid::from_child(&soak);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("SIGINT");
    let output = soak.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("No violation in"), "{said}");
    eventually("the end of all processes", || {
        processes_mentioning(&bench.results()).is_empty()
    });
}
