//! `read-above-hw`: an ok consumer read shows an offset at or above the high watermark of a later
//! reply of the same replica, incarnation and leader epoch.
//!
//! Within these the high watermark never falls, so what lay above it later lay above it then: the
//! replica served what was not committed. A follower takes what its new leader says, hence only
//! replies that prove their epoch count, and only of the node that led it where anybody saw who did.

use std::collections::BTreeMap;

use super::{Checker, Find, witness};
use crate::facts::cluster::Cluster;
use crate::facts::records::{Event, Read};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "read-above-hw",
    definition: "a read shows an offset at or above the high watermark of a later reply",
    find: Find::Run(find),
};

/// Replica, incarnation and leader epoch.
type Reign = (i32, u64, i32);

/// The furthest record shown so far, and the read that did.
type Furthest = ((i64, i64), u32);

fn find(facts: &Facts<'_>, found: &mut Found) {
    let cluster = Cluster::new(facts);
    for partition in &facts.partitions {
        sweep(facts, partition, &cluster, found);
    }
}

fn sweep(facts: &Facts<'_>, partition: &Partition<'_>, cluster: &Cluster, found: &mut Found) {
    let mut furthest: BTreeMap<Reign, Furthest> = BTreeMap::new();
    let mut floors: Vec<Option<Furthest>> = vec![None; partition.reads.len()];
    for &event in &partition.events {
        match event {
            Event::ReadInvoked(row) => {
                let reign = reign(&partition.reads[row as usize]);
                floors[row as usize] = reign.and_then(|reign| furthest.get(&reign).copied());
            }
            Event::ReadReturned(row) => {
                let read = &partition.reads[row as usize];
                let Some(reign) = reign(read) else { continue };
                let hw = read.info.map_or(-1, |info| info.hw);
                if let Some((record, holder)) = floors[row as usize]
                    && hw >= 0
                    && record.0 >= hw
                    && cluster.may_lead(partition.key, i64::from(reign.2), i64::from(reign.0))
                {
                    let before = &partition.reads[holder as usize];
                    report(facts, partition, (before, record), (read, hw), found);
                }
                if let Some(&last) = read.records.last() {
                    let entry = furthest.entry(reign).or_insert((last, row));
                    if last.0 > entry.0.0 {
                        *entry = (last, row);
                    }
                }
            }
            Event::SendInvoked(_) | Event::SendReturned(_) => {}
        }
    }
}

fn reign(read: &Read<'_>) -> Option<Reign> {
    let info = read.info.filter(|_| read.ok)?;
    let proved = info.replica >= 0 && info.leader_epoch >= 0;
    proved.then_some((info.replica, info.incarnation, info.leader_epoch))
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    (before, record): (&Read<'_>, (i64, i64)),
    (after, hw): (&Read<'_>, i64),
    found: &mut Found,
) {
    let (one, other) = (facts.op(before.ret), facts.op(after.ret));
    let proved = before.ret < after.invoke
        && witness::shows(one, partition.key, record.0, record.1)
        && other
            .reads
            .get(partition.key)
            .is_some_and(|info| info.hw == hw)
        && reign(before) == reign(after);
    let replica = after.info.map_or(-1, |info| info.replica);
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(record.0),
            values: vec![record.1],
            ops: vec![one.index, other.index],
            time_ns: one.time,
            sentence: format!(
                "A read of {} at replica {replica} shows offset {}, and a later reply of that replica in the same leader epoch has its high watermark at {hw}.",
                partition.key, record.0,
            ),
            scope: Scope::Any,
        },
    );
}
