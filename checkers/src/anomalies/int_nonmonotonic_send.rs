//! `int-nonmonotonic-send`: two sends of one op stand in the wrong order
//!
//! "int" is internal to one op, as in Jepsen. Never permitted: an op sends in order.

use super::send_order::{groups, report_within};
use super::{Checker, Find};
use crate::facts::{Facts, Partition};
use crate::finding::Found;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "int-nonmonotonic-send",
    definition: "two sends of one op stand in the wrong order",
    find: Find::Partition(find),
};

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    for group in groups(partition) {
        for pair in group.sends.windows(2) {
            if let [Some(one), Some(other)] = pair
                && other.index - one.index < 1
            {
                let how = (CHECKER.anomaly, Scope::Any, "");
                report_within(facts, partition, (one, other), how, found);
            }
        }
    }
}
