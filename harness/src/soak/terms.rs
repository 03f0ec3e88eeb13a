//! What a soak was asked to do, kept in its folder so that it can go on later.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::args::{MAX_DISK_DEFAULT, SoakArgs, TIME_LIMIT_DEFAULT, default_jobs};

/// The terms of one soak.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// Version of the program that wrote it.
    pub plimsoll: String,
    pub suite: String,
    pub seed: u64,
    pub started_utc: String,
    pub time_limit_ms: u64,
    pub runs: Option<u64>,
    pub jobs: usize,
    pub stop_on_violation: bool,
    pub max_disk_bytes: u64,
    pub run_limit_ms: Option<u64>,
}

impl Terms {
    pub fn new(args: &SoakArgs, suite: String, seed: u64, started_utc: String) -> Terms {
        // Without a time a number of runs is the only limit.
        let unlimited = args.runs.map_or(TIME_LIMIT_DEFAULT, |_| {
            Duration::from_secs(u64::from(u32::MAX))
        });
        Terms {
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            suite,
            seed,
            started_utc,
            time_limit_ms: millis(args.time_limit.unwrap_or(unlimited)),
            runs: args.runs,
            jobs: args.jobs.map_or_else(default_jobs, usize::from),
            stop_on_violation: args.stop_on_violation,
            max_disk_bytes: args.max_disk.unwrap_or(MAX_DISK_DEFAULT),
            run_limit_ms: args.run_limit.map(millis),
        }
    }

    /// The terms of a soak that goes on: what is given anew wins.
    pub fn again(mut self, args: &SoakArgs) -> Terms {
        if let Some(limit) = args.time_limit {
            self.time_limit_ms = millis(limit);
        }
        self.runs = args.runs.or(self.runs);
        self.jobs = args.jobs.map_or(self.jobs, usize::from);
        self.stop_on_violation |= args.stop_on_violation;
        self.max_disk_bytes = args.max_disk.unwrap_or(self.max_disk_bytes);
        self.run_limit_ms = args.run_limit.map(millis).or(self.run_limit_ms);
        self
    }
}

pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
