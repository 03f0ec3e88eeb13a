//! The strongest consistency level that a run's log did not refute.
//!
//! Linearizable, sequential, the session guarantees, eventual, none. It is measured whatever was
//! promised: here a read stands where its high watermark says (`lo = hi = 2*hw`), so a read that
//! misses what had been acknowledged refutes linearizability, though no log that is replicated by
//! fetching promises against it. Structural anomalies (a lost record, two values at one offset, ...)
//! refute everything but convergence.

mod linearizable;
mod sequential;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::anomalies::{Guarantee, session_pairs};
use crate::facts::Facts;
use crate::finding::Finding;
use crate::models::Level;

/// Anomalies that no order of the ops explains.
const STRUCTURAL: [&str; 11] = [
    "lost-write",
    "vanished-read",
    "phantom-read",
    "G1a",
    "divergent-replicas",
    "never-converged",
    "inconsistent-offsets",
    "poll-skip",
    "int-poll-skip",
    "int-nonmonotonic-poll",
    "int-nonmonotonic-send",
];

/// What the run did not refute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consistency {
    /// The strongest level that was not refuted.
    pub level: Level,
    /// Reads that could have refuted it; without any the level is unknown.
    pub refutable_reads: u64,
    /// Whether each guarantee held for every client.
    pub session_guarantees: BTreeMap<&'static str, bool>,
    /// From the end of the last fault until every replica agreed, in milliseconds, where that was
    /// tried.
    pub convergence_ms: Option<u64>,
}

pub(crate) fn measure(facts: &Facts<'_>, findings: &[Finding]) -> Consistency {
    let refutable_reads = refutable_reads(facts);
    let structural = findings
        .iter()
        .any(|finding| STRUCTURAL.contains(&finding.anomaly));
    let session_guarantees = guarantees(facts);
    let convergence_ms = convergence_ms(facts);
    let level = if refutable_reads == 0 {
        Level::Unknown
    } else if structural {
        after_sessions(convergence_ms, findings)
    } else if facts.partitions.iter().all(linearizable::holds) {
        Level::Linearizable
    } else if session_guarantees.values().all(|held| *held) && sequential::holds(facts) {
        Level::Sequential
    } else {
        let held = session_guarantees.iter().filter(|(_, held)| **held);
        let held: Vec<&'static str> = held.map(|(name, _)| *name).collect();
        match held.is_empty() {
            true => after_sessions(convergence_ms, findings),
            false => Level::Sessions(held),
        }
    };
    Consistency {
        level,
        refutable_reads,
        session_guarantees,
        convergence_ms,
    }
}

fn after_sessions(convergence_ms: Option<u64>, findings: &[Finding]) -> Level {
    let disagree = |finding: &Finding| {
        matches!(
            finding.anomaly,
            "divergent-replicas" | "never-converged" | "not-recovered"
        )
    };
    match convergence_ms.is_some() && !findings.iter().any(disagree) {
        true => Level::Eventual,
        false => Level::None,
    }
}

/// Consumers' reads that say how far they could see, or show anything.
fn refutable_reads(facts: &Facts<'_>) -> u64 {
    let reads = facts
        .partitions
        .iter()
        .flat_map(|partition| &partition.reads);
    let could = reads.filter(|read| {
        let sees = read.info.is_some_and(|info| info.hw >= 0);
        read.ok && !read.is_final && (sees || !read.records.is_empty())
    });
    could.count() as u64
}

fn guarantees(facts: &Facts<'_>) -> BTreeMap<&'static str, bool> {
    let mut held: BTreeMap<&'static str, bool> = Guarantee::ALL
        .iter()
        .map(|one| (one.name(), true))
        .collect();
    for partition in &facts.partitions {
        for pair in session_pairs(facts, partition, true) {
            held.insert(pair.guarantee.name(), false);
        }
    }
    held
}

/// From the last fault's end (or the run's phase of healing) to the word that all is settled.
fn convergence_ms(facts: &Facts<'_>) -> Option<u64> {
    let settled = facts.settled.as_ref().filter(|settled| settled.settled)?;
    let healed = facts.windows.iter().filter_map(|window| window.to_ns).max();
    let settled_ns = facts.op(settled.position).time;
    let from = healed
        .filter(|&healed| healed <= settled_ns)
        .unwrap_or(settled_ns);
    Some((settled_ns - from) / 1_000_000)
}
