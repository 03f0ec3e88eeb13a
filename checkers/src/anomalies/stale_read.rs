//! `stale-read`: a read misses an append that had been acknowledged before the
//! read began.
//!
//! Measured always, accused only where reads are promised to be linearizable: a
//! follower lags, and a deposed leader goes on serving, in a correct log. The
//! reply's high watermark says how far the reader could see (key 2*hw). Final
//! reads are repeated until they see the barrier, so they are left out.

use super::{Checker, Find, witness};
use crate::facts::records::{Event, NEVER, Send};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words;
use crate::promise::Scope;

pub(crate) const NAME: &str = "stale-read";

pub(super) const CHECKER: Checker = Checker {
    anomaly: NAME,
    definition: "a read misses what was acknowledged before it began, where that is promised",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let promised = facts
        .history
        .header()
        .is_some_and(|header| header.promise.linearizable_reads);
    if promised {
        sweep(partition, |send, read| {
            report(facts, partition, send, read, found);
        });
    }
}

/// How many reads of the partition were stale.
pub(crate) fn count(partition: &Partition<'_>) -> u64 {
    let mut stale = 0;
    sweep(partition, |_, _| stale += 1);
    stale
}

/// Calls `tell` for each stale read with the newest append that it misses.
fn sweep(partition: &Partition<'_>, mut tell: impl FnMut(&Send, u32)) {
    let mut floors = vec![(-1, NEVER); partition.reads.len()];
    let mut newest = (-1_i64, NEVER);
    for &event in &partition.events {
        match event {
            Event::ReadInvoked(row) => floors[row as usize] = newest,
            Event::SendReturned(row) => {
                let send = &partition.sends[row as usize];
                let offset = send
                    .offset
                    .filter(|_| send.acked() && partition.takes_part(send));
                if let Some(offset) = offset.filter(|&offset| offset > newest.0) {
                    newest = (offset, row);
                }
            }
            Event::ReadReturned(row) => {
                let read = &partition.reads[row as usize];
                let hw = read.info.map_or(-1, |info| info.hw);
                let (offset, send) = floors[row as usize];
                if read.ok && !read.is_final && hw >= 0 && offset >= hw && send != NEVER {
                    tell(&partition.sends[send as usize], row);
                }
            }
            Event::SendInvoked(_) => {}
        }
    }
}

fn report(facts: &Facts<'_>, partition: &Partition<'_>, send: &Send, row: u32, found: &mut Found) {
    let read = &partition.reads[row as usize];
    let (ack, shown) = (facts.op(send.ret), facts.op(read.ret));
    let proved = send.ret < read.invoke
        && witness::acknowledges(ack, partition.key, send.value)
        && !witness::holds(shown, partition.key, send.value);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: send.offset,
            values: vec![send.value],
            ops: vec![ack.index, shown.index],
            time_ns: shown.time,
            sentence: format!(
                "{} of {} had been acknowledged before a read began that could not see it.",
                words::shown(send.value),
                partition.key,
            ),
            scope: Scope::Any,
        },
    );
}
