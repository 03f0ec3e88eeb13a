//! Findings held against a promise.
//!
//! A finding that the promise does not permit makes a run invalid, whatever
//! else is unknown. Without one, any doubt makes it unknown: silence is no
//! proof. A verdict always carries all findings, permitted or not.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use crate::anomalies::{CHECKERS, not_recovered, stale_read};
use crate::check::Findings;
use crate::consistency::Consistency;
use crate::finding::Finding;
use crate::measures::Measures;
use crate::promise::Promise;

/// Findings that are kept in a verdict's JSON; all of them are counted.
const ANOMALIES_IN_JSON: usize = 5_000;

/// Whether the run kept its promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validity {
    /// It did, and everything was looked at.
    Valid,
    /// It did not.
    Invalid,
    /// It cannot be told.
    Unknown,
}

impl Serialize for Validity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Validity::Valid => serializer.serialize_bool(true),
            Validity::Invalid => serializer.serialize_bool(false),
            Validity::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

/// A finding with what the promise says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// The anomaly's name, under the key that all models share.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The sentence, under the key that all models share.
    pub message: String,
    /// Whether the settings permit it.
    pub permitted: bool,
    /// Why, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// One anomaly that was looked for, found or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LookedFor {
    /// Its name.
    pub anomaly: &'static str,
    /// What it is.
    pub definition: &'static str,
    /// How often it was found.
    pub found: u64,
    /// How many of those the promise does not permit.
    pub violations: u64,
}

/// verdict.json.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The answer.
    pub valid: Validity,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Anomalies that were seen and are permitted.
    pub permitted: Vec<&'static str>,
    /// Anomalies that were seen and are not.
    pub violations: Vec<&'static str>,
    /// All anomalies, permitted or not.
    pub anomaly_counts: BTreeMap<&'static str, u64>,
    /// The findings, violations first.
    #[serde(serialize_with = "head_of")]
    pub anomalies: Vec<Judged>,
    /// Findings that are counted but left out of `anomalies`.
    pub anomalies_omitted: u64,
    /// The strongest consistency level that was not refuted.
    #[serde(flatten)]
    pub consistency: Consistency,
    /// Counts under the names that all models share.
    pub counts: BTreeMap<&'static str, u64>,
    /// Numbers of the run.
    #[serde(flatten)]
    pub measures: Measures,
    /// Fields that stay empty, and why is said elsewhere: the run was judged as a stream.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<&'static str>,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Folder of the run.
    pub run: Option<String>,
    /// Command that repeats it.
    pub replay: Option<String>,
    /// What it was held against.
    pub promise: Promise,
    /// Everything that was looked for.
    pub looked_for: Vec<LookedFor>,
}

fn head_of<S: Serializer>(anomalies: &[Judged], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(anomalies.iter().take(ANOMALIES_IN_JSON))
}

/// Holds findings against a promise.
pub fn judge(findings: Findings, promise: &Promise) -> Verdict {
    let mut judged: Vec<Judged> = findings
        .findings
        .into_iter()
        .map(|finding| hold(finding, promise))
        .collect();
    // The sort is stable: within each half the order of the checkers stays.
    judged.sort_by_key(|one| one.permitted);
    let violated = judged.iter().any(is_violation);
    let (valid, reason) = match (violated, findings.doubts.is_empty()) {
        (true, _) => (Validity::Invalid, None),
        (false, true) => (Validity::Valid, None),
        (false, false) => (Validity::Unknown, Some(findings.doubts.join("; "))),
    };
    let named = |keep: fn(&Judged) -> bool| -> Vec<&'static str> {
        let names = judged.iter().filter(|one| keep(one));
        let names: BTreeSet<_> = names.map(|one| one.finding.anomaly).collect();
        names.into_iter().collect()
    };
    Verdict {
        valid,
        reason,
        permitted: named(|one| one.permitted),
        violations: named(is_violation),
        anomaly_counts: count(&judged),
        looked_for: looked_for(&judged, promise),
        counts: shared_counts(&findings.measures, &judged),
        consistency: findings.consistency,
        anomalies_omitted: judged.len().saturating_sub(ANOMALIES_IN_JSON) as u64,
        anomalies: judged,
        measures: findings.measures,
        unmeasured: Vec::new(),
        seed: findings.seed,
        run: None,
        replay: None,
        promise: promise.clone(),
    }
}

/// `not-recovered` leaves a run unknown; it disproves nothing.
fn is_violation(judged: &Judged) -> bool {
    !judged.permitted && judged.finding.anomaly != not_recovered::NAME
}

fn hold(finding: Finding, promise: &Promise) -> Judged {
    let price = promise.permits(finding.anomaly, finding.scope);
    Judged {
        permitted: price.is_some(),
        because: price.map(str::to_owned),
        kind: finding.anomaly,
        message: finding.sentence.clone(),
        finding,
    }
}

fn count(judged: &[Judged]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for one in judged {
        *counts.entry(one.finding.anomaly).or_insert(0) += 1;
    }
    counts
}

/// What other models count under these names, as far as a log has it.
fn shared_counts(measures: &Measures, judged: &[Judged]) -> BTreeMap<&'static str, u64> {
    let phantoms = judged
        .iter()
        .filter(|one| one.finding.anomaly == "phantom-read");
    BTreeMap::from([
        ("attempt_count", measures.attempted),
        ("acknowledged_count", measures.acked),
        ("fail_count", measures.failed),
        ("info_count", measures.indeterminate),
        ("lost_count", measures.lost_acked),
        ("duplicated_count", measures.duplicates),
        ("unexpected_count", phantoms.count() as u64),
        ("recovered_count", measures.unacked_but_present),
        ("unverified_count", measures.unverified),
        ("stale_count", measures.stale_reads),
        ("read_count", measures.reads),
    ])
}

fn looked_for(judged: &[Judged], promise: &Promise) -> Vec<LookedFor> {
    // What is only measured under this promise was not looked for.
    let accused = |anomaly: &str| match anomaly {
        stale_read::NAME | "monotonic-reads" | "read-your-writes" => promise.linearizable_reads,
        "never-converged" => promise.eventual,
        _ => true,
    };
    let tally = |anomaly: &str, keep: fn(&Judged) -> bool| {
        let of = judged.iter().filter(|one| one.finding.anomaly == anomaly);
        of.filter(|one| keep(one)).count() as u64
    };
    CHECKERS
        .iter()
        .filter(|checker| accused(checker.anomaly))
        .map(|checker| LookedFor {
            anomaly: checker.anomaly,
            definition: checker.definition,
            found: tally(checker.anomaly, |_| true),
            violations: tally(checker.anomaly, is_violation),
        })
        .collect()
}
