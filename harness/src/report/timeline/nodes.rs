//! What each node was, and what it believed to be, from what the monitor saw.
//!
//! A node that claims to lead in an epoch older than the newest that anybody
//! has seen is deposed, whether it knows or not.

use std::collections::{BTreeMap, BTreeSet};

use plimsoll_checkers::FaultWindowMeasures;
use plimsoll_checkers::history::History;
use serde_json::{Map, Value as Json};

use super::fields;

/// One node's lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeLane {
    pub name: String,
    pub spans: Vec<Span>,
    /// Size of its logs when it was last asked, where it was.
    pub bytes: Option<u64>,
    /// Log directories that it said had failed, at any time.
    pub failed_dirs: BTreeSet<String>,
}

/// What a node was for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub from_ns: u64,
    pub to_ns: u64,
    pub state: State,
}

/// What a node can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not running.
    Dead,
    /// Stopped by a signal.
    Paused,
    /// Running as far as is known, but it answers nobody.
    Silent,
    /// Claims to lead so many partitions in epochs that are over.
    Deposed(usize),
    /// Leads so many partitions.
    Leads(usize),
    /// Holds no replica.
    Bare,
    /// Follows, in every in-sync set.
    InSync,
    /// Follows, and is missing from some in-sync set.
    OutOfSync,
}

/// A partition as one node reports it.
#[derive(Debug, Clone)]
struct Report {
    leads: bool,
    leader_epoch: i64,
    in_sync: Vec<i64>,
    leader: i64,
    bytes: Option<u64>,
}

#[derive(Debug, Default)]
struct Node {
    up: Option<bool>,
    reports: BTreeMap<String, Report>,
    failed_dirs: BTreeSet<String>,
}

/// Lanes of all nodes that the history names, in order of their names.
pub fn node_lanes(
    history: &History,
    windows: &[FaultWindowMeasures],
    end_ns: u64,
) -> Vec<NodeLane> {
    let mut watch = Watch::new(history, windows);
    let mut edges: BTreeSet<u64> = BTreeSet::new();
    for one in windows.iter().filter(|one| stops(&one.window.fault)) {
        edges.insert(one.window.from_ns);
        edges.extend(one.window.to_ns);
    }
    let seen = history.ops().iter().filter(|op| op.f == "observe");
    for op in seen {
        // Edges of faults before this line change states too.
        while let Some(edge) = edges.first().copied().filter(|edge| *edge <= op.time) {
            edges.remove(&edge);
            watch.look(edge);
        }
        if let Some(fields) = fields(op) {
            watch.learn(fields);
            watch.look(op.time);
        }
    }
    for edge in edges {
        watch.look(edge);
    }
    watch.finish(end_ns)
}

fn stops(fault: &str) -> bool {
    fault == "kill" || fault == "pause"
}

struct Watch<'w> {
    windows: &'w [FaultWindowMeasures],
    nodes: BTreeMap<String, Node>,
    lanes: BTreeMap<String, Vec<Span>>,
    newest_epochs: BTreeMap<String, (i64, Vec<i64>)>,
    ids: BTreeMap<String, i64>,
}

impl<'w> Watch<'w> {
    fn new(history: &History, windows: &'w [FaultWindowMeasures]) -> Self {
        let mut nodes = BTreeMap::new();
        for op in history.ops() {
            if op.f != "observe" && op.f != "start" {
                continue;
            }
            let name = fields(op).and_then(|fields| fields.get("node")?.as_str());
            if let Some(name) = name.filter(|name| !nodes.contains_key(*name)) {
                nodes.insert(name.to_owned(), Node::default());
            }
        }
        Self {
            windows,
            lanes: nodes
                .keys()
                .map(|name| (name.clone(), Vec::new()))
                .collect(),
            ids: nodes
                .keys()
                .map(|name| (name.clone(), id_in(name)))
                .collect(),
            nodes,
            newest_epochs: BTreeMap::new(),
        }
    }

    fn learn(&mut self, fields: &Map<String, Json>) {
        let Some(name) = fields.get("node").and_then(Json::as_str) else {
            return;
        };
        let up = fields.get("up").and_then(Json::as_bool);
        let partitions = fields.get("partitions").and_then(Json::as_array);
        let Some(node) = self.nodes.get_mut(name) else {
            return;
        };
        node.up = up;
        let failed = fields.get("failed_dirs").and_then(Json::as_array);
        let failed = failed.into_iter().flatten().filter_map(Json::as_str);
        node.failed_dirs.extend(failed.map(str::to_owned));
        for partition in partitions.into_iter().flatten() {
            let Some((key, report)) = report(partition) else {
                continue;
            };
            if report.leads {
                self.ids.insert(name.to_owned(), report.leader);
            }
            let newest = self.newest_epochs.entry(key.clone()).or_default();
            let newer = report.leader_epoch > newest.0;
            if newer || (report.leader_epoch == newest.0 && report.leads) {
                *newest = (report.leader_epoch, report.in_sync.clone());
            }
            node.reports.insert(key, report);
        }
    }

    /// Notes each node's state from this moment on.
    fn look(&mut self, time_ns: u64) {
        let states: Vec<(String, Option<State>)> = self
            .nodes
            .iter()
            .map(|(name, node)| (name.clone(), self.state(name, node, time_ns)))
            .collect();
        for (name, state) in states {
            let Some(lane) = self.lanes.get_mut(&name) else {
                continue;
            };
            if lane.last().map(|span| span.state) == state {
                continue;
            }
            if let Some(last) = lane.last_mut() {
                last.to_ns = time_ns;
            }
            if let Some(state) = state {
                lane.push(Span {
                    from_ns: time_ns,
                    to_ns: time_ns,
                    state,
                });
            }
        }
    }

    fn state(&self, name: &str, node: &Node, time_ns: u64) -> Option<State> {
        let stopped = self.windows.iter().map(|one| &one.window).find(|window| {
            let on = window.from_ns <= time_ns && window.to_ns.is_none_or(|to| time_ns < to);
            on && stops(&window.fault) && window.targets.iter().any(|target| target == name)
        });
        if let Some(window) = stopped {
            return Some(match window.fault.as_str() {
                "kill" => State::Dead,
                _ => State::Paused,
            });
        }
        if !node.up? {
            return Some(State::Silent);
        }
        Some(self.role(name, node))
    }

    fn role(&self, name: &str, node: &Node) -> State {
        let newest = |key: &str| self.newest_epochs.get(key).map_or(-1, |newest| newest.0);
        let claims = || node.reports.iter().filter(|(_, report)| report.leads);
        let deposed = claims()
            .filter(|(key, report)| report.leader_epoch < newest(key))
            .count();
        let leads = claims().count() - deposed;
        if node.reports.is_empty() {
            return State::Bare;
        }
        if deposed > 0 {
            return State::Deposed(deposed);
        }
        if leads > 0 {
            return State::Leads(leads);
        }
        let id = self.ids.get(name).copied().unwrap_or(-1);
        let mut in_sync = node
            .reports
            .keys()
            .filter_map(|key| self.newest_epochs.get(key));
        match in_sync.all(|newest| newest.1.contains(&id)) {
            true => State::InSync,
            false => State::OutOfSync,
        }
    }

    fn finish(mut self, end_ns: u64) -> Vec<NodeLane> {
        for lane in self.lanes.values_mut() {
            if let Some(last) = lane.last_mut() {
                last.to_ns = end_ns;
            }
            lane.retain(|span| span.to_ns > span.from_ns);
        }
        let mut lanes: Vec<NodeLane> = self
            .lanes
            .into_iter()
            .map(|(name, spans)| {
                let node = self.nodes.remove(&name).unwrap_or_default();
                let bytes = node.reports.values().filter_map(|report| report.bytes);
                NodeLane {
                    spans,
                    bytes: bytes.reduce(u64::saturating_add),
                    failed_dirs: node.failed_dirs,
                    name,
                }
            })
            .collect();
        lanes.sort_by_key(|lane| (lane.name.len(), lane.name.clone()));
        lanes
    }
}

fn report(partition: &Json) -> Option<(String, Report)> {
    let number = |name: &str| partition.get(name).and_then(Json::as_i64);
    let in_sync = partition.get("isr").and_then(Json::as_array);
    let ids = in_sync.into_iter().flatten().filter_map(Json::as_i64);
    Some((
        partition.get("key")?.as_str()?.to_owned(),
        Report {
            leads: partition.get("role").and_then(Json::as_str) == Some("leader"),
            leader_epoch: number("leader_epoch")?,
            in_sync: ids.collect(),
            leader: number("leader").unwrap_or(-1),
            bytes: partition.get("bytes").and_then(Json::as_u64),
        },
    ))
}

/// Nodes are named after their ids: n1, n2, ...
fn id_in(name: &str) -> i64 {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use plimsoll_checkers::formats;

    use super::*;

    #[test]
    fn a_node_without_a_replica_follows_nobody() {
        let observe = |index: u64, node: u64, partitions: &str| {
            format!(
                r#"{{"index":{index},"time":{},"process":"nemesis","type":"info","f":"observe","value":{{"node":"n{node}","up":true,"partitions":[{partitions}]}}}}"#,
                index * 1_000_000
            )
        };
        let replica =
            r#"{"key":"log-0","role":"follower","leader":1,"leader_epoch":1,"isr":[1,2]}"#;
        let lines = [
            observe(1, 2, ""),
            observe(2, 3, ""),
            observe(3, 2, replica),
            observe(4, 3, ""),
        ];
        let history = formats::read(lines.join("\n").as_bytes()).expect("a history");
        let lanes = node_lanes(&history, &[], 5_000_000);
        let states = |lane: usize| -> Vec<State> {
            lanes[lane].spans.iter().map(|span| span.state).collect()
        };
        assert_eq!(
            states(0),
            [State::Bare, State::InSync],
            "until the topic is there"
        );
        assert_eq!(states(1), [State::Bare]);
    }
}
