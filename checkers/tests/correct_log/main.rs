//! A log that replicates as Kafka does, under cuts, kills and pauses: whatever
//! it does must not be accused. A false alarm here is a bug of a checker.
//!
//! The model is one partition on three nodes: followers pull, the high
//! watermark is the least log end in the in-sync set, elections are clean, a
//! deposed leader goes on serving until it learns better, and every read comes
//! from any replica up to its own watermark. With a bug switched on the same
//! schedules must be found out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod model;
mod mutations;
mod streams;

use plimsoll_checkers::promise::Acks;
use plimsoll_checkers::{Validity, Verdict, check, judge};

use model::Model;

fn verdict(seed: u64, acks: Acks, bug: bool) -> Verdict {
    let history = Model::new(seed, acks, bug).run(400);
    let promise = history.header().expect("a header").promise.clone();
    judge(check(&history), &promise)
}

#[test]
fn a_correct_log_is_never_accused_under_acks_all() {
    let (mut acked, mut changed) = (0, 0);
    for seed in 0..400 {
        let verdict = verdict(seed, Acks::All, false);
        let why: Vec<_> = verdict
            .anomalies
            .iter()
            .map(|one| &one.finding.sentence)
            .collect();
        if verdict.measures.acked > 0 {
            assert_eq!(
                verdict.valid,
                Validity::Valid,
                "seed {seed}: {why:?} {:?}",
                verdict.reason
            );
        }
        assert!(why.is_empty(), "seed {seed}: {why:?}");
        acked += verdict.measures.acked;
        changed += verdict.measures.indeterminate;
    }
    assert!(
        acked > 5_000 && changed > 300,
        "{acked} acked, {changed} unknown"
    );
}

#[test]
fn a_correct_log_pays_only_the_known_price_under_acks_one() {
    let mut lost = 0;
    for seed in 0..400 {
        let verdict = verdict(seed, Acks::Leader, false);
        let why: Vec<_> = verdict
            .anomalies
            .iter()
            .filter(|one| !one.permitted)
            .map(|one| &one.finding.sentence)
            .collect();
        assert!(why.is_empty(), "seed {seed}: {why:?}");
        lost += verdict.measures.lost_acked;
    }
    assert!(
        lost > 150,
        "only {lost} records lost: the schedules are too kind"
    );
}

#[test]
fn an_answer_before_replication_is_found_out() {
    let found = (0..200).filter(|&seed| verdict(seed, Acks::All, true).valid == Validity::Invalid);
    let found = found.count();
    assert!(found > 60, "found in {found} of 200 schedules");
}
