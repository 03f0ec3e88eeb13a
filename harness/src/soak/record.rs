//! One run of a soak as a line of `soak.jsonl`: all that is kept of a run that
//! passed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    Valid,
    /// Valid, with losses that the settings permit.
    PermittedLoss,
    Invalid,
    Unknown,
    /// The test bed failed; this says nothing about the system.
    TestBed,
}

impl Ending {
    pub fn name(self) -> &'static str {
        match self {
            Ending::Valid => "valid",
            Ending::PermittedLoss => "permitted loss",
            Ending::Invalid => "INVALID",
            Ending::Unknown => "unknown",
            Ending::TestBed => "test bed failed",
        }
    }

    pub fn is_judged(self) -> bool {
        self != Ending::TestBed
    }
}

/// What a canary's run was for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    pub bug: String,
    /// Which of all the soak's canaries.
    pub round: u64,
    /// Counted from 1.
    pub trial: u32,
    pub trials_max: u32,
    pub caught: bool,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number wherever a person meets it: which line of `soak.jsonl` it is, counted from 1, canaries
    /// included.
    #[serde(default)]
    pub nth: u64,
    /// Its number in the plan, from which its cell and its seed follow; that of its round for a canary.
    pub run: u64,
    /// The cell's name, or the canary's.
    pub cell: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<Trial>,
    pub seed: u64,
    pub ending: Ending,
    /// What was found, or why nothing is known, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finding: String,
    /// Violations by anomaly.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub violations: BTreeMap<String, u64>,
    pub attempted: u64,
    pub acked: u64,
    pub lost_acked: u64,
    pub faults: u64,
    /// The longest time without a write, of the worst partition.
    pub writes_unavailable_ms: u64,
    pub wall_ms: u64,
    /// Largest process of the run, and this soak's own.
    pub run_rss_kib: u64,
    pub soak_rss_kib: u64,
    /// What the soak keeps, with this run.
    pub disk_bytes: u64,
    /// Time that the soak has run, all its starts together.
    pub at_ms: u64,
    pub started_utc: String,
    /// Where it is kept, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    pub replay: String,
}

impl Record {
    /// Takes over what the verdict says.
    pub fn take_verdict(&mut self, verdict: &Value) {
        let number = |name: &str| verdict[name].as_u64().unwrap_or(0);
        self.attempted = number("attempted");
        self.acked = number("acked");
        self.lost_acked = number("lost_acked");
        self.faults = number("faults");
        let worst = verdict.pointer("/unavailable/writes/worst_ms");
        self.writes_unavailable_ms = worst.and_then(Value::as_u64).unwrap_or(0);
        self.violations = violations(verdict);
        self.ending = match &verdict["valid"] {
            Value::Bool(true) if self.lost_acked > 0 => Ending::PermittedLoss,
            Value::Bool(true) => Ending::Valid,
            Value::Bool(false) => Ending::Invalid,
            _ => Ending::Unknown,
        };
        self.finding = match self.ending {
            Ending::Invalid => finding(verdict),
            Ending::Unknown => text(&verdict["reason"]),
            _ => String::new(),
        };
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn violations(verdict: &Value) -> BTreeMap<String, u64> {
    let looked_for = verdict["looked_for"].as_array().into_iter().flatten();
    looked_for
        .filter_map(|one| {
            let count = one["violations"].as_u64().filter(|count| *count > 0)?;
            Some((text(&one["anomaly"]), count))
        })
        .collect()
}

/// The sentence of the gravest violation, and how many more there are.
fn finding(verdict: &Value) -> String {
    let listed = verdict["anomalies"].as_array().into_iter().flatten();
    let first = listed
        .filter(|one| one["permitted"] == Value::Bool(false))
        .map(|one| format!("{}: {}", text(&one["type"]), text(&one["message"])))
        .next();
    let count: u64 = violations(verdict).values().sum();
    match (first, count) {
        (None, _) => "a violation".to_owned(),
        (Some(first), 0 | 1) => first,
        (Some(first), count) => format!("{first} (and {} more)", count - 1),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A run that passed.
    pub fn passed(run: u64, cell: &str) -> Record {
        Record {
            nth: run + 1,
            run,
            cell: cell.to_owned(),
            canary: None,
            seed: 100 + run,
            ending: Ending::Valid,
            finding: String::new(),
            violations: BTreeMap::new(),
            attempted: 1000,
            acked: 900,
            lost_acked: 0,
            faults: 2,
            writes_unavailable_ms: 1200,
            wall_ms: 10_000,
            run_rss_kib: 50_000,
            soak_rss_kib: 9_000,
            disk_bytes: 4096,
            at_ms: 10_000 * (run + 1),
            started_utc: "2026-01-01T00:00:00Z".to_owned(),
            folder: None,
            replay: format!("plimsoll test --seed {}", 100 + run),
        }
    }

    #[test]
    fn a_violation_is_told_in_a_sentence_with_its_count() {
        let verdict = json!({ "valid": false, "acked": 7, "lost_acked": 2,
            "unavailable": { "writes": { "worst_ms": 88 } },
            "looked_for": [{ "anomaly": "lost-write", "found": 2, "violations": 2 },
                           { "anomaly": "duplicate", "found": 1, "violations": 0 }],
            "anomalies": [{ "type": "duplicate", "message": "twice", "permitted": true },
                          { "type": "lost-write", "message": "value 5 is gone", "permitted": false }] });
        let mut record = passed(0, "a");
        record.take_verdict(&verdict);
        assert_eq!(record.ending, Ending::Invalid);
        assert_eq!(record.finding, "lost-write: value 5 is gone (and 1 more)");
        assert_eq!(
            record.violations,
            BTreeMap::from([("lost-write".to_owned(), 2)])
        );
        assert_eq!((record.acked, record.writes_unavailable_ms), (7, 88));
    }

    #[test]
    fn a_permitted_loss_is_told_apart_and_unknown_has_its_reason() {
        let mut record = passed(0, "a");
        record.take_verdict(&json!({ "valid": true, "lost_acked": 1 }));
        assert_eq!(record.ending, Ending::PermittedLoss);
        record.take_verdict(&json!({ "valid": "unknown", "reason": "not settled" }));
        assert_eq!(
            (record.ending, record.finding.as_str()),
            (Ending::Unknown, "not settled")
        );
    }

    #[test]
    fn a_record_survives_the_way_through_its_line() {
        let record = passed(3, "a");
        let line = serde_json::to_string(&record).expect("plain data");
        assert_eq!(
            serde_json::from_str::<Record>(&line).expect("its own"),
            record
        );
    }
}
