//! Whole runs, short: what the settings permit is found and permitted, what
//! they forbid does not happen, and a broker with a bug is caught.

use crate::bench::Bench;

/// Runs seed after seed until enough of them gave what is wanted.
fn seeds_that(
    wanted: usize,
    of: std::ops::Range<u64>,
    mut gives: impl FnMut(u64) -> bool,
) -> usize {
    let mut found = 0;
    for seed in of {
        found += usize::from(gives(seed));
        if found >= wanted {
            break;
        }
    }
    found
}

fn count(verdict: &serde_json::Value, name: &str) -> u64 {
    verdict[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no number {name} in {verdict}"))
}

const SHORT: &str = "--time-limit 8 --fault-interval 2s --partitions 2";

#[test]
fn acks_all_with_two_in_sync_keeps_everything_under_kill_pause_and_partition() {
    let bench = Bench::new();
    for seed in 1..=3 {
        let (code, verdict) = bench.verdict(&format!("{SHORT} --seed {seed}"));
        let shown = format!("seed {seed}: {:#}", verdict["anomalies"]);
        assert_ne!(verdict["valid"], false, "{shown}");
        assert!(code == 0 || code == 2, "{shown}");
        assert_eq!(count(&verdict, "lost_acked"), 0, "{shown}");
        assert!(count(&verdict, "acked") > 50, "{shown}");
        assert!(count(&verdict, "faults") > 0, "{shown}");
    }
}

#[test]
fn acks_one_loses_acknowledged_records_as_permitted_and_strict_says_violation() {
    let bench = Bench::new();
    let line = format!(
        "{SHORT} --acks 1 --faults kill,partition --fault-target leader --clients everywhere"
    );
    let mut losing = None;
    seeds_that(1, 1..8, |seed| {
        let (code, verdict) = bench.verdict(&format!("{line} --seed {seed}"));
        assert_ne!(
            code, 1,
            "a loss with acks=1 is permitted: {:#}",
            verdict["anomalies"]
        );
        let loses = count(&verdict, "lost_acked") > 0;
        losing = losing.or(loses.then_some(seed));
        loses
    });
    let seed = losing.expect("one of seven seeds loses an acknowledged record");
    // Time differs from run to run, so the same seed may lose nothing.
    let violated = seeds_that(1, seed..seed + 8, |seed| {
        bench.verdict(&format!("{line} --strict --seed {seed}")).0 == 1
    });
    assert_eq!(violated, 1, "--strict makes a loss a violation");
}

#[test]
fn a_broker_that_acks_all_on_its_own_append_is_caught() {
    let bench = Bench::new();
    let line = format!(
        "{SHORT} --bug ack-all-on-local-append --faults kill,partition --fault-target leader \
         --clients everywhere"
    );
    let caught = seeds_that(1, 1..8, |seed| {
        let (code, verdict) = bench.verdict(&format!("{line} --seed {seed}"));
        code == 1 && count(&verdict, "lost_acked") > 0
    });
    assert_eq!(caught, 1, "one of seven seeds shows the bug");
}

#[test]
fn a_user_without_rights_gets_the_same_lab() {
    if let Some(bench) = Bench::unprivileged() {
        let (code, verdict) =
            bench.verdict("--time-limit 4 --fault-interval 1s --faults partition");
        assert!(code == 0 || code == 2, "{:#}", verdict["anomalies"]);
        assert!(
            count(&verdict, "faults") > 0 && count(&verdict, "acked") > 0,
            "{verdict:#}"
        );
    }
}

#[test]
fn plain_processes_on_loopback_know_kill_and_pause() {
    let bench = Bench::new();
    let line = "--where local --time-limit 5 --fault-interval 1s --seed 2";
    let (code, verdict) = bench.verdict(line);
    assert!(code == 0 || code == 2, "{:#}", verdict["anomalies"]);
    assert!(count(&verdict, "faults") > 0, "{verdict:#}");
}

#[test]
fn a_run_leaves_every_file_that_it_promises() {
    let bench = Bench::new();
    bench.verdict("--time-limit 2 --faults none --seed 3");
    let latest = bench.results().join("latest");
    for name in [
        "test.json",
        "history.jsonl.zst",
        "verdict.json",
        "report.html",
        "report.md",
        "junit.xml",
        "lost.csv",
        "nodes/n1/broker.log",
        "nodes/n3/broker.log",
    ] {
        assert!(latest.join(name).exists(), "{name} is missing");
    }
    let again = bench.run("check results/latest/history.jsonl.zst");
    assert_eq!(
        again.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
}

#[test]
fn idempotent_retries_make_no_duplicates() {
    let bench = Bench::new();
    let line = format!("{SHORT} --idempotent --retries 5 --fault-target leader --seed 4");
    let (_, verdict) = bench.verdict(&line);
    assert_eq!(
        count(&verdict, "duplicates"),
        0,
        "{:#}",
        verdict["anomalies"]
    );
    assert_ne!(verdict["valid"], false, "{:#}", verdict["anomalies"]);
}

#[test]
fn compare_gives_one_cell_for_each_combination() {
    let bench = Bench::new();
    let output = bench.run(
        "compare --acks 1 --acks all --runs 2 --time-limit 4 --fault-interval 1s --format json \
         --fault-target leader --faults kill",
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let table: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
    let cells = table["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2, "{said}");
    for cell in cells {
        assert_eq!(cell["runs"], 2, "{said}");
        assert!(cell["acked"].as_u64() > Some(0), "{cell:#}");
    }
    assert_eq!(cells[1]["lost_acked"], 0, "acks=all loses nothing: {said}");
}

#[test]
fn a_comparison_that_was_cut_short_goes_on_and_leaves_its_files() {
    let bench = Bench::new();
    let line = "compare --acks 1 --acks 0 --runs 1 --time-limit 2 --faults none --out kept";
    let output = bench.run(line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let kept = bench.path().join("kept");
    for name in ["compare.html", "compare.md", "compare.csv", "compare.json"] {
        assert!(kept.join(name).exists(), "{name} is missing: {said}");
    }
    // As a kill -9 leaves it: one run is whole, the next is torn.
    let runs = kept.join("runs.jsonl");
    let whole = std::fs::read_to_string(&runs).expect("a line a run");
    assert_eq!(whole.lines().count(), 2);
    let first = whole.find('\n').expect("a line") + 1;
    std::fs::write(&runs, &whole[..first + 30]).expect("room");
    let output = bench.run("compare --resume kept");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let again = std::fs::read_to_string(&runs).expect("a line a run");
    assert_eq!(again.lines().count(), 2, "one run was made again: {said}");
    assert!(again.starts_with(&whole[..first]), "the whole run stayed");
    let refused = bench.run("compare --resume kept --acks all");
    assert_eq!(refused.status.code(), Some(64));
    assert_eq!(bench.run(line).status.code(), Some(3), "no overwriting");
}

#[test]
fn the_recovery_story_comes_out_as_it_must() {
    let bench = Bench::new();
    let output = bench.run("scenario isr-recovery");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("m1 m2 m4 m5 m3"), "{said}");
}

#[test]
fn without_clean_elections_the_scenario_loses_what_the_lone_leader_had() {
    let bench = Bench::new();
    let line = "--scenario followers-cut-leader-lost";
    let (_, verdict) = bench.verdict(&format!("{line} --unclean-elections --seed 1"));
    assert!(
        count(&verdict, "lost_acked") > 0,
        "{:#}",
        verdict["anomaly_counts"]
    );
    assert_ne!(verdict["valid"], false, "{:#}", verdict["anomalies"]);
    let (_, verdict) = bench.verdict(&format!("{line} --seed 1"));
    assert_eq!(
        count(&verdict, "lost_acked"),
        0,
        "{:#}",
        verdict["anomalies"]
    );
}

#[test]
fn results_that_cannot_be_kept_are_a_failure_of_the_test_bed() {
    let bench = Bench::new();
    let output = bench.run("test --time-limit 2 --faults none --out /proc/nowhere");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("/proc/nowhere"), "{said}");
}
