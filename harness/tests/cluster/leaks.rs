//! Nothing outlives the harness, whatever kills it and whenever; and what it
//! had recorded by then can be judged.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::{Bench, eventually, processes_mentioning};

/// What of this machine a lab must never touch.
fn host_state() -> [String; 3] {
    let output = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output
            .map(|o| String::from_utf8_lossy(&o.stdout).into_owned())
            .unwrap_or_default()
    };
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("mounts");
    [
        output("ip", &["-o", "link"]),
        output("nft", &["list", "ruleset"]),
        mounts,
    ]
}

/// Network namespaces that any process on this machine lives in.
fn namespaces() -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let links = all.filter_map(|entry| std::fs::read_link(entry.path().join("ns/net")).ok());
    links.collect::<std::collections::BTreeSet<_>>().len()
}

fn killed_runs_leave_nothing(bench: &Bench, moments_ms: &[u64]) {
    let before = host_state();
    for (run, moment) in moments_ms.iter().enumerate() {
        let out = bench.path().join(format!("run-{run}"));
        let line = format!(
            "test --time-limit 60 --fault-interval 1s --out {}",
            out.display()
        );
        let mut front = bench
            .command(&line)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(*moment));
        front.kill().expect("SIGKILL");
        front.wait().expect("reaped");
        let what = format!("the end of all processes of the run killed after {moment} ms");
        eventually(&what, || processes_mentioning(&out).is_empty());
        judge_what_is_left(bench, &out);
    }
    assert_eq!(host_state(), before);
}

fn judge_what_is_left(bench: &Bench, out: &std::path::Path) {
    let journal = out.join("latest/history.jsonl");
    let text = std::fs::read(&journal).unwrap_or_default();
    if !text.contains(&b'\n') {
        return;
    }
    let checked = bench.run(&format!("check {} --format json", journal.display()));
    let code = checked.status.code();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(
        code,
        Some(2),
        "a run without its final reads is unknown: {said}"
    );
}

/// Ten moments from the first fork to the middle of the faults.
const MOMENTS_MS: [u64; 10] = [3, 40, 90, 170, 310, 520, 900, 1700, 2600, 4100];

#[test]
fn a_killed_harness_leaves_nothing_behind_and_its_journal_can_be_judged() {
    killed_runs_leave_nothing(&Bench::new(), &MOMENTS_MS);
}

#[test]
fn the_same_holds_for_a_user_without_rights() {
    if let Some(bench) = Bench::unprivileged() {
        killed_runs_leave_nothing(&bench, &[60, 350, 1500]);
    }
}

#[test]
fn a_run_without_a_lab_leaves_no_process_behind_either() {
    let bench = Bench::new();
    let out = bench.results();
    let line = format!("test --where local --time-limit 60 --out {}", out.display());
    let mut run = bench
        .command(&line)
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    eventually("a broker", || processes_mentioning(&out).len() >= 3);
    run.kill().expect("SIGKILL");
    run.wait().expect("reaped");
    eventually("the end of all brokers", || {
        processes_mentioning(&out).is_empty()
    });
}

#[test]
fn a_lab_has_namespaces_of_its_own_and_gives_them_back() {
    let bench = Bench::new();
    let out = bench.results();
    let line = format!("test --time-limit 60 --out {}", out.display());
    let mut run = bench
        .command(&line)
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    eventually("three brokers in namespaces", || {
        processes_mentioning(&out).len() >= 5 && namespaces() >= 4
    });
    run.kill().expect("SIGKILL");
    run.wait().expect("reaped");
    eventually("the end of all processes", || {
        processes_mentioning(&out).is_empty()
    });
}

#[test]
fn an_interrupted_run_heals_and_is_judged() {
    let bench = Bench::new();
    let out = bench.results();
    let line = format!(
        "test --time-limit 600 --fault-interval 1s --out {}",
        out.display()
    );
    let run = bench
        .command(&line)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let journal = out.join("latest/history.jsonl");
    eventually("a fault in the journal", || {
        std::fs::read_to_string(&journal)
            .unwrap_or_default()
            .contains("\"installed\"")
    });
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("SIGINT");
    let output = run.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("run was stopped after"), "{said}");
    assert!(out.join("latest/report.html").exists(), "{said}");
    assert!(processes_mentioning(&out).is_empty());
}
