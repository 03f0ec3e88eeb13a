//! `int-send-skip`: two sends of one op have records of others between them
//!
//! "int" is internal to one op, as in Jepsen. Expected of every log that has several producers, and so permitted always.

use super::send_order::{groups, report_within};
use super::{Checker, Find};
use crate::facts::{Facts, Partition};
use crate::finding::Found;
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
                let how = (
                    CHECKER.anomaly,
                    Scope::Expected,
                    ", with records of others between",
                );
                report_within(facts, partition, (one, other), how, found);
            }
        }
    }
}
