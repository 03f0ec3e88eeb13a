//! The values of a history as clusters, and clusters as blocks.

use super::super::problem::{NEVER, NONE, RegisterOp};
use super::flaw::Flaw;

/// A run of ops whose order is fixed and into which no other write fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub root: u32,
    /// Op that ends first, and when.
    pub first_end: (u32, u32),
    /// Op that begins last, and when.
    pub last_begin: (u32, u32),
}

pub(super) struct Clusters<'o> {
    ops: &'o [RegisterOp],
    initial: u32,
    writer: Vec<u32>,
    /// The read-modify-write that replaced a value.
    successor: Vec<u32>,
    kept: Vec<bool>,
    /// Reads of value v are `reads[starts[v]..starts[v + 1]]`, by begin.
    pub starts: Vec<u32>,
    reads: Vec<u32>,
}

impl<'o> Clusters<'o> {
    /// `None` when a value was written twice.
    pub fn new(ops: &'o [RegisterOp], initial: u32) -> Option<Self> {
        let highest = |value: u32| if value == NONE { 0 } else { value as usize + 1 };
        let each = ops.iter().map(|op| highest(op.from).max(highest(op.to)));
        let values = each.fold(highest(initial), usize::max);
        let mut writer = vec![NONE; values];
        for (at, op) in (0..).zip(ops) {
            if op.is_read() {
                continue;
            }
            let known = &mut writer[op.to as usize];
            if *known != NONE || op.to == initial {
                return None;
            }
            *known = at;
        }
        let mut clusters = Self {
            ops,
            initial,
            writer,
            successor: vec![NONE; values],
            kept: Vec::new(),
            starts: vec![0; values + 1],
            reads: Vec::new(),
        };
        clusters.keep();
        clusters.gather_reads();
        Some(clusters)
    }

    /// Indeterminate ops happened iff their value was seen.
    fn keep(&mut self) {
        self.kept = self.ops.iter().map(|op| !op.is_info()).collect();
        let ended = self.ops.iter().filter(|op| !op.is_info() && !op.is_blind());
        let mut seen: Vec<u32> = ended.map(|op| op.from).collect();
        while let Some(value) = seen.pop() {
            let writer = self.writer[value as usize];
            if writer == NONE || self.kept[writer as usize] {
                continue;
            }
            self.kept[writer as usize] = true;
            let from = self.ops[writer as usize].from;
            if from != NONE {
                seen.push(from);
            }
        }
    }

    fn gather_reads(&mut self) {
        let is_read = |op: &&RegisterOp| op.is_read() && !op.is_info();
        for op in self.ops.iter().filter(is_read) {
            self.starts[op.from as usize + 1] += 1;
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let mut next = self.starts.clone();
        self.reads = vec![0; next[next.len() - 1] as usize];
        for (at, op) in (0..).zip(self.ops) {
            if is_read(&op) {
                let place = &mut next[op.from as usize];
                self.reads[*place as usize] = at;
                *place += 1;
            }
        }
        for value in 0..self.starts.len() - 1 {
            let range = self.starts[value] as usize..self.starts[value + 1] as usize;
            let ops = self.ops;
            self.reads[range].sort_unstable_by_key(|&at| (ops[at as usize].inv, at));
        }
    }

    fn reads_of(&self, value: u32) -> &[u32] {
        let range = self.starts[value as usize]..self.starts[value as usize + 1];
        &self.reads[range.start as usize..range.end as usize]
    }

    /// The block of the first value, and all others.
    pub fn blocks(&mut self) -> Result<(Block, Vec<Block>), Flaw> {
        self.link()?;
        let mut walked = 0;
        let first = self.block(self.initial, NONE, &mut walked)?;
        let mut blocks = Vec::new();
        for (at, op) in (0..).zip(self.ops) {
            if op.is_blind() && self.kept[at as usize] {
                blocks.push(self.block(op.to, at, &mut walked)?);
            }
        }
        let rmws = (0..self.ops.len()).filter(|&at| self.is_link(at)).count();
        if walked < rmws {
            return Err(self.cycle());
        }
        Ok((first, blocks))
    }

    fn is_link(&self, at: usize) -> bool {
        self.kept[at] && !self.ops[at].is_blind() && !self.ops[at].is_read()
    }

    fn link(&mut self) -> Result<(), Flaw> {
        for (at, op) in (0..).zip(self.ops) {
            if op.is_blind() || !self.kept[at as usize] {
                continue;
            }
            if op.from != self.initial && self.writer[op.from as usize] == NONE {
                return Err(Flaw::Unwritten { read: at });
            }
            if op.is_read() {
                continue;
            }
            let successor = &mut self.successor[op.from as usize];
            if *successor != NONE {
                let first = *successor;
                return Err(Flaw::TwoSuccessors { first, second: at });
            }
            *successor = at;
        }
        Ok(())
    }

    /// Follows the read-modify-writes from `value`, which `writer` wrote, and checks the order.
    fn block(&self, value: u32, writer: u32, walked: &mut usize) -> Result<Block, Flaw> {
        let mut block = Block {
            root: value,
            first_end: (NEVER, NONE),
            last_begin: (0, NONE),
        };
        let (mut value, mut writer) = (value, writer);
        loop {
            if writer != NONE {
                self.place(&mut block, writer, true)?;
            }
            // Reads of one value are free among each other: none is held against the next.
            let before = block.last_begin;
            for &read in self.reads_of(value) {
                let late = self.ops[read as usize].ret < before.0;
                if late {
                    return Err(Flaw::Order {
                        early: before.1,
                        late: read,
                    });
                }
                self.place(&mut block, read, false)?;
            }
            writer = self.successor[value as usize];
            if writer == NONE {
                return Ok(block);
            }
            *walked += 1;
            value = self.ops[writer as usize].to;
        }
    }

    fn place(&self, block: &mut Block, at: u32, checked: bool) -> Result<(), Flaw> {
        let op = &self.ops[at as usize];
        if checked && op.ret < block.last_begin.0 {
            let early = block.last_begin.1;
            return Err(Flaw::Order { early, late: at });
        }
        if op.ret < block.first_end.0 {
            block.first_end = (op.ret, at);
        }
        if block.last_begin.1 == NONE || op.inv > block.last_begin.0 {
            block.last_begin = (op.inv, at);
        }
        Ok(())
    }

    /// Links that no walk from a write reached lead around in a circle.
    fn cycle(&self) -> Flaw {
        let mut reached = vec![false; self.ops.len()];
        let blind = self.ops.iter().filter(|op| op.is_blind());
        let roots = blind.map(|op| op.to).chain([self.initial]);
        for root in roots {
            let mut link = self.successor[root as usize];
            while link != NONE && !std::mem::replace(&mut reached[link as usize], true) {
                link = self.successor[self.ops[link as usize].to as usize];
            }
        }
        let lost = (0..self.ops.len()).find(|&at| self.is_link(at) && !reached[at]);
        let mut ops = Vec::new();
        let mut at = lost.map_or(NONE, |at| at as u32);
        // Backwards: every link off the walks has a writer that is such a link too.
        let mut met = vec![false; self.ops.len()];
        while at != NONE && !std::mem::replace(&mut met[at as usize], true) {
            ops.push(at);
            at = self.writer[self.ops[at as usize].from as usize];
        }
        let begin = ops.iter().position(|&op| op == at).unwrap_or(0);
        Flaw::Cycle {
            ops: ops.split_off(begin),
        }
    }

    /// Blocks by where they must lie, each from its write on.
    pub fn order(&self, mut blocks: Vec<Block>) -> Vec<u32> {
        blocks.sort_unstable_by_key(|block| {
            let (end, begin) = (block.first_end.0, block.last_begin.0);
            (end.min(begin), begin > end, block.root)
        });
        let mut order = Vec::with_capacity(self.ops.len());
        self.push_block(self.initial, &mut order);
        for block in &blocks {
            order.push(self.writer[block.root as usize]);
            self.push_block(block.root, &mut order);
        }
        order
    }

    /// For each op its block, by root and [`NONE`] where it did not happen, and its place there.
    pub fn places(&self) -> (Vec<u32>, Vec<u32>) {
        let mut block_of = vec![NONE; self.ops.len()];
        let mut place = vec![0; self.ops.len()];
        let blind = (0..self.ops.len()).filter(|&at| self.ops[at].is_blind() && self.kept[at]);
        let roots = blind.map(|at| self.ops[at].to).chain([self.initial]);
        for root in roots {
            let (mut value, mut writer, mut rank) = (root, self.writer[root as usize], 0);
            loop {
                if writer != NONE {
                    (block_of[writer as usize], place[writer as usize]) = (root, rank);
                }
                for &read in self.reads_of(value) {
                    (block_of[read as usize], place[read as usize]) = (root, rank + 1);
                }
                writer = self.successor[value as usize];
                if writer == NONE {
                    break;
                }
                value = self.ops[writer as usize].to;
                rank += 2;
            }
        }
        (block_of, place)
    }

    fn push_block(&self, mut value: u32, order: &mut Vec<u32>) {
        loop {
            order.extend_from_slice(self.reads_of(value));
            let link = self.successor[value as usize];
            if link == NONE {
                return;
            }
            order.push(link);
            value = self.ops[link as usize].to;
        }
    }
}
