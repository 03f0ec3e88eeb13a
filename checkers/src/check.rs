//! From a history to everything that was found in it.

use crate::anomalies::CHECKERS;
use crate::consistency::{self, Consistency};
use crate::facts::Facts;
use crate::finding::{Finding, Found};
use crate::history::History;
use crate::measures::{Measures, measure};

/// The doubt of a run that somebody stopped, for whoever knows more about it.
pub const STOPPED_EARLY: &str = "the run was stopped before its time";

/// What all checkers found, not yet held against a promise.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Proved anomalies.
    pub findings: Vec<Finding>,
    /// The strongest level that was not refuted.
    pub consistency: Consistency,
    /// Numbers of the run.
    pub measures: Measures,
    /// Why it cannot be told that nothing is wrong, sentence by sentence.
    pub doubts: Vec<String>,
    /// Seed of the run, where the history says it.
    pub seed: Option<u64>,
}

/// Looks for every anomaly.
pub fn check(history: &History) -> Findings {
    let facts = Facts::new(history);
    let mut found = Found::default();
    for checker in &CHECKERS {
        checker.run(&facts, &mut found);
    }
    let mut measures = measure(&facts);
    let duplicates = found.findings.iter().filter(|f| f.anomaly == "duplicate");
    measures.duplicates = duplicates.count() as u64;
    let mut doubts = doubts(&facts, &measures);
    if !found.unproved.is_empty() {
        let (count, mut names) = (found.unproved.len(), found.unproved);
        names.sort_unstable();
        names.dedup();
        doubts.push(format!(
            "{count} findings ({}) did not stand the test of their witnesses; that is a bug of the checker",
            names.join(", ")
        ));
    }
    Findings {
        consistency: consistency::measure(&facts, &found.findings),
        findings: found.findings,
        doubts,
        measures,
        seed: history.header().map(|header| header.seed),
    }
}

fn doubts(facts: &Facts<'_>, measures: &Measures) -> Vec<String> {
    let mut doubts = Vec::new();
    if measures.attempted + measures.reads == 0 {
        doubts.push("the history holds no send and no read of a log".to_owned());
    } else if measures.acked == 0 && !shows_unacknowledged(facts) {
        doubts.push("nothing was acknowledged, so nothing was put to the test".to_owned());
    }
    if facts.nemesis_ops().any(|op| op.f == "stopped") {
        doubts.push(STOPPED_EARLY.to_owned());
    }
    if let Some(settled) = facts.settled.as_ref().filter(|settled| !settled.settled) {
        doubts.push(format!(
            "not recovered at the settle limit: {}",
            settled.unsettled.join(", ")
        ));
    }
    if facts.has_final_reads {
        doubts.extend(unread(facts));
    } else if facts.history.header().is_some() && measures.attempted > 0 {
        doubts.push("the run ended before its final reads".to_owned());
    }
    if measures.unverified > 0 {
        doubts.push(format!(
            "{} acknowledged records were read by nobody",
            measures.unverified
        ));
    }
    doubts
}

/// With acks=0 nothing is acknowledged; that something was kept is a test too.
fn shows_unacknowledged(facts: &Facts<'_>) -> bool {
    let mut sends = facts
        .partitions
        .iter()
        .flat_map(|partition| &partition.sends);
    sends.any(|send| send.acks == Some(0) && !send.barrier && send.read_at.is_some())
}

/// Partitions and replicas that were not read to the barrier.
fn unread(facts: &Facts<'_>) -> Vec<String> {
    let mut unread = Vec::new();
    for partition in &facts.partitions {
        if partition.sends.iter().all(|send| send.barrier) {
            continue;
        }
        let complete = partition.complete_finals().count();
        let expected = partition.replication_factor.unwrap_or(1);
        if partition.barrier.is_none() {
            unread.push(format!("{} has no acknowledged barrier", partition.key));
        } else if complete == 0 {
            unread.push(format!("{} was not read to its barrier", partition.key));
        } else if let Some(offset) = partition.stepped_over() {
            unread.push(format!(
                "a final read of {} began after offset {offset} and did not cover it, and a record is known to have stood there",
                partition.key
            ));
        } else if complete < expected {
            unread.push(format!(
                "only {complete} of {expected} replicas of {} were read to its barrier",
                partition.key
            ));
        }
    }
    unread
}
