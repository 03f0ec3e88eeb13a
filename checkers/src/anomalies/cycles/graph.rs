//! Which op must come before which, and cycles among them.
//!
//! Nodes are ops that wrote or read; edges are of the kinds in [`Edge`]. Strongly connected parts
//! are found by Tarjan's algorithm without recursion, cycles by breadth-first search within them, so
//! that a cycle is the shortest through its edge.

use std::collections::{BTreeMap, VecDeque};

/// Why one op comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    /// Both wrote to a partition, next to each other in its order.
    WriteWrite,
    /// One wrote what the other read.
    WriteRead,
    /// One process did both.
    Process,
    /// One had ended before the other began.
    Realtime,
}

/// A directed graph over `0..len`.
#[derive(Debug, Default)]
pub(super) struct Graph {
    edges: Vec<Vec<(u32, Edge)>>,
}

impl Graph {
    pub(super) fn new(len: usize) -> Self {
        Self {
            edges: vec![Vec::new(); len],
        }
    }

    /// Adds an edge, once for each kind; an op is never before itself.
    pub(super) fn add(&mut self, from: u32, to: u32, edge: Edge) {
        if from == to {
            return;
        }
        if let Some(edges) = self.edges.get_mut(from as usize)
            && !edges.contains(&(to, edge))
        {
            edges.push((to, edge));
        }
    }

    fn next(&self, node: u32, kinds: &[Edge]) -> impl Iterator<Item = (u32, Edge)> {
        let edges = self.edges.get(node as usize).into_iter().flatten();
        edges.copied().filter(|(_, edge)| kinds.contains(edge))
    }

    /// A shortest cycle of these kinds in each strongly connected part that has one with an edge of
    /// kind `through`: the nodes in order, with the edge that leaves each.
    pub(super) fn cycles(&self, kinds: &[Edge], through: Edge) -> Vec<Vec<(u32, Edge)>> {
        let part = self.parts(kinds);
        let mut shortest: BTreeMap<u32, Vec<(u32, Edge)>> = BTreeMap::new();
        for from in 0..self.edges.len() as u32 {
            for (to, edge) in self.next(from, kinds) {
                let here = part[from as usize];
                if edge != through || here != part[to as usize] {
                    continue;
                }
                // One short cycle a part is enough, and a search for every edge too much.
                if shortest.get(&here).is_some_and(|known| known.len() == 2) {
                    continue;
                }
                if let Some(mut cycle) = self.path(to, from, kinds, &part) {
                    cycle.push((from, edge));
                    cycle.rotate_right(1);
                    let best = shortest.entry(here).or_insert_with(|| cycle.clone());
                    if cycle.len() < best.len() {
                        *best = cycle;
                    }
                }
            }
        }
        shortest.into_values().collect()
    }

    /// The nodes from `start` up to, without, `end`, each with the edge that leaves it.
    fn path(&self, start: u32, end: u32, kinds: &[Edge], part: &[u32]) -> Option<Vec<(u32, Edge)>> {
        let mut came: BTreeMap<u32, (u32, Edge)> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if node == end {
                let mut path = Vec::new();
                let mut at = end;
                while at != start {
                    let &(before, edge) = came.get(&at)?;
                    path.push((before, edge));
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            for (to, edge) in self.next(node, kinds) {
                let inside = part[to as usize] == part[start as usize];
                if inside && to != start && !came.contains_key(&to) {
                    came.insert(to, (node, edge));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// The strongly connected part of each node.
    fn parts(&self, kinds: &[Edge]) -> Vec<u32> {
        let mut search = Tarjan::new(self.edges.len());
        for node in 0..self.edges.len() as u32 {
            if search.order[node as usize] == UNSEEN {
                search.run(self, kinds, node);
            }
        }
        search.part
    }
}

const UNSEEN: u32 = u32::MAX;

struct Tarjan {
    order: Vec<u32>,
    low: Vec<u32>,
    part: Vec<u32>,
    open: Vec<u32>,
    next_order: u32,
    next_part: u32,
}

impl Tarjan {
    fn new(len: usize) -> Self {
        Self {
            order: vec![UNSEEN; len],
            low: vec![UNSEEN; len],
            part: vec![UNSEEN; len],
            open: Vec::new(),
            next_order: 0,
            next_part: 0,
        }
    }

    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.next_order;
        self.low[node as usize] = self.next_order;
        self.next_order += 1;
        self.open.push(node);
    }

    fn run(&mut self, graph: &Graph, kinds: &[Edge], root: u32) {
        self.enter(root);
        let mut stack = vec![(root, 0_usize)];
        while let Some((node, edge)) = stack.pop() {
            let edges = &graph.edges[node as usize];
            let Some(&(to, kind)) = edges.get(edge) else {
                self.leave(node, stack.last().map(|frame| frame.0));
                continue;
            };
            stack.push((node, edge + 1));
            if !kinds.contains(&kind) {
                continue;
            }
            if self.order[to as usize] == UNSEEN {
                self.enter(to);
                stack.push((to, 0));
            } else if self.part[to as usize] == UNSEEN {
                let low = self.order[to as usize].min(self.low[node as usize]);
                self.low[node as usize] = low;
            }
        }
    }

    fn leave(&mut self, node: u32, parent: Option<u32>) {
        let low = self.low[node as usize];
        if low == self.order[node as usize] {
            while let Some(member) = self.open.pop() {
                self.part[member as usize] = self.next_part;
                if member == node {
                    break;
                }
            }
            self.next_part += 1;
        }
        if let Some(parent) = parent {
            self.low[parent as usize] = self.low[parent as usize].min(low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_shortest_cycle_through_a_kind_of_edge_and_none_where_there_is_none() {
        let mut graph = Graph::new(5);
        for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)] {
            graph.add(from, to, Edge::WriteWrite);
        }
        assert_eq!(
            graph.cycles(&[Edge::WriteWrite], Edge::WriteRead),
            Vec::<Vec<_>>::new()
        );
        let all = graph.cycles(&[Edge::WriteWrite], Edge::WriteWrite);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].len(), 3);
        graph.add(3, 4, Edge::WriteRead);
        assert!(
            graph
                .cycles(&[Edge::WriteWrite, Edge::WriteRead], Edge::WriteRead)
                .is_empty()
        );
    }
}
