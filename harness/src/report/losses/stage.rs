//! At which stage a lost record was lost, as far as the run bears it out.
//!
//! The monitor saw log ends a few times a second only, so most of what is said here rests on two facts: a
//! replica's log only grows while its leader's epoch lasts, and a leader that is dead or cut off gives
//! nothing out any more. Where neither decides, the stage is unknown.

use std::ops::Range;

use plimsoll_checkers::{FaultWindow, LostRecord, Verdict};
use serde::Serialize;

use super::sightings::{Sighting, Sightings};

/// Where on its way a record was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Only the node that acknowledged it ever had it.
    NeverReplicated,
    /// A leader that was elected later did not have it; whether another replica did is not known.
    #[serde(rename = "not-on-a-later-leader")]
    NotOnLaterLeader,
    /// Another replica had it, and a fail-over removed it all the same.
    TruncatedAtFailOver,
    /// A disk that had it was damaged or wiped.
    LostWithADisk,
    /// The run does not say.
    Unknown,
}

impl Stage {
    pub fn words(self) -> &'static str {
        match self {
            Stage::NeverReplicated => "never replicated",
            Stage::NotOnLaterLeader => "not on a later leader",
            Stage::TruncatedAtFailOver => "truncated at fail-over",
            Stage::LostWithADisk => "lost with a disk",
            Stage::Unknown => "unknown",
        }
    }

    /// The name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Stage::NeverReplicated => "never-replicated",
            Stage::NotOnLaterLeader => "not-on-a-later-leader",
            Stage::TruncatedAtFailOver => "truncated-at-fail-over",
            Stage::LostWithADisk => "lost-with-a-disk",
            Stage::Unknown => "unknown",
        }
    }
}

/// The stage, and what shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    pub stage: Stage,
    /// In words; empty where nothing is known.
    pub shown_by: String,
}

/// The stage of one lost record.
pub fn stage_of(
    record: &LostRecord,
    begun_ns: u64,
    sightings: &Sightings,
    verdict: &Verdict,
) -> Loss {
    let fault = fault_of(record, verdict);
    if let Some(fault) = fault.filter(|fault| concerns_disks(&fault.fault)) {
        return Loss {
            stage: Stage::LostWithADisk,
            shown_by: format!("the {} of {}", fault.fault, fault.targets.join(", ")),
        };
    }
    told_by_logs(record, begun_ns, sightings, fault).unwrap_or(Loss {
        stage: Stage::Unknown,
        shown_by: String::new(),
    })
}

fn concerns_disks(fault: &str) -> bool {
    fault.starts_with("wipe") || fault.contains("disk") || fault.contains("unsynced")
}

/// The fault that a loss is put down to: one that was on and hit its leader, or else any that was on,
/// or else the one that was proved to hold next, or had just been healed.
pub fn fault_of<'v>(record: &LostRecord, verdict: &'v Verdict) -> Option<&'v FaultWindow> {
    let windows = || verdict.measures.fault_windows.iter().map(|one| &one.window);
    let on = |window: &&FaultWindow| record.faults.contains(&window.id);
    let hits = |window: &&FaultWindow| {
        let node = record.node.as_ref();
        node.is_some_and(|node| window.targets.contains(node))
    };
    windows()
        .filter(on)
        .find(hits)
        .or_else(|| windows().find(on))
        .or_else(|| windows().find(|window| Some(window.id) == record.before_fault))
        .or_else(|| windows().find(|window| Some(window.id) == record.after_fault))
}

fn told_by_logs(
    record: &LostRecord,
    begun_ns: u64,
    sightings: &Sightings,
    fault: Option<&FaultWindow>,
) -> Option<Loss> {
    let (node, offset) = (record.node.as_deref()?, record.offset?);
    let seen = sightings.at(&record.key);
    let epoch = sightings.epoch_led(&record.key, node, record.acked_ns)?;
    if let Some(holder) = sightings.follower_past(&record.key, epoch, offset, node) {
        return Some(Loss {
            stage: Stage::TruncatedAtFailOver,
            shown_by: format!("{holder} had followed beyond offset {offset} in epoch {epoch}"),
        });
    }
    // Meanwhile the leader gave nothing out.
    let silenced = fault.filter(|fault| silences(fault, node));
    let silent_ns = silenced.map_or(0..0, |fault| fault.from_ns..fault.to_ns.unwrap_or(u64::MAX));
    let place = Place {
        epoch,
        offset,
        begun_ns,
        silent_ns,
    };
    let others: Vec<&str> = sightings
        .replicas(&record.key)
        .filter(|other| *other != node)
        .collect();
    let lacked = |other: &&str| place.was_lacked_by(seen, other);
    (!others.is_empty() && others.iter().all(lacked)).then(|| Loss {
        stage: Stage::NeverReplicated,
        shown_by: format!(
            "the logs of {} ended at or before offset {offset} when {node} could no longer give them anything",
            others.join(" and ")
        ),
    })
}

/// Whether a node under this fault gives nothing to any follower: a cut that leaves it one neighbour,
/// or one of other traffic than replication, does not tell.
fn silences(fault: &FaultWindow, node: &str) -> bool {
    let whole = match fault.fault.as_str() {
        "kill" | "shutdown" | "pause" => true,
        "partition" => {
            let other_plane = [" client plane", " controller plane"];
            fault.detail.starts_with("isolate-")
                && !other_plane.iter().any(|plane| fault.detail.contains(plane))
        }
        _ => false,
    };
    whole && fault.targets.iter().any(|target| target == node)
}

/// Where a record stood, and when.
struct Place {
    epoch: i64,
    offset: i64,
    /// When its send began; before that nobody had it.
    begun_ns: u64,
    /// While its leader could give it to nobody.
    silent_ns: Range<u64>,
}

impl Place {
    /// A replica whose log was seen to end before the record at a moment after which it could not get
    /// it any more: its leader was silent until the replica had gone over to a later epoch; or the
    /// replica had gone over before the record was sent; or it leads a later epoch, since a leader's
    /// log only grows.
    fn was_lacked_by(&self, seen: &[Sighting], node: &str) -> bool {
        let of_node = || seen.iter().filter(|one| one.node == node);
        let went_over =
            of_node().any(|one| one.epoch > self.epoch && self.silent_ns.contains(&one.time_ns));
        let too_late = |one: &Sighting| match one.epoch > self.epoch {
            true => one.leads || one.time_ns <= self.begun_ns,
            // What was heard in the silence counts only if it was also asked in it.
            false => {
                let heard = self.silent_ns.contains(&one.time_ns);
                went_over && heard && self.silent_ns.contains(&one.asked_ns)
            }
        };
        of_node()
            .filter(|one| (0..=self.offset).contains(&one.end))
            .any(too_late)
    }
}
