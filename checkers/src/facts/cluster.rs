//! Leaders and in-sync sets as the monitor saw them (`observe` lines).

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::Facts;
use super::faults::nemesis_value;

/// What the cluster's own words say about leadership.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    /// Leader by (partition, leader epoch).
    leaders: BTreeMap<(String, i64), i64>,
    /// Partitions that were observed at all.
    pub leader_changes: u64,
    pub isr_shrinks: u64,
}

impl Cluster {
    pub(crate) fn new(facts: &Facts<'_>) -> Self {
        let mut watch = Watch::default();
        for op in facts.nemesis_ops().filter(|op| op.f == "observe") {
            let partitions = nemesis_value(op)
                .and_then(|fields| fields.get("partitions"))
                .and_then(Json::as_array);
            for partition in partitions.into_iter().flatten() {
                watch.see(partition);
            }
        }
        watch.cluster
    }

    /// Whether the node may have led the partition in that epoch: it was seen
    /// to, or nobody watched the partition.
    pub(crate) fn may_lead(&self, key: &str, epoch: i64, node: i64) -> bool {
        match self.leaders.get(&(key.to_owned(), epoch)) {
            Some(&leader) => leader == node,
            None => {
                let any = (key.to_owned(), i64::MIN)..=(key.to_owned(), i64::MAX);
                self.leaders.range(any).next().is_none()
            }
        }
    }
}

/// The newest known state of one partition.
#[derive(Debug, Default)]
struct Newest {
    leader_epoch: Option<i64>,
    leader: Option<i64>,
    in_sync: Option<usize>,
}

#[derive(Debug, Default)]
struct Watch {
    cluster: Cluster,
    newest: BTreeMap<String, Newest>,
}

impl Watch {
    fn see(&mut self, partition: &Json) {
        let number = |name: &str| partition.get(name).and_then(Json::as_i64);
        let (Some(key), Some(epoch)) = (
            partition.get("key").and_then(Json::as_str),
            number("leader_epoch"),
        ) else {
            return;
        };
        let leader = number("leader").filter(|&leader| leader >= 0);
        if let Some(leader) = leader {
            self.cluster.leaders.insert((key.to_owned(), epoch), leader);
        }
        if !self.newest.contains_key(key) {
            self.newest.insert(key.to_owned(), Newest::default());
        }
        let Some(newest) = self.newest.get_mut(key) else {
            return;
        };
        if newest.leader_epoch.is_some_and(|newest| epoch < newest) {
            return;
        }
        newest.leader_epoch = Some(epoch);
        if let Some(leader) = leader {
            let before = newest.leader.replace(leader);
            self.cluster.leader_changes += u64::from(before.is_some_and(|old| old != leader));
        }
        let leads = partition.get("role").and_then(Json::as_str) == Some("leader");
        let in_sync = partition.get("isr").and_then(Json::as_array);
        if let Some(in_sync) = in_sync.filter(|_| leads) {
            let before = newest.in_sync.replace(in_sync.len());
            let shrank = before.is_some_and(|before| in_sync.len() < before);
            self.cluster.isr_shrinks += u64::from(shrank);
        }
    }
}
