//! What each node said of each partition, as the monitor noted it (`observe` lines).
//!
//! A line is noted when leadership or an in-sync set changed, and a few times a second while log ends
//! move, so these are known at such moments only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use plimsoll_checkers::history::{History, Op, Process, Value};
use serde_json::Value as Json;

/// What a poll took at the most where its line does not say, as in older histories.
const ANSWER_MAX_MS: u64 = 2000;

/// One node's word on one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub time_ns: u64,
    /// Since when the node had been asked: what it said is no older.
    pub asked_ns: u64,
    pub node: String,
    pub leads: bool,
    /// Who leads, by its number.
    pub leader: Option<i64>,
    pub epoch: i64,
    /// End of this node's log.
    pub end: i64,
    pub in_sync: Vec<i64>,
}

/// All of them by partition, in order of time.
#[derive(Debug, Default)]
pub struct Sightings {
    by_key: BTreeMap<String, Partition>,
}

#[derive(Debug, Default)]
struct Partition {
    seen: Vec<Sighting>,
    nodes: BTreeSet<String>,
    /// Offsets past which each node was seen to grow as a follower within one epoch.
    followed: BTreeMap<(String, i64), Growth>,
}

/// How a follower's log grew within one epoch.
#[derive(Debug, Default)]
struct Growth {
    /// What it had when it heard of the epoch may be other records than its leader's.
    least: Option<i64>,
    grown: Vec<Range<i64>>,
}

impl Growth {
    fn note(&mut self, end: i64) {
        let Some(least) = self.least.filter(|least| *least < end) else {
            self.least = Some(end);
            return;
        };
        match self.grown.last_mut().filter(|last| last.start == least) {
            Some(last) => last.end = last.end.max(end),
            None => self.grown.push(least..end),
        }
    }
}

impl Partition {
    fn note(&mut self, sighting: Sighting) {
        if !sighting.leads && sighting.end >= 0 {
            let place = (sighting.node.clone(), sighting.epoch);
            self.followed.entry(place).or_default().note(sighting.end);
        }
        if !self.nodes.contains(&sighting.node) {
            self.nodes.insert(sighting.node.clone());
        }
        self.seen.push(sighting);
    }

    fn until(&self, time_ns: u64) -> &[Sighting] {
        let end = self.seen.partition_point(|one| one.time_ns <= time_ns);
        &self.seen[..end]
    }
}

impl Sightings {
    pub fn of(history: &History) -> Self {
        let mut by_key: BTreeMap<String, Partition> = BTreeMap::new();
        for op in history.ops().iter().filter(|op| op.f == "observe") {
            let Some(fields) = fields(op) else { continue };
            let Some(node) = fields.get("node").and_then(Json::as_str) else {
                continue;
            };
            let took_ms = fields.get("took_ms").and_then(Json::as_u64);
            let took_ns = took_ms.unwrap_or(ANSWER_MAX_MS).saturating_mul(1_000_000);
            let asked_ns = op.time.saturating_sub(took_ns);
            let partitions = fields.get("partitions").and_then(Json::as_array);
            for partition in partitions.into_iter().flatten() {
                if let Some((key, sighting)) = sighting(op.time, asked_ns, node, partition) {
                    by_key.entry(key).or_default().note(sighting);
                }
            }
        }
        Self { by_key }
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    pub fn at(&self, key: &str) -> &[Sighting] {
        self.by_key.get(key).map_or(&[], |known| &known.seen)
    }

    fn until(&self, key: &str, time_ns: u64) -> &[Sighting] {
        self.by_key
            .get(key)
            .map_or(&[], |known| known.until(time_ns))
    }

    /// Nodes that spoke of the partition.
    pub fn replicas(&self, key: &str) -> impl Iterator<Item = &str> {
        let nodes = self.by_key.get(key).map(|known| known.nodes.iter());
        nodes.into_iter().flatten().map(String::as_str)
    }

    /// A node, other than this one, that was seen to follow past an offset within an epoch.
    pub fn follower_past(&self, key: &str, epoch: i64, offset: i64, but: &str) -> Option<&str> {
        let mut followed = self.by_key.get(key)?.followed.iter();
        let (holder, _) = followed.find(|((node, of_epoch), growth)| {
            let past = growth.grown.iter().any(|range| range.contains(&offset));
            *of_epoch == epoch && node != but && past
        })?;
        Some(&holder.0)
    }

    /// The epoch in which a node last said, up to a moment, that it leads.
    pub fn epoch_led(&self, key: &str, node: &str, until_ns: u64) -> Option<i64> {
        let upto = self.until(key, until_ns).iter().rev();
        let mut claims = upto.filter(|one| one.node == node && one.leads);
        claims.next().map(|one| one.epoch)
    }

    /// The leader of the newest epoch known at a moment, by its number.
    pub fn leader_at(&self, key: &str, time_ns: u64) -> Option<(i64, i64)> {
        let upto = self.until(key, time_ns).iter();
        let named = upto.filter_map(|one| Some((one.epoch, one.leader?)));
        named.max_by_key(|(epoch, _)| *epoch)
    }

    /// The smallest in-sync set that a leader named in the newest epoch of its time.
    pub fn smallest_in_sync(&self) -> Option<usize> {
        let sizes = self.by_key.values().filter_map(|known| {
            let mut newest = i64::MIN;
            let mut smallest: Option<usize> = None;
            for one in &known.seen {
                newest = newest.max(one.epoch);
                if one.leads && one.epoch == newest && !one.in_sync.is_empty() {
                    let size = one.in_sync.len();
                    smallest = Some(smallest.map_or(size, |least| least.min(size)));
                }
            }
            smallest
        });
        sizes.min()
    }
}

fn fields(op: &Op) -> Option<&serde_json::Map<String, Json>> {
    match (&op.process, &op.value) {
        (Process::Nemesis, Value::Other(Json::Object(fields))) => Some(fields),
        _ => None,
    }
}

fn sighting(
    time_ns: u64,
    asked_ns: u64,
    node: &str,
    partition: &Json,
) -> Option<(String, Sighting)> {
    let number = |name: &str| partition.get(name).and_then(Json::as_i64);
    let in_sync = partition.get("isr").and_then(Json::as_array);
    let in_sync = in_sync.into_iter().flatten().filter_map(Json::as_i64);
    let sighting = Sighting {
        time_ns,
        asked_ns,
        node: node.to_owned(),
        leads: partition.get("role").and_then(Json::as_str) == Some("leader"),
        leader: number("leader").filter(|leader| *leader >= 0),
        epoch: number("leader_epoch")?,
        // A follower whose log end nobody knows (a system's own reports may lack it) proves nothing.
        end: number("leo").unwrap_or(-1),
        in_sync: in_sync.collect(),
    };
    let key = partition.get("key")?.as_str()?.to_owned();
    Some((key, sighting))
}
