//! Counts of sends and reads by how they ended.

use std::collections::BTreeSet;

use super::Measures;
use crate::anomalies;
use crate::facts::records::{Ended, Send};
use crate::facts::{Facts, Partition};

pub(super) fn count(facts: &Facts<'_>) -> Measures {
    let mut measures = Measures::default();
    for partition in &facts.partitions {
        let passed = anomalies::passed_over(partition).into_iter();
        let passed: BTreeSet<i64> = passed.map(|(send, _)| send.value).collect();
        for send in partition.sends.iter().filter(|send| !send.barrier) {
            count_send(partition, send, &passed, &mut measures);
        }
        measures.late += late(partition);
        measures.stale_reads += anomalies::count_stale_reads(partition);
        measures.reads += partition.reads.iter().filter(|read| read.ok).count() as u64;
    }
    measures
}

fn count_send(
    partition: &Partition<'_>,
    send: &Send,
    passed: &BTreeSet<i64>,
    measures: &mut Measures,
) {
    measures.attempted += 1;
    match (send.ended, send.acks) {
        (Ended::Ok, Some(0)) => {
            measures.unacknowledged += 1;
            measures.missing_unacknowledged += u64::from(partition.is_gone(send, None));
        }
        (Ended::Ok, _) => {
            measures.acked += 1;
            measures.unverified += u64::from(is_unverified(partition, send, passed));
        }
        (Ended::Fail, _) => measures.failed += 1,
        (Ended::Info, _) => {
            measures.indeterminate += 1;
            measures.unacked_but_present += u64::from(send.kept_at.is_some());
        }
    }
}

/// Nobody saw the record, and nobody read past it either.
fn is_unverified(partition: &Partition<'_>, send: &Send, passed: &BTreeSet<i64>) -> bool {
    if partition.verified() {
        return send.kept_at.is_none() && send.read_at.is_none() && !partition.is_lost(send);
    }
    send.read_at.is_none() && !passed.contains(&send.value)
}

/// Distinct values above the barrier in final logs, its own copies excepted.
fn late(partition: &Partition<'_>) -> u64 {
    let Some(barrier) = partition.barrier else {
        return 0;
    };
    let is_barrier = |value: i64| {
        let send = partition.send_of(value).map(|row| &partition.sends[row]);
        send.is_some_and(|send| send.barrier) || barrier.value == Some(value)
    };
    let records = partition
        .finals
        .iter()
        .flat_map(|log| log.records(&partition.reads));
    let late: BTreeSet<i64> = records
        .filter(|&(offset, value)| offset > barrier.offset && !is_barrier(value))
        .map(|record| record.1)
        .collect();
    late.len() as u64
}
