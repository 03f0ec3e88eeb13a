//! `nonmonotonic-send`: the sends of a process go backwards from one op to the next.
//!
//! Jepsen's rule: the last value that a process sent in its previous ok or indeterminate op against
//! the first of this op; an assign or subscribe drops the keys that it does not name. Histories with
//! circumstances of reads are judged by `realtime-order`, of which this is a part.

use std::collections::BTreeMap;

use super::nonmonotonic_poll::drops;
use super::send_order::{Group, Placed, groups, is_proved, proof};
use super::{Checker, Find};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::{Process, words};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "nonmonotonic-send",
    definition: "the sends of a process go backwards from one op to the next",
    find: Find::Partition(find),
};

enum Moment {
    Sent(u64, Group),
    Assigned(u64),
}

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    if !partition.foreign {
        return;
    }
    let mut last: BTreeMap<u64, Placed> = BTreeMap::new();
    for moment in moments(facts, partition) {
        match moment {
            Moment::Assigned(process) => {
                last.remove(&process);
            }
            Moment::Sent(process, group) => {
                if let (Some(before), Some(Some(first))) = (last.get(&process), group.sends.first())
                    && first.index - before.index < 1
                {
                    report(facts, partition, before, first, found);
                }
                match group.sends.last() {
                    Some(Some(end)) => last.insert(process, *end),
                    _ => last.remove(&process),
                };
            }
        }
    }
}

fn moments(facts: &Facts<'_>, partition: &Partition<'_>) -> Vec<Moment> {
    let mut moments = Vec::new();
    for group in groups(partition) {
        if let Process::Client(process) = facts.op(group.ret).process {
            moments.push((group.ret, Moment::Sent(process, group)));
        }
    }
    for &position in &facts.assigns {
        if let Some(process) = drops(facts.op(position), partition.key) {
            moments.push((position, Moment::Assigned(process)));
        }
    }
    moments.sort_by_key(|moment| moment.0);
    moments.into_iter().map(|moment| moment.1).collect()
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    before: &Placed,
    after: &Placed,
    found: &mut Found,
) {
    let send = |placed: &Placed| &partition.sends[placed.row as usize];
    let mut ops = proof(facts, partition, before);
    ops.extend(proof(facts, partition, after));
    ops.sort_unstable();
    ops.dedup();
    let values = vec![send(before).value, send(after).value];
    let later = facts.op(send(after).ret);
    found.add(
        is_proved(facts, partition, before)
            && is_proved(facts, partition, after)
            && facts.op(send(before).ret).process == later.process,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(after.offset),
            ops,
            time_ns: later.time,
            sentence: format!(
                "Process {} sent {} to {} and, in a later op, {}, which stand at offsets {} and {}.",
                later.process,
                words::shown(values[0]),
                partition.key,
                words::shown(values[1]),
                before.offset,
                after.offset,
            ),
            values,
            scope: Scope::Any,
        },
    );
}
