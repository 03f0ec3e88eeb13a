//! Reads that pass over a record which is known to be there.
//!
//! A reply that starts at the offset asked for and ends at its last record
//! covers everything between; a known record that it lacks is a hole. Gaps
//! without a known record are none (control records, aborted transactions and
//! compaction leave them).

use super::partition::Partition;
use super::records::Read;

/// A known record that one read passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Row of the read.
    pub read: u32,
    pub offset: i64,
    pub value: i64,
    /// Between two records of the reply, not before its first.
    pub inner: bool,
}

/// All holes of a partition, in order of the reads' invocations.
pub(super) fn find(partition: &Partition<'_>) -> Vec<Hole> {
    let counted = count_known(partition);
    let mut holes = Vec::new();
    for (row, read) in partition.reads.iter().enumerate() {
        if !read.ok || read.rebalanced || partition.compared_as_replica(read) {
            continue;
        }
        if let Some(span) = covered(partition, read)
            && known_within(partition, &counted, span) != read.records.len()
        {
            walk(partition, row as u32, read, span, &mut holes);
        }
    }
    holes
}

/// How many known records lie before each place.
fn count_known(partition: &Partition<'_>) -> Vec<u32> {
    let mut counted = Vec::with_capacity(partition.known.len() + 1);
    let mut before = 0;
    counted.push(before);
    for known in &partition.known {
        before += u32::from(known.is_some());
        counted.push(before);
    }
    counted
}

fn known_within(partition: &Partition<'_>, counted: &[u32], (first, last): (i64, i64)) -> usize {
    let from = partition.offsets.at_or_after(first);
    let to = partition.offsets.at_or_after(last.saturating_add(1));
    (counted[to.max(from)] - counted[from]) as usize
}

/// The offsets that a read certainly covered. Its records at the end that were
/// lost later say nothing about the log that survived.
fn covered(partition: &Partition<'_>, read: &Read<'_>) -> Option<(i64, i64)> {
    let increasing = read.records.is_sorted_by(|a, b| a.0 < b.0);
    let last = last_kept(partition, read)?;
    let first = read
        .from()
        .or(read.records.first().map(|record| record.0))?;
    (increasing && first <= last).then_some((first, last))
}

/// Offset of a read's last record that is part of what is known.
pub(crate) fn last_kept(partition: &Partition<'_>, read: &Read<'_>) -> Option<i64> {
    let kept = |&&(offset, value): &&(i64, i64)| {
        let place = partition.offsets.of(offset);
        place.is_some_and(|place| partition.known[place] == Some(value))
    };
    read.records
        .iter()
        .rev()
        .find(kept)
        .map(|&(offset, _)| offset)
}

fn walk(
    partition: &Partition<'_>,
    row: u32,
    read: &Read<'_>,
    (first, last): (i64, i64),
    holes: &mut Vec<Hole>,
) {
    let mut records = read.records.iter().peekable();
    let first_read = read.records.first().map_or(first, |&(offset, _)| offset);
    for place in partition.offsets.at_or_after(first)..partition.offsets.len() {
        let offset = partition.offsets.number(place);
        if offset > last {
            return;
        }
        while records.next_if(|record| record.0 < offset).is_some() {}
        let shown = records.peek().is_some_and(|record| record.0 == offset);
        if let Some(value) = partition.known[place].filter(|_| !shown) {
            let inner = offset > first_read;
            holes.push(Hole {
                read: row,
                offset,
                value,
                inner,
            });
        }
    }
}
