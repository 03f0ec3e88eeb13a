//! `G1a`: an ok read holds a value whose send certainly failed.
//!
//! Adya's aborted read, as Jepsen names it. Never permitted. It rests on the
//! producer's white list of errors after which nothing was appended.

use super::{Checker, Find, witness};
use crate::facts::records::{Ended, NEVER};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::OpType;
use crate::history::words;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "G1a",
    definition: "a read shows a value whose send certainly failed",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    for send in &partition.sends {
        if send.ended != Ended::Fail || send.barrier || send.first_read == NEVER {
            continue;
        }
        let read = &partition.reads[send.first_read as usize];
        let (failed, shown) = (facts.op(send.ret), facts.op(read.ret));
        let proved = failed.kind == OpType::Fail
            && witness::names(failed, partition.key, send.value)
            && shown.kind == OpType::Ok
            && witness::holds(shown, partition.key, send.value);
        let error = failed.error.as_deref().unwrap_or("no error named");
        let sentence = format!(
            "The send of {} to {} certainly failed ({error}), yet a read shows it.",
            words::shown(send.value),
            partition.key,
        );
        found.add(
            proved,
            Finding {
                anomaly: CHECKER.anomaly,
                key: partition.key.to_owned(),
                offset: send.read_at.map(|at| at.0),
                values: vec![send.value],
                ops: vec![failed.index, shown.index],
                time_ns: shown.time,
                sentence,
                scope: Scope::Any,
            },
        );
    }
}
