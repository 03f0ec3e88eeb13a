//! The anomalies that are looked for, one a file, each with its definition.
//!
//! A checker looks at the tables, and before it reports anything it holds its
//! witness against the ops themselves by a predicate that shares no code with
//! the search.

mod aborted_read;
mod cycles;
mod divergent_replicas;
mod duplicate;
mod hw_regression;
mod inconsistent_offsets;
mod int_nonmonotonic_poll;
mod int_nonmonotonic_send;
mod int_poll_skip;
mod int_send_skip;
mod intermediate_read;
mod lost_write;
mod never_converged;
mod nonmonotonic_poll;
mod nonmonotonic_send;
pub(crate) mod not_recovered;
mod phantom_read;
mod poll_skip;
mod precommitted_read;
mod read_above_hw;
mod realtime_order;
mod send_order;
mod sessions;
pub(crate) mod stale_read;
mod two_leaders;
mod vanished_read;
mod witness;

pub(crate) use lost_write::passed_over;
pub(crate) use realtime_order::{append_key, read_key, vouched};
pub(crate) use sessions::{Guarantee, pairs as session_pairs};
pub(crate) use stale_read::count as count_stale_reads;

use crate::facts::{Facts, Partition};
use crate::finding::Found;

/// A search for one anomaly.
pub(crate) struct Checker {
    pub anomaly: &'static str,
    pub definition: &'static str,
    pub find: Find,
}

/// Over what a checker runs: one partition at a time, or the run as a whole.
pub(crate) enum Find {
    Partition(fn(&Facts<'_>, &Partition<'_>, &mut Found)),
    Run(fn(&Facts<'_>, &mut Found)),
}

/// Every checker, in the order of reports: the gravest first.
pub(crate) const CHECKERS: [Checker; 33] = [
    lost_write::CHECKER,
    vanished_read::CHECKER,
    phantom_read::CHECKER,
    aborted_read::CHECKER,
    divergent_replicas::CHECKER,
    never_converged::CHECKER,
    inconsistent_offsets::CHECKER,
    duplicate::CHECKER,
    realtime_order::CHECKER,
    sessions::MONOTONIC_READS,
    sessions::READ_YOUR_WRITES,
    sessions::MONOTONIC_WRITES,
    sessions::WRITES_FOLLOW_READS,
    poll_skip::CHECKER,
    int_poll_skip::CHECKER,
    nonmonotonic_poll::CHECKER,
    int_nonmonotonic_poll::CHECKER,
    nonmonotonic_send::CHECKER,
    int_nonmonotonic_send::CHECKER,
    int_send_skip::CHECKER,
    intermediate_read::CHECKER,
    precommitted_read::CHECKER,
    cycles::G0,
    cycles::G0_PROCESS,
    cycles::G0_REALTIME,
    cycles::G1C,
    cycles::G1C_PROCESS,
    cycles::G1C_REALTIME,
    two_leaders::CHECKER,
    read_above_hw::CHECKER,
    hw_regression::CHECKER,
    stale_read::CHECKER,
    not_recovered::CHECKER,
];

/// The names of all anomalies, the gravest first.
#[must_use]
pub fn anomaly_names() -> Vec<&'static str> {
    CHECKERS.iter().map(|checker| checker.anomaly).collect()
}

impl Checker {
    /// Runs over everything.
    pub(crate) fn run(&self, facts: &Facts<'_>, found: &mut Found) {
        match self.find {
            Find::Run(find) => find(facts, found),
            Find::Partition(find) => {
                for partition in &facts.partitions {
                    find(facts, partition, found);
                }
            }
        }
    }
}
