//! Sequential consistency of unique values.

use super::super::problem::{NEVER, NONE, RegisterOp};
use super::clusters::Clusters;

/// Whether one order of all ops that keeps each process's own order explains them, where every value
/// is written once; `None` where one may be written twice. `process` says who did each op.
///
/// Blocks are whole, so it is a matter of ordering blocks: each process leads from block to block,
/// and within a block only onwards.
pub fn sequential(ops: &[RegisterOp], process: &[u64], initial: u32) -> Option<bool> {
    let timeless: Vec<RegisterOp> = ops
        .iter()
        .map(|op| RegisterOp {
            inv: 0,
            ret: if op.is_info() { NEVER } else { NEVER - 1 },
            ..*op
        })
        .collect();
    let mut clusters = Clusters::new(&timeless, initial)?;
    if clusters.blocks().is_err() {
        return Some(false);
    }
    let (block_of, place) = clusters.places();
    let mut order: Vec<usize> = (0..ops.len()).filter(|&at| block_of[at] != NONE).collect();
    order.sort_unstable_by_key(|&at| (process[at], ops[at].inv, at));
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut before: Option<usize> = None;
    for at in order {
        let last = before.filter(|&last| process[last] == process[at]);
        if let Some(last) = last {
            if block_of[last] == block_of[at] {
                if place[last] > place[at] {
                    return Some(false);
                }
            } else {
                edges.push((block_of[last], block_of[at]));
            }
        }
        // What follows an indeterminate op need not follow its effect.
        before = if ops[at].is_info() { last } else { Some(at) };
    }
    let back_to_first = edges.iter().any(|(_, to)| *to == initial);
    Some(!back_to_first && acyclic(edges, clusters.starts.len()))
}

fn acyclic(mut edges: Vec<(u32, u32)>, nodes: usize) -> bool {
    edges.sort_unstable();
    edges.dedup();
    let mut incoming = vec![0_u32; nodes];
    for &(_, to) in &edges {
        incoming[to as usize] += 1;
    }
    let mut free: Vec<u32> = (0..nodes as u32)
        .filter(|&node| incoming[node as usize] == 0)
        .collect();
    let mut passed = 0;
    while let Some(node) = free.pop() {
        let first = edges.partition_point(|(from, _)| *from < node);
        for &(_, to) in edges[first..].iter().take_while(|(from, _)| *from == node) {
            passed += 1;
            incoming[to as usize] -= 1;
            if incoming[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    passed == edges.len()
}
