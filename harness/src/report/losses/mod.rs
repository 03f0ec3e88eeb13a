//! The loss report: what was lost, at which stage and under which fault, who could not write or read
//! for how long, how each fault was got over, and what the run has to say to the questions that people
//! ask.
//!
//! Derived from the history, the verdict and, where somebody looked, the nodes' disks. What the run
//! does not bear out is said to be unknown.

mod never_came;
mod questions;
mod recovery;
mod resolve;
mod rows;
mod sightings;
mod spread;
mod stage;
mod succession;

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::history::History;
use plimsoll_checkers::{PROOF_MARGIN_NS, Verdict};
use serde::Serialize;

use crate::evidence::DiskEvidence;

pub use never_came::NeverCame;
pub use questions::Answer;
pub use recovery::{KindOfFault, Recovery};
pub use resolve::{LastSeen, Resolved};
pub use rows::{csv_field, lost_csv};
pub use spread::{Spread, in_words};
pub use stage::{Loss, Stage, fault_of};

use recovery::{by_kind, recoveries};
use sightings::Sightings;
use succession::Succession;

/// Everything that the reports say beyond the verdict.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LossReport {
    /// Whether the sends asked for answers; with acks=0 neither losses of acknowledged records nor
    /// outages of writes can be measured.
    pub writes_measurable: bool,
    /// Lost records by stage.
    pub stages: BTreeMap<Stage, u64>,
    /// One for each of the verdict's `lost`, in its order.
    pub losses: Vec<Loss>,
    /// Losses that were acknowledged while a fault was on, just before one was proved to hold, just after
    /// one was healed, and at other times.
    pub lost_under_faults: u64,
    pub lost_just_before_faults: u64,
    pub lost_just_after_faults: u64,
    pub lost_otherwise: u64,
    /// How long before a fault's proof, or after its heal, is just before or after.
    pub margin_ms: u64,
    /// The smallest in-sync set that a leader was seen with.
    pub smallest_isr: Option<usize>,
    pub recoveries: Vec<Recovery>,
    pub by_kind: Vec<KindOfFault>,
    /// Kinds of fault that were asked for and never took hold.
    pub never_came: Vec<NeverCame>,
    /// What the nodes' disks say, where they were read; the verdict does not rest on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolved>,
    pub questions: Vec<Answer>,
}

impl LossReport {
    pub fn new(history: &History, verdict: &Verdict, disk: Option<&DiskEvidence>) -> Self {
        let sightings = Sightings::of(history);
        let succession = disk.map(Succession::of);
        let measures = &verdict.measures;
        let begun_ns = begun_ns(history, verdict);
        let stage = |record: &plimsoll_checkers::LostRecord| {
            let begun_ns = begun_ns.get(&record.op).copied();
            let told = stage::stage_of(record, begun_ns.unwrap_or(0), &sightings, verdict);
            let by_disks = || succession.as_ref().and_then(|disks| disks.told(record));
            match told.stage {
                Stage::Unknown => by_disks().unwrap_or(told),
                _ => told,
            }
        };
        let losses: Vec<Loss> = measures.lost.iter().map(stage).collect();
        let mut stages = BTreeMap::new();
        for loss in &losses {
            *stages.entry(loss.stage).or_insert(0) += 1;
        }
        let count = |keep: fn(&plimsoll_checkers::LostRecord) -> bool| {
            measures.lost.iter().filter(|record| keep(record)).count() as u64
        };
        let recoveries = recoveries(history, &sightings, verdict);
        let mut report = Self {
            writes_measurable: measures.unacknowledged == 0,
            stages,
            losses,
            lost_under_faults: count(|record| !record.faults.is_empty()),
            lost_just_before_faults: count(|record| record.before_fault.is_some()),
            lost_just_after_faults: count(|record| record.after_fault.is_some()),
            lost_otherwise: count(|record| {
                let near = record.before_fault.or(record.after_fault);
                record.faults.is_empty() && near.is_none()
            }),
            margin_ms: PROOF_MARGIN_NS / 1_000_000,
            smallest_isr: sightings.smallest_in_sync(),
            by_kind: by_kind(&recoveries),
            never_came: never_came::never_came(history, verdict),
            recoveries,
            resolved: disk.map(|disk| resolve::resolve(history, verdict, disk)),
            questions: Vec::new(),
        };
        report.questions = questions::answers(verdict, &report);
        report
    }
}

/// When the sends of the lost records began, by the index of their acknowledgement.
fn begun_ns(history: &History, verdict: &Verdict) -> BTreeMap<u64, u64> {
    let lost: BTreeSet<u64> = verdict.measures.lost.iter().map(|one| one.op).collect();
    let ops = history.ops();
    let acks = ops.iter().enumerate();
    let acks = acks.filter(|(_, op)| lost.contains(&op.index));
    acks.filter_map(|(position, op)| {
        let invoke = ops.get(history.partner(position)?)?;
        Some((op.index, invoke.time))
    })
    .collect()
}

#[cfg(test)]
mod tests;
