//! What each node said of each partition, as the monitor noted it (`observe` lines).
//!
//! A line is noted when leadership or an in-sync set changed, so log ends are known at those moments
//! only.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::history::{History, Op, Process, Value};
use serde_json::Value as Json;

/// One node's word on one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    pub time_ns: u64,
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
    by_key: BTreeMap<String, Vec<Sighting>>,
}

impl Sightings {
    pub fn of(history: &History) -> Self {
        let mut by_key: BTreeMap<String, Vec<Sighting>> = BTreeMap::new();
        for op in history.ops().iter().filter(|op| op.f == "observe") {
            let Some(fields) = fields(op) else { continue };
            let Some(node) = fields.get("node").and_then(Json::as_str) else {
                continue;
            };
            let partitions = fields.get("partitions").and_then(Json::as_array);
            for partition in partitions.into_iter().flatten() {
                if let Some((key, sighting)) = sighting(op.time, node, partition) {
                    by_key.entry(key).or_default().push(sighting);
                }
            }
        }
        Self { by_key }
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }

    pub fn at(&self, key: &str) -> &[Sighting] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// Nodes that spoke of the partition.
    pub fn replicas(&self, key: &str) -> BTreeSet<&str> {
        let nodes = self.at(key).iter();
        nodes.map(|one| one.node.as_str()).collect()
    }

    /// The epoch in which a node last said, up to a moment, that it leads.
    pub fn epoch_led(&self, key: &str, node: &str, until_ns: u64) -> Option<i64> {
        let upto = self
            .at(key)
            .iter()
            .take_while(|one| one.time_ns <= until_ns);
        let claims = upto.filter(|one| one.node == node && one.leads);
        claims.last().map(|one| one.epoch)
    }

    /// The leader of the newest epoch known at a moment, by its number.
    pub fn leader_at(&self, key: &str, time_ns: u64) -> Option<(i64, i64)> {
        let upto = self.at(key).iter().take_while(|one| one.time_ns <= time_ns);
        let named = upto.filter_map(|one| Some((one.epoch, one.leader?)));
        named.max_by_key(|(epoch, _)| *epoch)
    }

    /// The smallest in-sync set that a leader named in the newest epoch of its time.
    pub fn smallest_in_sync(&self) -> Option<usize> {
        let sizes = self.by_key.values().filter_map(|sightings| {
            let mut newest = i64::MIN;
            let mut smallest: Option<usize> = None;
            for one in sightings {
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

fn sighting(time_ns: u64, node: &str, partition: &Json) -> Option<(String, Sighting)> {
    let number = |name: &str| partition.get(name).and_then(Json::as_i64);
    let in_sync = partition.get("isr").and_then(Json::as_array);
    let in_sync = in_sync.into_iter().flatten().filter_map(Json::as_i64);
    let sighting = Sighting {
        time_ns,
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
