//! Known bugs of real replicated logs, each to be switched on with `--bug NAME`.
//!
//! This is the only place where a bug is named and the only switch that the rest of the core asks;
//! all are off by default and compiled in always, so that what the harness can detect is measured
//! on the very binary that is shipped.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One mutation of correct behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Bug {
    /// acks=all is answered at the leader's own append, before any follower has the record.
    AckAllOnLocalAppend,
    /// A leader ignores every record that deposes it, also after a partition has healed
    /// (KAFKA-1483).
    IgnoresDeposition,
    /// A consumer is given whatever the leader holds, committed or not (KAFKA-9835).
    ReadAboveHw,
    /// A leader counts a member out of the ISR as soon as it has proposed to, though the controller
    /// may never confirm it (KIP-497).
    ShrinkBeforeConfirm,
    /// A replica that becomes a follower cuts its log to its own high watermark, which lags behind
    /// what is committed (KIP-101).
    TruncateToHw,
}

impl Bug {
    /// Every bug, in the order of the command line's help.
    pub const ALL: [Bug; 5] = [
        Bug::AckAllOnLocalAppend,
        Bug::IgnoresDeposition,
        Bug::ReadAboveHw,
        Bug::ShrinkBeforeConfirm,
        Bug::TruncateToHw,
    ];

    /// The name that `--bug` takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Bug::AckAllOnLocalAppend => "ack-all-on-local-append",
            Bug::IgnoresDeposition => "ignores-deposition",
            Bug::ReadAboveHw => "read-above-hw",
            Bug::ShrinkBeforeConfirm => "shrink-before-confirm",
            Bug::TruncateToHw => "truncate-to-hw",
        }
    }
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Bug::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|bug| bug.name() == name)
            .ok_or_else(|| format!("no bug is called {name:?}; known bugs: {known}"))
    }
}

/// The bugs that are switched on in one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bugs(Vec<Bug>);

impl Bugs {
    /// Switches on `bugs` and nothing else.
    #[must_use]
    pub fn new(bugs: Vec<Bug>) -> Self {
        Self(bugs)
    }

    /// acks=all answers once the leader has the record.
    #[must_use]
    pub fn ack_all_on_local_append(&self) -> bool {
        self.0.contains(&Bug::AckAllOnLocalAppend)
    }

    /// A leader goes on leading whatever the controller has decided.
    #[must_use]
    pub fn ignores_deposition(&self) -> bool {
        self.0.contains(&Bug::IgnoresDeposition)
    }

    /// Consumers read up to the log's end.
    #[must_use]
    pub fn read_above_hw(&self) -> bool {
        self.0.contains(&Bug::ReadAboveHw)
    }

    /// A proposal that takes members out of the ISR holds at once.
    #[must_use]
    pub fn shrink_before_confirm(&self) -> bool {
        self.0.contains(&Bug::ShrinkBeforeConfirm)
    }

    /// A new follower drops what lies above its high watermark.
    #[must_use]
    pub fn truncate_to_hw(&self) -> bool {
        self.0.contains(&Bug::TruncateToHw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_is_found_by_its_own_name() {
        for bug in Bug::ALL {
            assert_eq!(bug.name().parse::<Bug>(), Ok(bug));
        }
    }

    #[test]
    fn an_unknown_bug_is_answered_with_the_names_of_the_known_ones() {
        let error = "truncate".parse::<Bug>().unwrap_err();
        assert!(error.contains("ack-all-on-local-append"), "{error}");
    }
}
