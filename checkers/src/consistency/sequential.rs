//! Sequential consistency over all partitions.
//!
//! It is not local, so the partitions are taken together: each client's ops form a chain, and each
//! partition's ops stand by their keys (an append at offset o at 2o+1, a read at twice its high
//! watermark; without one, anywhere after what it shows). All of these are precedences and nothing
//! else is asked, so an order exists exactly when they are acyclic.

use std::collections::BTreeMap;

use crate::anomalies::append_key;
use crate::facts::{Facts, Partition};
use crate::history::Process;

/// Whether one order that every client's own order allows explains all ops.
pub(super) fn holds(facts: &Facts<'_>) -> bool {
    let mut graph = Precedences::new(facts.history.ops().len());
    for partition in &facts.partitions {
        order_partition(partition, &mut graph);
    }
    order_clients(facts, &mut graph);
    graph.has_order()
}

/// Edges among ops, named by the positions of their invokes, and nodes between them.
struct Precedences {
    edges: Vec<(u32, u32)>,
    nodes: usize,
}

impl Precedences {
    fn new(ops: usize) -> Self {
        Self {
            edges: Vec::new(),
            nodes: ops,
        }
    }

    /// A node that is no op.
    fn between(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes as u32 - 1
    }

    fn add(&mut self, before: u32, after: u32) {
        if before != after {
            self.edges.push((before, after));
        }
    }

    /// Whether they are acyclic: Kahn's algorithm.
    fn has_order(mut self) -> bool {
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut waiting = vec![0_u32; self.nodes];
        for &(_, after) in &self.edges {
            waiting[after as usize] += 1;
        }
        let mut ready: Vec<u32> = (0..self.nodes as u32)
            .filter(|&op| waiting[op as usize] == 0)
            .collect();
        let mut done = 0;
        while let Some(op) = ready.pop() {
            done += 1;
            let first = self.edges.partition_point(|edge| edge.0 < op);
            for &(_, after) in self.edges[first..].iter().take_while(|edge| edge.0 == op) {
                waiting[after as usize] -= 1;
                if waiting[after as usize] == 0 {
                    ready.push(after);
                }
            }
        }
        done == self.nodes
    }
}

/// Everything of one partition that has a key, by key; reads of one key are not ordered among
/// themselves. Between two keys stands a node of its own, so that edges stay linear.
fn order_partition(partition: &Partition<'_>, graph: &mut Precedences) {
    let appends = partition.sends.iter();
    let mut keyed: Vec<(i128, u32)> = appends
        .filter_map(|send| Some((append_key(partition.places(send)?.0), send.invoke)))
        .collect();
    let mut open_ended: Vec<(i128, u32)> = Vec::new();
    for read in partition
        .reads
        .iter()
        .filter(|read| read.ok && !read.is_final)
    {
        let hw = read.info.map(|info| info.hw).filter(|&hw| hw >= 0);
        let shown = read
            .records
            .last()
            .map_or(0, |record| record.0.saturating_add(1));
        // What it shows is before it even where its watermark was sampled earlier.
        let low = 2 * i128::from(hw.unwrap_or(0).max(shown));
        match hw {
            Some(_) => keyed.push((low, read.invoke)),
            None => open_ended.push((low, read.invoke)),
        }
    }
    keyed.sort_unstable();
    open_ended.sort_unstable();
    let mut open_ended = open_ended.into_iter().peekable();
    let mut before = graph.between();
    for group in keyed.chunk_by(|one, other| one.0 == other.0) {
        let after = graph.between();
        graph.add(before, after);
        while let Some((_, read)) = open_ended.next_if(|read| read.0 < group[0].0) {
            graph.add(before, read);
        }
        for &(_, op) in group {
            graph.add(before, op);
            graph.add(op, after);
        }
        before = after;
    }
    open_ended.for_each(|(_, read)| graph.add(before, read));
}

fn order_clients(facts: &Facts<'_>, graph: &mut Precedences) {
    let mut invokes: Vec<u32> = Vec::new();
    for partition in &facts.partitions {
        let takes_part = |send: &&crate::facts::records::Send| partition.places(send).is_some();
        invokes.extend(
            partition
                .sends
                .iter()
                .filter(takes_part)
                .map(|send| send.invoke),
        );
        let reads = partition
            .reads
            .iter()
            .filter(|read| read.ok && !read.is_final);
        invokes.extend(reads.map(|read| read.invoke));
    }
    invokes.sort_unstable();
    invokes.dedup();
    let mut last: BTreeMap<(Option<&str>, Process), u32> = BTreeMap::new();
    for invoke in invokes {
        let op = facts.op(invoke);
        let client = match op.client.as_deref() {
            Some(client) => (Some(client), Process::Nemesis),
            None => (None, op.process),
        };
        if let Some(before) = last.insert(client, invoke) {
            graph.add(before, invoke);
        }
    }
}
