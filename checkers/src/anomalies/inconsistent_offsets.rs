//! `inconsistent-offsets`: two or more values at one offset of a partition.
//!
//! Acknowledgements and reads both place values (Jepsen's definition). Two acks
//! at one offset are what a deposed leader and its successor leave behind: where
//! one of them is of a record that is reported as lost, the loss is judged and
//! this is not; where nobody confirmed one of them, it is permitted where losses
//! are. Two *reads* with
//! different values are a finding of their own. Final logs of replicas are
//! compared by `divergent-replicas`; here only one of them speaks.

use std::collections::BTreeMap;

use super::{Checker, Find, witness};
use crate::facts::records::Read;
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "inconsistent-offsets",
    definition: "two values at one offset of a partition",
    find: Find::Partition(find),
};

/// Who placed a value first: (value, row).
type Placed = (i64, u32);

/// Everything that was placed at one conflicting offset, first observer each.
#[derive(Default)]
struct Conflict {
    acks: BTreeMap<i64, u32>,
    reads: BTreeMap<i64, u32>,
}

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let mut acked: Vec<Option<Placed>> = vec![None; partition.offsets.len()];
    let mut shown: Vec<Option<Placed>> = vec![None; partition.offsets.len()];
    let mut conflicts: BTreeMap<i64, Conflict> = BTreeMap::new();
    place_acks(partition, &mut acked, &mut conflicts);
    place_reads(partition, &mut shown, &mut conflicts);
    for (place, (ack, read)) in acked.iter().zip(&shown).enumerate() {
        if let (Some(ack), Some(read)) = (ack, read)
            && ack.0 != read.0
        {
            conflicts
                .entry(partition.offsets.number(place))
                .or_default();
        }
    }
    for (offset, mut conflict) in conflicts {
        if let Some(place) = partition.offsets.of(offset) {
            conflict.acks.extend(acked[place]);
            conflict.reads.extend(shown[place]);
        }
        report(facts, partition, offset, &conflict, found);
    }
}

fn place_acks(
    partition: &Partition<'_>,
    acked: &mut [Option<Placed>],
    conflicts: &mut BTreeMap<i64, Conflict>,
) {
    for (row, send) in partition.sends.iter().enumerate() {
        let Some(offset) = send.offset.filter(|_| send.acked()) else {
            continue;
        };
        let Some(place) = partition.offsets.of(offset) else {
            continue;
        };
        let first = acked[place].get_or_insert((send.value, row as u32));
        if first.0 != send.value {
            let conflict = conflicts.entry(offset).or_default();
            conflict.acks.entry(send.value).or_insert(row as u32);
        }
    }
}

fn place_reads(
    partition: &Partition<'_>,
    shown: &mut [Option<Placed>],
    conflicts: &mut BTreeMap<i64, Conflict>,
) {
    let spokesman = partition.reference().map(|log| (log.replica, log.node));
    let speaks = |read: &Read<'_>| {
        let replica = read.info.map_or(-1, |info| info.replica);
        !partition.compared_as_replica(read) || spokesman == Some((replica, read.node))
    };
    for (row, read) in partition.reads.iter().enumerate() {
        if !(read.ok || partition.foreign) || !speaks(read) {
            continue;
        }
        for &(offset, value) in read.records {
            let Some(place) = partition.offsets.of(offset) else {
                continue;
            };
            let first = shown[place].get_or_insert((value, row as u32));
            if first.0 != value {
                let conflict = conflicts.entry(offset).or_default();
                conflict.reads.entry(value).or_insert(row as u32);
            }
        }
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    offset: i64,
    conflict: &Conflict,
    found: &mut Found,
) {
    let mut values: Vec<i64> = conflict.reads.keys().copied().collect();
    let mut observers: Vec<(i64, u32)> = by_position(conflict, partition);
    let scope = match conflict.reads.len() {
        0 | 1 => scope_of_claims(partition, offset, conflict),
        _ => {
            observers.retain(|(_, position)| is_read(facts, *position));
            Scope::Any
        }
    };
    values.extend(conflict.acks.keys().copied());
    values.sort_unstable();
    values.dedup();
    let places = |&(value, position): &(i64, u32)| {
        let op = facts.op(position);
        witness::shows(op, partition.key, offset, value)
            || witness::claims(op, partition.key, offset, value)
    };
    let proved = values.len() > 1 && observers.len() > 1 && observers.iter().all(places);
    let time_ns = observers.iter().map(|seen| facts.op(seen.1).time).min();
    let mut ops: Vec<u64> = observers.iter().map(|seen| facts.index(seen.1)).collect();
    ops.sort_unstable();
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            ops,
            time_ns: time_ns.unwrap_or(0),
            sentence: sentence(partition, offset, conflict, &values),
            values,
            scope,
        },
    );
}

/// One observer a value, a read where there is one.
fn by_position(conflict: &Conflict, partition: &Partition<'_>) -> Vec<(i64, u32)> {
    let mut observers = BTreeMap::new();
    for (&value, &row) in &conflict.acks {
        observers.insert(value, partition.sends[row as usize].ret);
    }
    for (&value, &row) in &conflict.reads {
        observers.insert(value, partition.reads[row as usize].ret);
    }
    observers.into_iter().collect()
}

fn is_read(facts: &Facts<'_>, position: u32) -> bool {
    facts.op(position).value.polls()
}

/// Only acks disagree, with each other or with what was read. All but one of
/// them must be claims which nothing confirms.
fn scope_of_claims(partition: &Partition<'_>, offset: i64, conflict: &Conflict) -> Scope {
    let confirmed = |row: &u32| {
        let send = &partition.sends[*row as usize];
        let stands = match partition.verified() {
            true => send.kept_at,
            false => send.read_at,
        };
        // Of a record that was sent again another copy may be there, and this one lost.
        let here = |(low, high): (i64, i64)| low <= offset && offset <= high;
        stands.is_some_and(|places| here(places) || send.attempts == 1)
    };
    let beyond_reads = conflict
        .acks
        .iter()
        .filter(|(value, _)| !conflict.reads.contains_key(value));
    let stubborn = beyond_reads.filter(|(_, row)| confirmed(row)).count();
    // One confirmed ack is the offset's owner, unless a read shows another.
    match (
        stubborn > usize::from(conflict.reads.is_empty()),
        partition.verified(),
    ) {
        (true, _) => Scope::Any,
        (false, true) => Scope::Lost,
        (false, false) => Scope::Claims,
    }
}

fn sentence(partition: &Partition<'_>, offset: i64, conflict: &Conflict, values: &[i64]) -> String {
    let list: Vec<String> = values.iter().map(|&value| partition.named(value)).collect();
    let who = match (conflict.reads.len(), conflict.acks.len()) {
        (2.., _) => "reads show",
        (1, _) => "a read and an acknowledgement place",
        _ => "acknowledgements place",
    };
    format!(
        "At offset {offset} of {} {who} different values: {}.",
        partition.key,
        list.join(" and "),
    )
}
