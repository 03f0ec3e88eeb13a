//! Ops that ended before others began, with the greater key.

use super::reading::Cell;
use super::{Accusation, Log, NEVER};

/// An op with its keys.
#[derive(Debug, Clone, Copy)]
struct Keyed {
    begin: u32,
    end: u32,
    low: u64,
    high: u64,
    revision: u64,
    reads: bool,
}

/// One violating pair for each later op.
pub(super) fn violations(cell: &Cell, log: &Log) -> Vec<Accusation> {
    let ops = keyed(cell, log);
    let mut moments: Vec<(u32, usize)> = Vec::with_capacity(2 * ops.len());
    for (which, op) in ops.iter().enumerate() {
        moments.push((op.begin, which));
        if op.end != NEVER {
            moments.push((op.end, which));
        }
    }
    moments.sort_unstable();
    let mut newest: Option<usize> = None;
    let mut accusations = Vec::new();
    for (at, which) in moments {
        let op = &ops[which];
        if at == op.begin {
            if let Some(holder) = newest.filter(|&holder| ops[holder].low > op.high) {
                accusations.push(accuse(&ops[holder], op));
            }
        } else if newest.is_none_or(|holder| ops[holder].low < op.low) {
            newest = Some(which);
        }
    }
    accusations
}

fn keyed(cell: &Cell, log: &Log) -> Vec<Keyed> {
    let mut ops = Vec::new();
    for (&revision, entry) in &log.entries {
        let write = cell.writes.get(entry.write as usize);
        let Some(write) = write.filter(|_| !entry.ambiguous) else {
            continue;
        };
        let key = 2 * revision + 1;
        ops.push(Keyed {
            begin: write.span.0,
            end: write.span.1,
            low: key,
            high: key,
            revision,
            reads: false,
        });
    }
    for read in &cell.reads {
        ops.push(Keyed {
            begin: read.span.0,
            end: read.span.1,
            low: 2 * read.revision + 2,
            high: log.next(read.revision).map_or(u64::MAX, |next| 2 * next),
            revision: read.revision,
            reads: true,
        });
    }
    ops
}

fn accuse(before: &Keyed, after: &Keyed) -> Accusation {
    let did = |op: &Keyed| match op.reads {
        true => format!("read revision {}", op.revision),
        false => format!("wrote revision {}", op.revision),
    };
    let end = |op: &Keyed| match op.end {
        NEVER => op.begin,
        end => end,
    };
    Accusation {
        kind: match (before.reads, after.reads) {
            (_, true) => "stale-read",
            _ => "realtime-order",
        },
        ops: vec![end(before), after.begin, end(after)],
        message: format!(
            "One op {} and had ended before another began, which {}.",
            did(before),
            did(after)
        ),
    }
}
