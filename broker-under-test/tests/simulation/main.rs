//! The core under seeded schedules of crashes, cuts, delays and lost unsynced writes, in virtual
//! time, held against what replication promises. Every seed replays exactly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cluster;
mod disk;
mod invariants;

use cluster::{Cluster, Plan};
use plimsoll_broker::core::bugs::{Bug, Bugs};

/// Schedules over all tests of this file: thousands, in a debug build, within minutes.
const SEEDS: u64 = 2_000;

fn survives(seed: u64, plan: Plan) -> Result<usize, String> {
    let mut cluster = Cluster::new(seed, plan);
    cluster.run()
}

fn all_survive(seeds: std::ops::Range<u64>, plan: impl Fn(u64) -> Plan) {
    let mut acked = 0;
    let count = seeds.end - seeds.start;
    for seed in seeds {
        match survives(seed, plan(seed)) {
            Ok(sends) => acked += sends,
            Err(violation) => panic!("seed {seed}: {violation}"),
        }
    }
    // A schedule may cut every node off from the start; all of them together must show something.
    assert!(
        acked as u64 > 20 * count,
        "only {acked} sends were acknowledged in {count} schedules"
    );
}

fn plan(seed: u64) -> Plan {
    Plan {
        flush_every_batch: seed.is_multiple_of(2),
        min_insync_replicas: 1 + i32::try_from(seed / 2 % 2).unwrap(),
        bugs: Bugs::default(),
    }
}

#[test]
fn committed_records_stay_under_crashes_cuts_and_delays_first_half() {
    all_survive(0..SEEDS / 2, plan);
}

#[test]
fn committed_records_stay_under_crashes_cuts_and_delays_second_half() {
    all_survive(SEEDS / 2..SEEDS, plan);
}

#[test]
fn the_same_seed_takes_the_same_steps() {
    let trace = |seed| {
        let mut cluster = Cluster::new(seed, plan(seed));
        let outcome = cluster.run();
        (outcome, cluster.trace())
    };
    for seed in 0..5 {
        assert_eq!(trace(seed), trace(seed));
    }
}

#[test]
fn a_topic_that_was_deleted_while_a_node_was_down_and_created_again_has_no_old_records() {
    for seed in 0..100 {
        let mut cluster = Cluster::new(seed, plan(seed));
        if let Err(violation) = cluster.delete_and_create_while_a_node_is_down() {
            panic!("seed {seed}: {violation}");
        }
    }
}

fn finds(bug: Bug) -> usize {
    let with_bug = |seed| Plan {
        bugs: Bugs::new(vec![bug]),
        ..plan(seed)
    };
    (0..100)
        .filter(|seed| survives(*seed, with_bug(*seed)).is_err())
        .count()
}

#[test]
fn finds_acks_that_do_not_wait_for_the_isr() {
    let found = finds(Bug::AckAllOnLocalAppend);
    assert!(found >= 30, "found in {found} of 100 seeds");
}

#[test]
fn finds_a_leader_that_ignores_its_deposition() {
    // Most schedules never depose a leader that is alive, or restart it before the heal.
    let found = finds(Bug::IgnoresDeposition);
    assert!(found >= 8, "found in {found} of 100 seeds");
}

#[test]
fn finds_reads_above_the_high_watermark() {
    let found = finds(Bug::ReadAboveHw);
    assert!(found >= 80, "found in {found} of 100 seeds");
}

#[test]
fn finds_a_leader_that_commits_with_an_isr_that_is_not_confirmed() {
    let found = finds(Bug::ShrinkBeforeConfirm);
    assert!(found >= 10, "found in {found} of 100 seeds");
}

#[test]
fn finds_a_follower_that_truncates_to_its_high_watermark() {
    // It takes two moves of leadership, or a crash, before a lagging replica has caught up.
    let found = finds(Bug::TruncateToHw);
    assert!(found >= 6, "found in {found} of 100 seeds");
}
