//! What one replica showed in the final read of everything.
//!
//! A replica is read in several ops in a row, each starting where the last one
//! ended; a reading that begins again replaces what it repeats.

use super::records::{Barrier, Read};

/// One replica's final log.
#[derive(Debug, Clone)]
pub(crate) struct FinalLog<'h> {
    pub node: &'h str,
    pub replica: i32,
    /// Rows of the reads that make it up, in order.
    pub reads: Vec<u32>,
    /// First offset that was asked for.
    pub start: i64,
    /// First offset that was not covered.
    pub end: i64,
    /// Offsets (from, to) between two reads that neither covered: a reader may
    /// step over batches without records, and nothing is told of what it did
    /// not see.
    pub gaps: Vec<(i64, i64)>,
    /// It was read up to the barrier.
    pub complete: bool,
}

impl<'h> FinalLog<'h> {
    /// The best reading of one replica: complete if any is, else the longest.
    pub(crate) fn assemble(
        rows: &[u32],
        reads: &[Read<'h>],
        barrier: Option<Barrier>,
    ) -> Option<Self> {
        let mut passes: Vec<FinalLog<'h>> = Vec::new();
        for &row in rows {
            let read = &reads[row as usize];
            let from = read.from().unwrap_or(0);
            match passes.last_mut() {
                Some(pass) if from > pass.start || from == pass.end => {
                    pass.step_over(from);
                    pass.append(row, read);
                }
                _ => passes.push(Self::begin(row, read, from)),
            }
        }
        for pass in &mut passes {
            pass.complete = barrier.is_some_and(|barrier| pass.end > barrier.offset);
        }
        passes
            .into_iter()
            .max_by_key(|pass| (pass.complete, pass.end.saturating_sub(pass.start)))
    }

    fn begin(row: u32, read: &Read<'h>, from: i64) -> Self {
        let mut pass = Self {
            node: read.node,
            replica: read.info.map_or(-1, |info| info.replica),
            reads: Vec::new(),
            start: from,
            end: from,
            gaps: Vec::new(),
            complete: false,
        };
        pass.append(row, read);
        pass
    }

    fn append(&mut self, row: u32, read: &Read<'h>) {
        self.reads.push(row);
        if let Some(&(last, _)) = read.records.last() {
            self.end = self.end.max(last.saturating_add(1));
        }
    }

    fn step_over(&mut self, from: i64) {
        if from > self.end {
            self.gaps.push((self.end, from));
            self.end = from;
        }
    }

    /// Whether a record at this offset would have been shown.
    pub(crate) fn covers(&self, offset: i64) -> bool {
        let stepped_over = |gap: &(i64, i64)| gap.0 <= offset && offset < gap.1;
        self.start <= offset && !self.gaps.iter().any(stepped_over)
    }

    /// It does not cover everything from the first offset on.
    pub(crate) fn is_broken(&self) -> bool {
        self.start > 0 || !self.gaps.is_empty()
    }

    /// The read that covers `offset`.
    pub(crate) fn covering(&self, offset: i64, reads: &[Read<'h>]) -> Option<u32> {
        self.reads
            .iter()
            .copied()
            .find(|&row| {
                reads[row as usize]
                    .records
                    .last()
                    .is_some_and(|&(last, _)| last >= offset)
            })
            .or(self.reads.last().copied())
    }

    /// All records in order of reading.
    pub(crate) fn records<'a>(
        &'a self,
        reads: &'a [Read<'h>],
    ) -> impl Iterator<Item = (i64, i64)> + 'a {
        self.reads
            .iter()
            .flat_map(|&row| reads[row as usize].records.iter().copied())
    }

    /// How a report names this replica.
    pub(crate) fn name(&self) -> String {
        match (self.node, self.replica) {
            ("", -1) => "an unnamed replica".to_owned(),
            ("", replica) => format!("replica {replica}"),
            (node, _) => node.to_owned(),
        }
    }
}
