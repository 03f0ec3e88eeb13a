//! `int-send-skip`: two sends of one op have records of others between them
//!
//! "int" is internal to one op, as in Jepsen. Expected of every log that has several producers, and so permitted always.

use super::send_order::{Placed, groups, is_proved, proof};
use super::{Checker, Find};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::words;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "int-send-skip",
    definition: "two sends of one op have records of others between them",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    for group in groups(partition) {
        for pair in group.sends.windows(2) {
            if let [Some(one), Some(other)] = pair
                && other.index - one.index > 1
            {
                report(facts, partition, one, other, found);
            }
        }
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    one: &Placed,
    other: &Placed,
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
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(other.offset),
            ops,
            time_ns: facts.op(send(other).ret).time,
            sentence: format!(
                "One op sent {} and then {} to {}, which stand at offsets {} and {}, with records of others between.",
                words::shown(values[0]),
                words::shown(values[1]),
                partition.key,
                one.offset,
                other.offset,
            ),
            values,
            scope: Scope::Expected,
        },
    );
}
