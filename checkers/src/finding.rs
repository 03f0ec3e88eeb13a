//! What a checker found: the anomaly, its place, its proof, and a sentence.

use serde::{Serialize, Serializer};

use crate::history::words::Shown;
use crate::promise::Scope;

/// One proved anomaly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name, as in the list of what is looked for.
    pub anomaly: &'static str,
    /// Partition.
    pub key: String,
    /// Offset in question, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Values in question.
    #[serde(serialize_with = "as_shown")]
    pub values: Vec<i64>,
    /// Indices of the fewest ops that prove it.
    pub ops: Vec<u64>,
    /// Time of the op that was wronged, for drawing.
    pub time_ns: u64,
    /// For a person.
    pub sentence: String,
    /// What must be permitted for this finding to be.
    #[serde(skip)]
    pub scope: Scope,
}

fn as_shown<S: Serializer>(values: &[i64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| Shown(value)))
}

/// Collects findings, and counts those whose witness did not stand its own
/// test: that is a bug of a checker and makes a verdict `unknown`.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub findings: Vec<Finding>,
    pub unproved: Vec<&'static str>,
}

impl Found {
    /// Keeps `finding` when its witness was verified.
    pub(crate) fn add(&mut self, proved: bool, finding: Finding) {
        if proved {
            self.findings.push(finding);
        } else {
            self.unproved.push(finding.anomaly);
        }
    }
}
