//! Counts for the progress line. The report counts again from the history;
//! these are only for someone who watches.

use plimsoll_checkers::history::Outcome;

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub acked: u64,
    pub failed: u64,
    pub indeterminate: u64,
    pub reads: u64,
    pub faults: u64,
    pub faults_on: u64,
}

impl Stats {
    pub fn count_send(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ok => self.acked += 1,
            Outcome::Fail => self.failed += 1,
            Outcome::Info => self.indeterminate += 1,
        }
    }
}
