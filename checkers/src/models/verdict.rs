//! The answer for a model, in one shape for all of them.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::Model;
use crate::verdict::Validity;

/// The strongest consistency level that was not refuted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Level {
    /// One order that real time allows explains every op.
    Linearizable,
    /// One order that each process's own order allows does.
    Sequential,
    /// Only these session guarantees hold.
    Sessions(Vec<&'static str>),
    /// After writes ceased, reads agreed.
    Eventual,
    /// Nothing of the above.
    None,
    /// No read could have refuted any, or it was not found out.
    Unknown,
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Level::Linearizable => serializer.serialize_str("linearizable"),
            Level::Sequential => serializer.serialize_str("sequential"),
            Level::Sessions(names) => serializer.serialize_str(&names.join("+")),
            Level::Eventual => serializer.serialize_str("eventual"),
            Level::None => serializer.serialize_str("none"),
            Level::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

/// One proved anomaly of an object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Anomaly {
    /// Its name.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The key in question, where a history has several.
    pub key: Option<String>,
    /// Indices of the fewest ops that prove it.
    pub ops: Vec<u64>,
    /// Time of the op that was wronged, for drawing.
    pub time_ns: u64,
    /// For a person.
    pub message: String,
    /// What else is known: the earliest violating op, the longest linearizable prefix, values.
    #[serde(flatten)]
    pub details: BTreeMap<&'static str, Json>,
}

/// What a judgement says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelVerdict {
    /// The answer.
    pub valid: Validity,
    /// Why it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// As what it was judged.
    pub model: Model,
    /// The strongest level that was not refuted.
    pub level: Level,
    /// Reads that could have refuted it.
    pub refutable_reads: u64,
    /// Anomalies by name.
    pub anomaly_counts: BTreeMap<&'static str, u64>,
    /// Each with its proof.
    pub anomalies: Vec<Anomaly>,
    /// Numbers, each ending in `_count`.
    pub counts: BTreeMap<&'static str, u64>,
    /// Jepsen's other result fields for this model, such as `lost` or `reads`.
    #[serde(flatten)]
    pub details: BTreeMap<&'static str, Json>,
}

impl ModelVerdict {
    /// A valid verdict without numbers.
    pub(crate) fn valid(model: Model) -> Self {
        Self {
            valid: Validity::Valid,
            reason: None,
            model,
            level: Level::Unknown,
            refutable_reads: 0,
            anomaly_counts: BTreeMap::new(),
            anomalies: Vec::new(),
            counts: BTreeMap::new(),
            details: BTreeMap::new(),
        }
    }

    /// Adds a proved anomaly, which makes the verdict invalid.
    pub(crate) fn accuse(&mut self, anomaly: Anomaly) {
        self.valid = Validity::Invalid;
        self.reason = None;
        *self.anomaly_counts.entry(anomaly.kind).or_insert(0) += 1;
        self.anomalies.push(anomaly);
    }

    /// Says that it cannot be told, unless something was disproved already.
    pub(crate) fn doubt(&mut self, reason: impl Into<String>) {
        if self.valid != Validity::Invalid {
            self.valid = Validity::Unknown;
            self.reason.get_or_insert(reason.into());
        }
    }
}
