//! Where the sends of one process stand among the known records.
//!
//! Jepsen's rules for `nonmonotonic-send` and the `int-` forms measure in indices: offsets without
//! a known record count for nothing. A value whose place nobody knows is left out.

use crate::facts::records::{Ended, NEVER, Send};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words;
use crate::promise::Scope;

/// A send whose place is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// Row of the send.
    pub row: u32,
    pub offset: i64,
    /// Among the partition's known records.
    pub index: i64,
}

/// The sends of one op to one partition, in their order; `None` where the place is unknown.
pub(super) struct Group {
    /// Position of the op's completion.
    pub ret: u32,
    pub sends: Vec<Option<Placed>>,
}

/// All ok and indeterminate ops that sent to the partition, in order of their completion.
pub(super) fn groups(partition: &Partition<'_>) -> Vec<Group> {
    let dense = partition.dense_indices();
    let mut groups: Vec<Group> = Vec::new();
    let mut invoke = NEVER;
    for (row, send) in partition.sends.iter().enumerate() {
        if send.barrier || send.ended == Ended::Fail || send.ret == NEVER {
            continue;
        }
        if send.invoke != invoke {
            invoke = send.invoke;
            let ret = send.ret;
            groups.push(Group {
                ret,
                sends: Vec::new(),
            });
        }
        if let Some(group) = groups.last_mut() {
            group
                .sends
                .push(placed(partition, &dense, row as u32, send));
        }
    }
    groups.sort_by_key(|group| group.ret);
    groups
}

fn placed(partition: &Partition<'_>, dense: &[u32], row: u32, send: &Send) -> Option<Placed> {
    let read = send.read_at.map(|at| at.0);
    let offset = send.offset.or(read)?;
    let place = partition.offsets.of(offset)?;
    Some(Placed {
        row,
        offset,
        index: i64::from(*dense.get(place)?),
    })
}

/// The ops that prove where a send stands: its answer, and a read where the answer names no offset.
pub(super) fn proof(facts: &Facts<'_>, partition: &Partition<'_>, placed: &Placed) -> Vec<u64> {
    let send = &partition.sends[placed.row as usize];
    let mut ops = vec![facts.index(send.ret)];
    if send.offset.is_none()
        && let Some(read) = partition.reads.get(send.first_read as usize)
    {
        ops.push(facts.index(read.ret));
    }
    ops
}

/// Whether the ops themselves place both where they are said to be.
pub(super) fn is_proved(facts: &Facts<'_>, partition: &Partition<'_>, placed: &Placed) -> bool {
    let send = &partition.sends[placed.row as usize];
    let claimed =
        super::witness::claims(facts.op(send.ret), partition.key, placed.offset, send.value);
    let read = partition.reads.get(send.first_read as usize);
    claimed
        || read.is_some_and(|read| {
            super::witness::shows(facts.op(read.ret), partition.key, placed.offset, send.value)
        })
}

/// Reports two sends of one op that stand where they should not.
pub(super) fn report_within(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    (one, other): (&Placed, &Placed),
    (anomaly, scope, how): (&'static str, Scope, &str),
    found: &mut Found,
) {
    let send = |placed: &Placed| &partition.sends[placed.row as usize];
    let mut ops = proof(facts, partition, one);
    ops.extend(proof(facts, partition, other));
    ops.sort_unstable();
    ops.dedup();
    let values = vec![send(one).value, send(other).value];
    found.add(
        is_proved(facts, partition, one) && is_proved(facts, partition, other),
        Finding {
            anomaly,
            key: partition.key.to_owned(),
            offset: Some(other.offset),
            ops,
            time_ns: facts.op(send(other).ret).time,
            sentence: format!(
                "One op sent {} and then {} to {}, which stand at offsets {} and {}{how}.",
                words::shown(values[0]),
                words::shown(values[1]),
                partition.key,
                one.offset,
                other.offset,
            ),
            values,
            scope,
        },
    );
}
