//! `G0` and `G1c`: cycles of ops over writes that follow each other in a partition's order, and over
//! writes and their reads; with `-process` and `-realtime`, cycles that close only through the order
//! of a process or of real time.
//!
//! Adya's names, as Jepsen uses them. Kafka's transactions do not isolate writes from each other, so
//! cycles that need an order of writes are expected; a cycle of reads alone never is. Looked for only
//! where ops write to several partitions or both write and read: no other op can close one.

mod graph;

use std::collections::BTreeMap;

use self::graph::{Edge, Graph};
use super::{Checker, Find, witness};
use crate::facts::records::{Ended, NEVER};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::{OpType, Process};
use crate::promise::Scope;

macro_rules! checker {
    ($name:literal, $definition:literal, $kinds:expr, $through:expr) => {
        Checker {
            anomaly: $name,
            definition: $definition,
            find: Find::Run(|facts, found| find($name, facts, $kinds, $through, found)),
        }
    };
}

pub(super) const G0: Checker = checker!(
    "G0",
    "a cycle of ops over the order of writes",
    &[Edge::WriteWrite],
    Edge::WriteWrite
);
pub(super) const G0_PROCESS: Checker = checker!(
    "G0-process",
    "a cycle over the order of writes and of a process",
    &[Edge::WriteWrite, Edge::Process],
    Edge::Process
);
pub(super) const G0_REALTIME: Checker = checker!(
    "G0-realtime",
    "a cycle over the order of writes and of real time",
    &[Edge::WriteWrite, Edge::Realtime],
    Edge::Realtime
);
pub(super) const G1C: Checker = checker!(
    "G1c",
    "a cycle of ops over writes and their reads",
    &[Edge::WriteWrite, Edge::WriteRead],
    Edge::WriteRead
);
pub(super) const G1C_PROCESS: Checker = checker!(
    "G1c-process",
    "a cycle over writes, their reads and the order of a process",
    &[Edge::WriteWrite, Edge::WriteRead, Edge::Process],
    Edge::Process
);
pub(super) const G1C_REALTIME: Checker = checker!(
    "G1c-realtime",
    "a cycle over writes, their reads and real time",
    &[Edge::WriteWrite, Edge::WriteRead, Edge::Realtime],
    Edge::Realtime
);

fn find(
    anomaly: &'static str,
    facts: &Facts<'_>,
    kinds: &[Edge],
    through: Edge,
    found: &mut Found,
) {
    if !facts.may_cycle {
        return;
    }
    let nodes = Nodes::new(facts);
    let graph = nodes.graph(facts, kinds);
    let of_reads = kinds.contains(&Edge::WriteRead);
    for cycle in graph.cycles(kinds, through) {
        let has = |edge: Edge| cycle.iter().any(|step| step.1 == edge);
        // A cycle without a read is G0's, whatever closes it.
        if of_reads && !has(Edge::WriteRead) {
            continue;
        }
        let expected = has(Edge::WriteWrite);
        report(anomaly, facts, &nodes, &cycle, expected, found);
    }
}

/// Ops that certainly took effect, by the position of their end.
struct Nodes {
    ends: Vec<u32>,
    of_end: BTreeMap<u32, u32>,
}

impl Nodes {
    fn new(facts: &Facts<'_>) -> Self {
        let mut ends: Vec<u32> = Vec::new();
        for partition in &facts.partitions {
            let sends = partition.sends.iter().filter(|send| is_committed(send));
            ends.extend(sends.map(|send| send.ret));
            let reads = partition
                .reads
                .iter()
                .filter(|read| read.ok && !read.is_final);
            ends.extend(reads.map(|read| read.ret));
        }
        ends.sort_unstable();
        ends.dedup();
        let of_end = ends.iter().enumerate();
        Self {
            of_end: of_end.map(|(node, &end)| (end, node as u32)).collect(),
            ends,
        }
    }

    fn node(&self, end: u32) -> Option<u32> {
        self.of_end.get(&end).copied()
    }

    fn graph(&self, facts: &Facts<'_>, kinds: &[Edge]) -> Graph {
        let mut graph = Graph::new(self.ends.len());
        for partition in &facts.partitions {
            self.order_writes(partition, &mut graph);
            if kinds.contains(&Edge::WriteRead) {
                self.order_reads(partition, &mut graph);
            }
        }
        if kinds.contains(&Edge::Process) {
            self.order_processes(facts, &mut graph);
        }
        if kinds.contains(&Edge::Realtime) {
            self.order_realtime(facts, &mut graph);
        }
        graph
    }

    fn writer(&self, partition: &Partition<'_>, value: i64) -> Option<u32> {
        let send = &partition.sends[partition.send_of(value)?];
        is_committed(send).then(|| self.node(send.ret)).flatten()
    }

    fn order_writes(&self, partition: &Partition<'_>, graph: &mut Graph) {
        let mut before = None;
        for &value in partition.known.iter().flatten() {
            let writer = self.writer(partition, value);
            if let (Some(before), Some(writer)) = (before, writer) {
                graph.add(before, writer, Edge::WriteWrite);
            }
            before = writer.or(before);
        }
    }

    fn order_reads(&self, partition: &Partition<'_>, graph: &mut Graph) {
        for read in partition
            .reads
            .iter()
            .filter(|read| read.ok && !read.is_final)
        {
            let Some(reader) = self.node(read.ret) else {
                continue;
            };
            for &(_, value) in read.records {
                if let Some(writer) = self.writer(partition, value) {
                    graph.add(writer, reader, Edge::WriteRead);
                }
            }
        }
    }

    fn order_processes(&self, facts: &Facts<'_>, graph: &mut Graph) {
        let mut last: BTreeMap<Process, u32> = BTreeMap::new();
        for (node, &end) in self.ends.iter().enumerate() {
            if let Some(before) = last.insert(facts.op(end).process, node as u32) {
                graph.add(before, node as u32, Edge::Process);
            }
        }
    }

    /// From every op to those that began after its end, without what follows from other edges: an
    /// ended op leaves the front once one that began after it has ended.
    fn order_realtime(&self, facts: &Facts<'_>, graph: &mut Graph) {
        let mut front: Vec<u32> = Vec::new();
        let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (position, op) in facts.history.ops().iter().enumerate() {
            let Some(partner) = facts.history.partner(position) else {
                continue;
            };
            if op.kind == OpType::Invoke {
                if let Some(node) = self.node(partner as u32) {
                    front
                        .iter()
                        .for_each(|&ended| graph.add(ended, node, Edge::Realtime));
                    before.insert(node, front.clone());
                }
            } else if let Some(node) = self.node(position as u32).filter(|_| op.kind == OpType::Ok)
            {
                let implied = before.remove(&node).unwrap_or_default();
                front.retain(|ended| !implied.contains(ended));
                front.push(node);
            }
        }
    }
}

fn is_committed(send: &crate::facts::records::Send) -> bool {
    let done = send.ended == Ended::Ok || send.proven || send.first_read != NEVER;
    done && send.ret != NEVER && send.ended != Ended::Fail && !send.barrier
}

fn report(
    anomaly: &'static str,
    facts: &Facts<'_>,
    nodes: &Nodes,
    cycle: &[(u32, Edge)],
    expected: bool,
    found: &mut Found,
) {
    let ends: Vec<u32> = cycle
        .iter()
        .map(|step| nodes.ends[step.0 as usize])
        .collect();
    let mut proved = true;
    let mut keys = Vec::new();
    let mut steps = Vec::new();
    for (at, &(_, edge)) in cycle.iter().enumerate() {
        let (from, to) = (ends[at], ends[(at + 1) % ends.len()]);
        let key = key_between(facts, from, to, edge);
        proved &= edge == Edge::Process || edge == Edge::Realtime || key.is_some();
        steps.push(step_text(facts, from, to, edge, key));
        keys.extend(key);
    }
    let ops = ends.iter().map(|&end| facts.index(end)).collect();
    found.add(
        proved,
        Finding {
            anomaly,
            key: keys.first().copied().unwrap_or_default().to_owned(),
            offset: None,
            values: Vec::new(),
            ops,
            time_ns: ends
                .iter()
                .map(|&end| facts.op(end).time)
                .max()
                .unwrap_or(0),
            sentence: format!("A cycle of {} ops: {}.", ends.len(), steps.join("; ")),
            scope: match expected {
                true => Scope::Expected,
                false => Scope::Any,
            },
        },
    );
}

/// A partition in which the edge holds, told from the ops themselves.
fn key_between<'h>(facts: &Facts<'h>, from: u32, to: u32, edge: Edge) -> Option<&'h str> {
    let (one, other) = (facts.op(from), facts.op(to));
    let mut sends = one.value.sends().iter();
    let send = sends.find(|send| match edge {
        Edge::WriteWrite => {
            let mut later = other.value.sends().iter();
            later.any(|other| other.key == send.key && may_follow(send.offset, other.offset))
        }
        Edge::WriteRead => witness::holds(other, &send.key, send.value),
        Edge::Process | Edge::Realtime => false,
    })?;
    Some(&send.key)
}

/// An answer that names no offset leaves it to reads to say where a record stands.
fn may_follow(before: Option<i64>, after: Option<i64>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before < after,
        _ => true,
    }
}

fn step_text(facts: &Facts<'_>, from: u32, to: u32, edge: Edge, key: Option<&str>) -> String {
    let (from, to) = (facts.index(from), facts.index(to));
    let key = key.unwrap_or("a partition");
    match edge {
        Edge::WriteWrite => format!("op {from} wrote to {key} before op {to}"),
        Edge::WriteRead => format!("op {to} read what op {from} wrote to {key}"),
        Edge::Process => format!("op {from} was done before op {to} by the same process"),
        Edge::Realtime => format!("op {from} had ended before op {to} began"),
    }
}
