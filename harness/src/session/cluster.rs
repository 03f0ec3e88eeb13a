//! The cluster as its admin ports show it: what the journal keeps of it, whom
//! faults aim at, and whether it has settled.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::history::Op;
use plimsoll_nemesis::faults::{ClusterView, PartitionView};
use serde_json::json;

use super::config::{NodeInfo, key};
use super::messages::{NodeIndex, NodeReport, ReplicaReport};
use super::record;

/// Log ends and high watermarks move all the time, so they are put into the
/// journal this often, where nothing else changed...
const ENDS_EVERY_NS: u64 = 250_000_000;
/// ... and less often where the nodes hold more partitions than this.
const ENDS_EVERY_UP_TO: u64 = 20;

#[derive(Debug, Default)]
struct Seen {
    report: Option<NodeReport>,
    at_ns: u64,
    incarnation: u64,
    /// What was last put into the journal, to record changes only.
    recorded: Option<serde_json::Value>,
    /// Log end and high watermark of each partition as they were last put into it, and when.
    ends: BTreeMap<i32, (i64, i64)>,
    ends_ns: u64,
}

/// Leader and epoch of every partition, where all replicas agree on them.
pub type Agreement = BTreeMap<i32, Agreed>;

/// What all replicas of one partition say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreed {
    pub leader: i32,
    pub leader_epoch: i32,
    pub replicas: Vec<i32>,
}

/// All nodes as last seen.
pub struct Cluster {
    topic: String,
    partitions: i32,
    nodes: Vec<NodeInfo>,
    seen: Vec<Seen>,
    /// Nodes that were killed and never return.
    lost: BTreeSet<NodeIndex>,
}

impl Cluster {
    pub fn new(topic: &str, partitions: i32, nodes: Vec<NodeInfo>) -> Cluster {
        let seen = nodes
            .iter()
            .map(|_| Seen {
                incarnation: 1,
                ..Seen::default()
            })
            .collect();
        Cluster {
            topic: topic.to_owned(),
            partitions,
            nodes,
            seen,
            lost: BTreeSet::new(),
        }
    }

    /// These nodes are gone for good: nobody waits for them any more.
    pub fn lose(&mut self, names: &[String]) {
        for (index, node) in self.nodes.iter().enumerate() {
            if names.contains(&node.name) {
                self.lost.insert(index);
            }
        }
    }

    /// The replicas that can still be read, where some are gone for good.
    pub fn replicas_left(&self) -> BTreeMap<String, usize> {
        if self.lost.is_empty() {
            return BTreeMap::new();
        }
        let agreed = self.agreement().into_iter();
        agreed
            .map(|(partition, agreed)| (key(&self.topic, partition), agreed.replicas.len()))
            .collect()
    }

    pub fn node_of_id(&self, id: i32) -> Option<NodeIndex> {
        self.nodes.iter().position(|node| node.id == id)
    }

    pub fn node(&self, index: NodeIndex) -> Option<&NodeInfo> {
        self.nodes.get(index)
    }

    pub fn name(&self, index: NodeIndex) -> &str {
        self.nodes.get(index).map_or("?", |node| &node.name)
    }

    pub fn incarnation(&self, index: NodeIndex) -> u64 {
        self.seen.get(index).map_or(0, |seen| seen.incarnation)
    }

    /// A node was started again.
    pub fn started(&mut self, name: &str, incarnation: u64) {
        if let Some(index) = self.nodes.iter().position(|node| node.name == name) {
            self.seen[index].incarnation = incarnation;
        }
    }

    /// Takes a poll in; gives a line for the journal when something changed.
    pub fn learn(
        &mut self,
        index: NodeIndex,
        report: Option<NodeReport>,
        now_ns: u64,
    ) -> Option<Op> {
        let name = &self.nodes.get(index)?.name;
        let every_ns = self.ends_every_ns();
        let seen = self.seen.get_mut(index)?;
        let digest = digest(report.as_ref(), &self.topic);
        let changed = seen.recorded.as_ref() != Some(&digest);
        seen.recorded = Some(digest);
        seen.at_ns = now_ns;
        let replicas = report.as_ref().map(|report| report.partitions.iter());
        let of_topic = replicas.into_iter().flatten();
        let mut news: Vec<&ReplicaReport> = of_topic.filter(|r| r.topic == self.topic).collect();
        if !changed {
            if now_ns < seen.ends_ns.saturating_add(every_ns) {
                news.clear();
            }
            news.retain(|r| seen.ends.get(&r.partition) != Some(&(r.leo, r.hw)));
        }
        let line = (changed || !news.is_empty()).then(|| {
            seen.ends_ns = now_ns;
            seen.ends
                .extend(news.iter().map(|r| (r.partition, (r.leo, r.hw))));
            observation(name, report.as_ref(), &news)
        });
        seen.report = report;
        line
    }

    fn ends_every_ns(&self) -> u64 {
        let partitions = u64::try_from(self.partitions).unwrap_or(0);
        ENDS_EVERY_NS * partitions.div_ceil(ENDS_EVERY_UP_TO).max(1)
    }

    fn replicas_of(&self, partition: i32) -> impl Iterator<Item = (NodeIndex, &ReplicaReport)> {
        self.seen
            .iter()
            .enumerate()
            .filter_map(move |(index, seen)| {
                let mut of_node = seen.report.as_ref()?.partitions.iter();
                let replica =
                    of_node.find(|r| r.partition == partition && r.topic == self.topic)?;
                Some((index, replica))
            })
    }

    /// What faults may aim at now: the newest leader claim of each partition,
    /// and the controller that most nodes name.
    pub fn view(&self) -> ClusterView {
        let names = |brokers_only: bool| {
            let wanted = self.nodes.iter().enumerate().filter(move |(index, node)| {
                (node.is_broker || !brokers_only) && !self.lost.contains(index)
            });
            wanted.map(|(_, node)| node.name.clone()).collect()
        };
        let partitions = (0..self.partitions)
            .map(|partition| (key(&self.topic, partition), self.partition_view(partition)))
            .collect();
        let controller = self.controller();
        ClusterView {
            nodes: names(false),
            brokers: names(true),
            controller,
            partitions,
        }
    }

    fn partition_view(&self, partition: i32) -> PartitionView {
        let newest = self
            .replicas_of(partition)
            .max_by_key(|(_, r)| r.leader_epoch);
        let Some((_, replica)) = newest else {
            return PartitionView::default();
        };
        let name_of = |id: i32| self.node_of_id(id).map(|index| self.name(index).to_owned());
        PartitionView {
            leader: name_of(replica.leader),
            replicas: replica
                .replicas
                .iter()
                .filter_map(|id| name_of(*id))
                .collect(),
        }
    }

    fn controller(&self) -> Option<String> {
        let mut votes: BTreeMap<i32, usize> = BTreeMap::new();
        for id in self
            .seen
            .iter()
            .filter_map(|seen| seen.report.as_ref()?.controller_leader)
        {
            *votes.entry(id).or_default() += 1;
        }
        let (id, _) = votes.into_iter().max_by_key(|(_, count)| *count)?;
        self.node_of_id(id).map(|index| self.name(index).to_owned())
    }

    /// The time of the oldest poll of a broker that answered, when all did that are left.
    pub fn oldest_report_ns(&self) -> Option<u64> {
        let nodes = self.nodes.iter().zip(&self.seen).enumerate();
        let brokers =
            nodes.filter(|(index, (node, _))| node.is_broker && !self.lost.contains(index));
        brokers
            .map(|(_, (_, seen))| seen.report.as_ref().map(|_| seen.at_ns))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .min()
    }

    /// What is agreed on, partition by partition; those in dispute are absent.
    pub fn agreement(&self) -> Agreement {
        (0..self.partitions)
            .filter_map(|p| Some((p, self.agreed(p)?)))
            .collect()
    }

    /// One partition: every replica names the same leader and epoch, with all
    /// replicas in the ISR, and the leader agrees that it leads.
    fn agreed(&self, partition: i32) -> Option<Agreed> {
        let all: Vec<_> = self.replicas_of(partition).collect();
        let (_, first) = all.first()?;
        let left = first
            .replicas
            .iter()
            .copied()
            .filter(|id| !self.is_lost(*id));
        let replicas: Vec<i32> = left.collect();
        let wanted: BTreeSet<i32> = replicas.iter().copied().collect();
        let holders: BTreeSet<i32> = all.iter().map(|(index, _)| self.nodes[*index].id).collect();
        let same = |replica: &ReplicaReport| {
            replica.leader == first.leader
                && replica.leader_epoch == first.leader_epoch
                && replica.isr.iter().copied().collect::<BTreeSet<_>>() == wanted
        };
        let leader = self.node_of_id(first.leader)?;
        let leads = all
            .iter()
            .any(|(index, r)| *index == leader && r.role == "leader");
        (holders == wanted && leads && all.iter().all(|(_, replica)| same(replica))).then_some(
            Agreed {
                leader: first.leader,
                leader_epoch: first.leader_epoch,
                replicas,
            },
        )
    }

    fn is_lost(&self, id: i32) -> bool {
        self.node_of_id(id)
            .is_some_and(|index| self.lost.contains(&index))
    }

    /// Nodes that claim to lead a partition in an older epoch than the newest.
    pub fn older_leaders(&self) -> Vec<serde_json::Value> {
        let mut found = Vec::new();
        for partition in 0..self.partitions {
            let newest = self
                .replicas_of(partition)
                .map(|(_, r)| r.leader_epoch)
                .max();
            let newest = newest.unwrap_or_default();
            for (index, replica) in self.replicas_of(partition) {
                if replica.role == "leader" && replica.leader_epoch < newest {
                    found.push(json!({
                        "key": key(&self.topic, partition),
                        "node": self.name(index),
                        "leader_epoch": replica.leader_epoch,
                        "newest_epoch": newest,
                    }));
                }
            }
        }
        found
    }
}

/// What of a report makes a change: not the offsets, which always move.
fn digest(report: Option<&NodeReport>, topic: &str) -> serde_json::Value {
    let Some(report) = report else {
        return json!(null);
    };
    let each = report.partitions.iter().filter(|r| r.topic == topic);
    let parts: Vec<_> = each
        .map(|r| json!([r.partition, r.role, r.leader, r.leader_epoch, r.isr]))
        .collect();
    json!([report.controller_leader, report.failed_dirs, parts])
}

fn observation(node: &str, report: Option<&NodeReport>, news: &[&ReplicaReport]) -> Op {
    let Some(report) = report else {
        return record::nemesis("observe", json!({ "node": node, "up": false }));
    };
    let partitions: Vec<_> = news
        .iter()
        .map(|r| {
            let mut partition = json!({
                "key": key(&r.topic, r.partition), "role": r.role, "leader": r.leader,
                "leader_epoch": r.leader_epoch, "leo": r.leo, "hw": r.hw, "isr": r.isr,
            });
            if let Some(bytes) = r.bytes {
                partition["bytes"] = bytes.into();
            }
            partition
        })
        .collect();
    let mut value = json!({
        "node": node, "up": true, "took_ms": report.took_ms,
        "controller": report.controller_leader, "partitions": partitions,
    });
    if !report.failed_dirs.is_empty() {
        value["failed_dirs"] = json!(report.failed_dirs);
    }
    record::nemesis("observe", value)
}

#[cfg(test)]
mod tests {
    use plimsoll_checkers::history::Value;

    use super::*;

    fn nodes() -> Vec<NodeInfo> {
        (1..=3)
            .map(|id| NodeInfo {
                name: format!("n{id}"),
                id,
                is_broker: true,
            })
            .collect()
    }

    fn report(node_id: i32, leader: i32, leader_epoch: i32, isr: &[i32]) -> NodeReport {
        let role = if node_id == leader {
            "leader"
        } else {
            "follower"
        };
        let replica = ReplicaReport {
            topic: "log".into(),
            role: role.into(),
            leader,
            leader_epoch,
            isr: isr.into(),
            replicas: vec![1, 2, 3],
            ..ReplicaReport::default()
        };
        NodeReport {
            node_id,
            controller_leader: Some(3),
            partitions: vec![replica],
            ..NodeReport::default()
        }
    }

    fn cluster(reports: [NodeReport; 3]) -> Cluster {
        let mut cluster = Cluster::new("log", 1, nodes());
        for (index, report) in reports.into_iter().enumerate() {
            cluster.learn(index, Some(report), 1);
        }
        cluster
    }

    #[test]
    fn a_cluster_that_agrees_has_settled() {
        let full = [1, 2, 3];
        let cluster = cluster([1, 2, 3].map(|id| report(id, 2, 4, &full)));
        assert_eq!(cluster.agreement()[&0].leader, 2);
        assert!(cluster.older_leaders().is_empty());
    }

    #[test]
    fn an_old_leader_is_named_and_nothing_is_agreed() {
        let full = [1, 2, 3];
        let reports = [
            report(1, 1, 3, &full),
            report(2, 2, 4, &full),
            report(3, 2, 4, &full),
        ];
        let cluster = cluster(reports);
        assert!(cluster.agreement().is_empty());
        assert_eq!(cluster.older_leaders()[0]["node"], "n1");
        assert_eq!(
            cluster.view().partitions["log-0"].leader.as_deref(),
            Some("n2")
        );
    }

    #[test]
    fn a_short_isr_is_not_settled() {
        assert!(
            cluster([1, 2, 3].map(|id| report(id, 2, 4, &[2, 3])))
                .agreement()
                .is_empty()
        );
    }

    #[test]
    fn changes_are_recorded_at_once_and_log_ends_now_and_then() {
        let mut cluster = Cluster::new("log", 2, nodes());
        let mut moved = report(1, 2, 4, &[1, 2, 3]);
        let still = ReplicaReport {
            partition: 1,
            ..moved.partitions[0].clone()
        };
        moved.partitions.push(still);
        assert!(cluster.learn(0, Some(moved.clone()), 1).is_some());
        moved.partitions[0].leo = 99;
        assert!(cluster.learn(0, Some(moved.clone()), 2).is_none());
        let later = ENDS_EVERY_NS + 1;
        let line = cluster.learn(0, Some(moved.clone()), later).expect("moved");
        let Value::Other(fields) = &line.value else {
            panic!("{line:?}")
        };
        // Only the partition that moved, as it is now.
        assert_eq!(fields["partitions"].as_array().map(Vec::len), Some(1));
        assert_eq!(fields["partitions"][0]["leo"], 99);
        assert!(cluster.learn(0, Some(moved), 2 * later).is_none());
        assert!(cluster.learn(0, None, 2 * later + 1).is_some());
    }
}
