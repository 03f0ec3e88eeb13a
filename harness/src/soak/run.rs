//! One run or one trial of a canary: the words it is given, and the record
//! that is made of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::record::{Ending, Record, Trial};
use super::suite::{Canary, Cell};
use crate::child_run::{self, Bounds, Outcome};
use crate::trial::quoted;

/// What is to be run.
pub struct Assignment<'a> {
    /// Its number in the plan; that of the round for a canary.
    pub run: u64,
    pub name: String,
    pub seed: u64,
    pub words: &'a [String],
    pub limit: Duration,
    pub canary: Option<(&'a Canary, Trial)>,
}

impl<'a> Assignment<'a> {
    pub fn of_cell(run: u64, cell: &'a Cell, seed: u64) -> Assignment<'a> {
        Assignment {
            run,
            name: cell.name.clone(),
            seed,
            words: &cell.words,
            limit: cell.limit,
            canary: None,
        }
    }

    /// The nth trial, counted from 1.
    pub fn of_canary(round: u64, canary: &'a Canary, nth: u32, seed: u64) -> Assignment<'a> {
        let trial = Trial {
            bug: canary.bug.clone(),
            round,
            trial: nth,
            trials_max: canary.trials,
            caught: false,
        };
        Assignment {
            run: round,
            name: format!("canary {}", canary.bug),
            seed,
            words: &canary.words,
            limit: canary.limit,
            canary: Some((canary, trial)),
        }
    }

    /// The name of its folder while it runs.
    pub fn slot(&self) -> String {
        match &self.canary {
            Some((_, trial)) => format!("canary-{}-{}", self.run, trial.trial),
            None => format!("run-{}", self.run),
        }
    }

    /// The name of its folder if it is kept: the soak's nth line.
    pub fn label(&self, nth: u64) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let mut slug: String = self.name.chars().map(plain).collect();
        while slug.contains("--") {
            slug = slug.replace("--", "-");
        }
        slug.truncate(60);
        format!("{nth:06}-{}-{}", slug.trim_matches('-'), self.seed)
    }

    fn replay(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        let seed = self.seed;
        format!("plimsoll test {} --seed {seed}", words.join(" ")).replace("  ", " ")
    }

    /// Runs it; none where it was dropped half-way.
    pub fn carry_out(
        &self,
        exe: &Path,
        out: &Path,
        limit: Duration,
        abandon: &dyn Fn() -> bool,
    ) -> Option<Record> {
        let started = std::time::SystemTime::now();
        let clock = std::time::Instant::now();
        let mut words = self.words.to_vec();
        words.push(format!("--seed={}", self.seed));
        words.push(format!("--out={}", out.display()));
        words.push("--format=json".to_owned());
        let bounds = Bounds {
            limit: Some(limit),
            abandon,
        };
        let finished = child_run::run(exe, &words, &bounds);
        let mut record = Record {
            nth: 0,
            run: self.run,
            cell: self.name.clone(),
            canary: self.canary.as_ref().map(|(_, trial)| trial.clone()),
            seed: self.seed,
            ending: Ending::TestBed,
            finding: String::new(),
            violations: BTreeMap::new(),
            attempted: 0,
            acked: 0,
            lost_acked: 0,
            faults: 0,
            writes_unavailable_ms: 0,
            wall_ms: super::terms::millis(clock.elapsed()),
            run_rss_kib: finished.max_rss_kib,
            soak_rss_kib: 0,
            disk_bytes: 0,
            at_ms: 0,
            started_utc: humantime::format_rfc3339_seconds(started).to_string(),
            folder: None,
            replay: self.replay(),
        };
        match finished.outcome {
            Outcome::Abandoned => return None,
            Outcome::Failed(why) => record.finding = why,
            Outcome::Judged(verdict) => record.take_verdict(&verdict),
        }
        self.see_whether_caught(&mut record);
        Some(record)
    }

    /// A canary is caught by a violation that its bug is known for, not by any.
    fn see_whether_caught(&self, record: &mut Record) {
        if let (Some((canary, _)), Some(trial)) = (&self.canary, &mut record.canary) {
            trial.caught = record.ending == Ending::Invalid
                && canary
                    .expect
                    .iter()
                    .any(|anomaly| record.violations.contains_key(anomaly));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::passed;
    use super::*;

    fn canary() -> Canary {
        Canary {
            bug: "ignores-deposition".to_owned(),
            expect: vec!["two-leaders".to_owned()],
            trials: 3,
            words: vec!["--bug=ignores-deposition".to_owned()],
            limit: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_canary_is_caught_only_by_an_anomaly_that_it_is_known_for() {
        let canary = canary();
        let assignment = Assignment::of_canary(4, &canary, 2, 99);
        let caught = |ending, anomaly: &str| {
            let mut record = passed(4, "canary");
            record.canary = assignment.canary.as_ref().map(|(_, trial)| trial.clone());
            record.ending = ending;
            record.violations = BTreeMap::from([(anomaly.to_owned(), 1)]);
            assignment.see_whether_caught(&mut record);
            record.canary.is_some_and(|trial| trial.caught)
        };
        assert!(caught(Ending::Invalid, "two-leaders"));
        assert!(!caught(Ending::Invalid, "duplicate"));
        assert!(!caught(Ending::TestBed, "two-leaders"));
    }

    #[test]
    fn a_kept_run_has_a_short_name_that_sorts_by_time() {
        let cell = Cell {
            name: "acks all [faults=kill,pause]".to_owned(),
            weight: 1,
            words: vec!["--acks=all".to_owned(), "--scenario=my file".to_owned()],
            limit: Duration::from_secs(60),
        };
        let assignment = Assignment::of_cell(11, &cell, 5);
        assert_eq!(assignment.label(12), "000012-acks-all-faults-kill-pause-5");
        assert_eq!(
            assignment.replay(),
            "plimsoll test --acks=all '--scenario=my file' --seed 5"
        );
    }
}
