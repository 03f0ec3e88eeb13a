//! What a stream says.

use std::collections::BTreeMap;

use crate::check::Findings;
use crate::consistency::Consistency;
use crate::history::Header;
use crate::measures::Measures;
use crate::models::Level;

/// Something that the whole history has to explain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspicion {
    /// The anomaly's name, unless the stream could not go on for another reason.
    pub anomaly: Option<&'static str>,
    /// Partition.
    pub key: String,
    /// Index of the op at which it showed.
    pub op: u64,
    /// For a person.
    pub sentence: String,
}

/// What a stream says at its end.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// What the whole history has to explain; nothing: no anomaly is in it, and its end is known.
    pub suspicions: Vec<Suspicion>,
    /// Numbers that could be counted meanwhile.
    pub measures: Measures,
    /// Linearizable where no read refuted it, else unknown.
    pub level: Level,
    /// Reads that could have refuted it.
    pub refutable_reads: u64,
    /// What the recorder said about the run.
    pub header: Option<Header>,
}

impl Streamed {
    /// What the whole would have found, where there is nothing to explain.
    pub fn findings(self) -> Result<Findings, Vec<Suspicion>> {
        if !self.suspicions.is_empty() {
            return Err(self.suspicions);
        }
        Ok(Findings {
            findings: Vec::new(),
            consistency: Consistency {
                level: self.level,
                refutable_reads: self.refutable_reads,
                session_guarantees: BTreeMap::new(),
                convergence_ms: None,
            },
            measures: self.measures,
            doubts: Vec::new(),
            seed: self.header.map(|header| header.seed),
        })
    }
}
