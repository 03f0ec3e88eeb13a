//! What the disks say of records that the history leaves open. The verdict stays as it is: readers were
//! shown what they were shown.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::{History, Op, OpType, Process};
use serde::Serialize;

use crate::evidence::{DiskEvidence, DiskRecord};

/// Entries of each list; all are counted.
const LISTED: usize = 1_000;

/// The evidence of the disks, held against the history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Resolved {
    /// Nodes whose disks were read.
    pub nodes: Vec<String>,
    /// What could not be read.
    pub unreadable: Vec<String>,
    /// Sends without an answer, by where their records are.
    pub indeterminate: Fates,
    /// Lost records that some disk still holds, and of how many that was asked.
    pub lost_on_some_disk: u64,
    pub lost_on_no_disk: u64,
    /// Where each lost record was last seen, in the order of the verdict's `lost`.
    pub lost_last_seen: Vec<Option<LastSeen>>,
    /// Offsets at which two disks hold different values.
    pub divergent_offsets: u64,
    pub divergent: Vec<Divergent>,
}

/// Records by the disks that hold them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    pub on_every_replica: u64,
    pub on_some: u64,
    pub nowhere: u64,
    /// On no disk that was read, while another was not, or not wholly.
    pub unknown: u64,
}

/// A place on a disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastSeen {
    pub node: String,
    pub offset: i64,
    pub leader_epoch: i32,
}

/// Two disks that differ at one offset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergent {
    pub key: String,
    pub offset: i64,
    pub values: BTreeMap<String, i64>,
}

pub fn resolve(history: &History, verdict: &Verdict, disk: &DiskEvidence) -> Resolved {
    let mut resolved = Resolved {
        nodes: disk.nodes.keys().cloned().collect(),
        unreadable: unreadable(disk),
        ..Resolved::default()
    };
    let index = Index::new(disk);
    for (key, value) in indeterminate(history) {
        let replicas = replicas(history, &key);
        index.count(&key, value, replicas, &mut resolved.indeterminate);
    }
    for record in &verdict.measures.lost {
        let place = index
            .places(&record.key, record.value)
            .first()
            .map(|at| LastSeen {
                node: at.0.to_owned(),
                offset: at.1.offset,
                leader_epoch: at.1.leader_epoch,
            });
        match &place {
            Some(_) => resolved.lost_on_some_disk += 1,
            None => resolved.lost_on_no_disk += 1,
        }
        resolved.lost_last_seen.push(place);
    }
    divergences(disk, &mut resolved);
    resolved
}

fn unreadable(disk: &DiskEvidence) -> Vec<String> {
    let of_node = |(name, node): (&String, &crate::evidence::NodeDisk)| -> Vec<String> {
        let reasons = node.unreadable.iter();
        reasons.map(|reason| format!("{name}: {reason}")).collect()
    };
    disk.nodes.iter().flat_map(of_node).collect()
}

/// Replicas that the header promises, or 0.
fn replicas(history: &History, key: &str) -> usize {
    let topics = history.header().map(|header| &header.topics);
    let topic = topics.and_then(|topics| topics.get(key));
    topic.map_or(0, |topic| usize::from(topic.replication_factor))
}

type Place<'d> = (&'d str, DiskRecord);

/// Where each value stands.
struct Index<'d> {
    places: BTreeMap<&'d str, BTreeMap<i64, Vec<Place<'d>>>>,
    disk: &'d DiskEvidence,
}

impl<'d> Index<'d> {
    fn new(disk: &'d DiskEvidence) -> Self {
        let mut places: BTreeMap<&str, BTreeMap<i64, Vec<Place<'_>>>> = BTreeMap::new();
        for (name, node) in &disk.nodes {
            for (key, records) in &node.partitions {
                let of_key = places.entry(key).or_default();
                for record in records {
                    let at = of_key.entry(record.value).or_default();
                    at.push((name, *record));
                }
            }
        }
        Self { places, disk }
    }

    fn places(&self, key: &str, value: i64) -> &[Place<'d>] {
        let at = self.places.get(key).and_then(|of_key| of_key.get(&value));
        at.map_or(&[], Vec::as_slice)
    }

    fn count(&self, key: &str, value: i64, promised: usize, fates: &mut Fates) {
        let on: BTreeSet<&str> = self.places(key, value).iter().map(|at| at.0).collect();
        let read: Vec<bool> = self
            .disk
            .replicas_of(key)
            .map(|(_, _, whole)| whole)
            .collect();
        let all_read = read.iter().all(|whole| *whole) && read.len() >= promised.max(1);
        let slot = match on.len() {
            0 if all_read => &mut fates.nowhere,
            0 => &mut fates.unknown,
            some if some >= read.len().max(promised) => &mut fates.on_every_replica,
            _ => &mut fates.on_some,
        };
        *slot += 1;
    }
}

/// Sends that ended without an answer or never ended, by partition and value.
fn indeterminate(history: &History) -> BTreeSet<(String, i64)> {
    let mut open: BTreeMap<(String, i64), bool> = BTreeMap::new();
    for op in history.ops().iter().filter(|op| is_send(op)) {
        for send in op.value.sends() {
            let unknown = matches!(op.kind, OpType::Invoke | OpType::Info);
            open.insert((send.key.clone(), send.value), unknown);
        }
    }
    let unknown = open.into_iter().filter(|(_, unknown)| *unknown);
    unknown.map(|(send, _)| send).collect()
}

fn is_send(op: &Op) -> bool {
    op.f != "barrier" && op.process != Process::Nemesis
}

fn divergences(disk: &DiskEvidence, resolved: &mut Resolved) {
    let mut held: BTreeMap<(&str, i64), BTreeMap<&str, i64>> = BTreeMap::new();
    for (name, node) in &disk.nodes {
        for (key, records) in &node.partitions {
            for record in records {
                let at = held.entry((key, record.offset)).or_default();
                at.insert(name, record.value);
            }
        }
    }
    for ((key, offset), values) in held {
        let distinct: BTreeSet<i64> = values.values().copied().collect();
        if distinct.len() < 2 {
            continue;
        }
        resolved.divergent_offsets += 1;
        if resolved.divergent.len() < LISTED {
            let values = values.into_iter();
            resolved.divergent.push(Divergent {
                key: key.to_owned(),
                offset,
                values: values
                    .map(|(node, value)| (node.to_owned(), value))
                    .collect(),
            });
        }
    }
}
