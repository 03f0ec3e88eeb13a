//! `poll-skip`: a consumer passes over records between one reply and the next.
//!
//! A consumer that asks by offset proves it alone: the reply begins above a
//! record that is known to stand at or above the offset asked for. For
//! consumers that do not say where they begin Jepsen's rule holds: the last
//! value read by a process in its previous ok op against the first of this op,
//! more than one known record apart; an assign or subscribe drops the keys that
//! it does not name.

use super::int_poll_skip::skipped;
use super::nonmonotonic_poll::{Step, steps};
use super::{Checker, Find, witness};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "poll-skip",
    definition: "a consumer passes over records between one reply and the next",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    skipped(facts, partition, CHECKER.anomaly, false, found);
    if !partition.foreign {
        return;
    }
    for step in steps(facts, partition) {
        if step.delta > 1 {
            report(facts, partition, &step, found);
        }
    }
}

fn report(facts: &Facts<'_>, partition: &Partition<'_>, step: &Step, found: &mut Found) {
    let (before, after) = (facts.op(step.before), facts.op(step.after));
    let proved = witness::shows(before, partition.key, step.last.0, step.last.1)
        && witness::shows(after, partition.key, step.first.0, step.first.1)
        && step.last.0 < step.first.0;
    found.add(
        proved,
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(step.first.0),
            values: vec![step.last.1, step.first.1],
            ops: vec![before.index, after.index],
            time_ns: after.time,
            sentence: format!(
                "Process {} read {} up to offset {} and went on at offset {}, past records that are there.",
                after.process, partition.key, step.last.0, step.first.0,
            ),
            scope: match facts.subscribes {
                true => Scope::Subscribed,
                false => Scope::Any,
            },
        },
    );
}
