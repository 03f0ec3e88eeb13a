//! The acknowledged records that are gone, with what a person asks about each.

use serde::Serialize;

use crate::anomalies;
use crate::facts::records::Send;
use crate::facts::{Facts, Partition};

/// One acknowledged record that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostRecord {
    /// Partition.
    pub key: String,
    /// Its value.
    pub value: i64,
    /// Offset that the acknowledgement named.
    pub offset: Option<i64>,
    /// When it was acknowledged, in nanoseconds since the run's start.
    pub acked_ns: u64,
    /// Node that acknowledged it.
    pub node: Option<String>,
    /// What stands at that offset in the end.
    pub instead: Option<i64>,
    /// Faults (by number) that were on when it was acknowledged.
    pub faults: Vec<u64>,
    /// Index of the acknowledging op.
    pub op: u64,
}

pub(super) fn list(facts: &Facts<'_>) -> Vec<LostRecord> {
    let mut lost = Vec::new();
    for partition in &facts.partitions {
        if partition.verified() {
            let sends = partition
                .sends
                .iter()
                .filter(|send| partition.is_lost(send));
            lost.extend(sends.map(|send| record(facts, partition, send)));
        } else {
            let passed = anomalies::passed_over(partition).into_iter();
            lost.extend(passed.map(|(send, _)| record(facts, partition, send)));
        }
    }
    lost.sort_by_key(|record| (record.acked_ns, record.op));
    lost
}

fn record(facts: &Facts<'_>, partition: &Partition<'_>, send: &Send) -> LostRecord {
    let ack = facts.op(send.ret);
    let place = send.offset.and_then(|offset| partition.offsets.of(offset));
    let on = facts
        .windows
        .iter()
        .filter(|window| window.contains(ack.time));
    LostRecord {
        key: partition.key.to_owned(),
        value: send.value,
        offset: send.offset,
        acked_ns: ack.time,
        node: ack.node.clone(),
        instead: place
            .and_then(|place| partition.known[place])
            .filter(|&value| value != send.value),
        faults: on.map(|window| window.id).collect(),
        op: ack.index,
    }
}
