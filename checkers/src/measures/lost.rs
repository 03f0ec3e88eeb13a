//! The acknowledged records that are gone, with what a person asks about each.

use serde::Serialize;

use crate::anomalies;
use crate::facts::faults::FaultWindow;
use crate::facts::records::Send;
use crate::facts::{Facts, Partition};

/// A fault bites before it is proved to hold: a process dies at once and is reaped later, and a cut
/// is proved by connections that fail. What was acknowledged so shortly before that proof belongs to it.
pub const PROOF_MARGIN_NS: u64 = 1_000_000_000;

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
    /// Whether that is the barrier, which the harness itself wrote after the faults.
    pub instead_is_barrier: bool,
    /// Faults (by number) that were on when it was acknowledged.
    pub faults: Vec<u64>,
    /// Where none was on: the fault that was next proved to hold, within [`PROOF_MARGIN_NS`].
    pub before_fault: Option<u64>,
    /// Where none was on and none that hit the node was about to be: the fault of the node that had
    /// been healed last, within the same margin. A leader that comes back is the last to hear that it
    /// was deposed.
    pub after_fault: Option<u64>,
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
    let faults: Vec<u64> = on.map(|window| window.id).collect();
    let near = match faults.is_empty() {
        true => Near::find(&facts.windows, ack.time, ack.node.as_deref()),
        false => Near::default(),
    };
    let instead = place
        .and_then(|place| partition.known[place])
        .filter(|&value| value != send.value);
    LostRecord {
        key: partition.key.to_owned(),
        value: send.value,
        offset: send.offset,
        acked_ns: ack.time,
        node: ack.node.clone(),
        instead,
        instead_is_barrier: instead.is_some_and(|value| partition.is_barrier(value)),
        faults,
        before_fault: near.before,
        after_fault: near.after,
        op: ack.index,
    }
}

/// Faults near a moment at which none was on.
#[derive(Default)]
struct Near {
    before: Option<u64>,
    after: Option<u64>,
}

impl Near {
    fn find(windows: &[FaultWindow], time_ns: u64, node: Option<&str>) -> Self {
        let hits = |window: &FaultWindow| {
            node.is_some_and(|node| window.targets.iter().any(|target| target == node))
        };
        let soon = || {
            let within = windows.iter().filter_map(|window| {
                let wait = window.from_ns.checked_sub(time_ns)?;
                (wait <= PROOF_MARGIN_NS).then_some((wait, window))
            });
            within.min_by_key(|(wait, window)| (!hits(window), *wait))
        };
        let since = || {
            let within = windows.iter().filter_map(|window| {
                let since = time_ns.checked_sub(window.to_ns?)?;
                (since <= PROOF_MARGIN_NS && hits(window)).then_some((since, window))
            });
            within.min_by_key(|(since, _)| *since)
        };
        let (next, last) = (soon(), since());
        match (next, last) {
            (Some((_, next)), _) if hits(next) => Self {
                before: Some(next.id),
                after: None,
            },
            (_, Some((_, last))) => Self {
                before: None,
                after: Some(last.id),
            },
            (next, None) => Self {
                before: next.map(|(_, next)| next.id),
                after: None,
            },
        }
    }
}
