//! Sequential consistency over all partitions.
//!
//! It is not local, so the partitions are taken together: each client's ops form a chain, each
//! partition's appends form a chain by offset, a read comes after the last append below its key and
//! before the first one above. All of these are precedences and nothing else is asked, so an order
//! exists exactly when they are acyclic.

use std::collections::BTreeMap;

use crate::facts::{Facts, Partition};
use crate::history::Process;

/// Whether one order that every client's own order allows explains all ops.
pub(super) fn holds(facts: &Facts<'_>) -> bool {
    let mut graph = Precedences::new(facts.history.ops().len());
    for partition in &facts.partitions {
        order_partition(partition, &mut graph);
    }
    order_clients(facts, &mut graph);
    graph.is_acyclic()
}

/// Edges among ops, named by the positions of their invokes.
struct Precedences {
    edges: Vec<(u32, u32)>,
    ops: usize,
}

impl Precedences {
    fn new(ops: usize) -> Self {
        Self {
            edges: Vec::new(),
            ops,
        }
    }

    fn add(&mut self, before: u32, after: u32) {
        if before != after {
            self.edges.push((before, after));
        }
    }

    /// Kahn's algorithm.
    fn is_acyclic(mut self) -> bool {
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut waiting = vec![0_u32; self.ops];
        for &(_, after) in &self.edges {
            waiting[after as usize] += 1;
        }
        let mut ready: Vec<u32> = (0..self.ops as u32)
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
        done == self.ops
    }
}

fn order_partition(partition: &Partition<'_>, graph: &mut Precedences) {
    let mut appends: Vec<(i64, u32)> = partition
        .sends
        .iter()
        .filter_map(|send| Some((partition.places(send)?.0, send.invoke)))
        .collect();
    appends.sort_unstable();
    for pair in appends.windows(2) {
        graph.add(pair[0].1, pair[1].1);
    }
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
        let low = hw.unwrap_or(0).max(shown);
        let first_after = appends.partition_point(|append| append.0 < low);
        if let Some(before) = first_after.checked_sub(1) {
            graph.add(appends[before].1, read.invoke);
        }
        if let (Some(_), Some(after)) = (hw, appends.get(first_after)) {
            graph.add(read.invoke, after.1);
        }
    }
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
