//! `hw-regression`: a replica's high watermark falls within one incarnation and
//! leader epoch.
//!
//! A lower one after a restart or a change of leader is correct: a new leader
//! starts from what it knew as a follower. So is a lower one of a follower,
//! which takes what its new leader says. Hence only replies that prove their
//! epoch count, and only of the node that led it where anybody saw who did.

use std::collections::BTreeMap;

use super::{Checker, Find};
use crate::facts::cluster::Cluster;
use crate::facts::records::{Event, Read};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::{Op, ReadInfo};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "hw-regression",
    definition: "a high watermark falls within one incarnation and leader epoch",
    find: Find::Run(find),
};

fn find(facts: &Facts<'_>, found: &mut Found) {
    let cluster = Cluster::new(facts);
    for partition in &facts.partitions {
        sweep(facts, partition, &cluster, found);
    }
}

/// Replica, incarnation and leader epoch: within these it never falls.
type Reign = (i32, u64, i32);

fn sweep(facts: &Facts<'_>, partition: &Partition<'_>, cluster: &Cluster, found: &mut Found) {
    let mut highest: BTreeMap<Reign, (i64, u32)> = BTreeMap::new();
    let mut floors: Vec<Option<(i64, u32)>> = vec![None; partition.reads.len()];
    for &event in &partition.events {
        match event {
            Event::ReadInvoked(row) => {
                let reign = reign(&partition.reads[row as usize]);
                if let Some(floor) = reign.and_then(|(reign, _)| highest.get(&reign)) {
                    floors[row as usize] = Some(*floor);
                }
            }
            Event::ReadReturned(row) => {
                let read = &partition.reads[row as usize];
                let Some((reign, hw)) = reign(read) else {
                    continue;
                };
                if let Some((floor, holder)) = floors[row as usize].filter(|floor| floor.0 > hw)
                    && cluster.may_lead(partition.key, i64::from(reign.2), i64::from(reign.0))
                {
                    let before = facts.op(partition.reads[holder as usize].ret);
                    report(
                        partition,
                        before,
                        facts.op(read.ret),
                        (floor, hw),
                        facts.index(read.invoke),
                        found,
                    );
                }
                let newest = highest.entry(reign).or_insert((hw, row));
                if hw > newest.0 {
                    *newest = (hw, row);
                }
            }
            Event::SendInvoked(_) | Event::SendReturned(_) => {}
        }
    }
}

fn reign(read: &Read<'_>) -> Option<(Reign, i64)> {
    let info = read.info.filter(|_| read.ok)?;
    let proved = info.hw >= 0 && info.replica >= 0 && info.leader_epoch >= 0;
    proved.then_some(((info.replica, info.incarnation, info.leader_epoch), info.hw))
}

fn report(
    partition: &Partition<'_>,
    before: &Op,
    after: &Op,
    (high, low): (i64, i64),
    invoked: u64,
    found: &mut Found,
) {
    let info = |op: &Op| op.reads.get(partition.key).cloned();
    let same = |one: &ReadInfo, other: &ReadInfo| {
        (one.replica, one.incarnation, one.leader_epoch)
            == (other.replica, other.incarnation, other.leader_epoch)
    };
    let (Some(one), Some(other)) = (info(before), info(after)) else {
        return;
    };
    let proved = same(&one, &other) && one.hw > other.hw && before.index < invoked;
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(low),
            values: Vec::new(),
            ops: vec![before.index, after.index],
            time_ns: after.time,
            sentence: format!(
                "The high watermark of {} at replica {} fell from {high} to {low} within leader epoch {}.",
                partition.key, one.replica, one.leader_epoch,
            ),
            scope: Scope::Any,
        },
    );
}
