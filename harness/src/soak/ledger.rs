//! What a soak has seen so far, in bounded memory: tallies by cell and by
//! canary, and the latest of the runs that are worth a word. It is built from
//! the lines of `soak.jsonl` alone, so a soak that goes on later knows all.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::record::{Ending, Record, Trial};
use super::series::Series;
use super::suite::Suite;

/// Violations, and other runs without a verdict, that are kept with their words.
const NOTABLE_MAX: usize = 200;

/// One cell's runs.
#[derive(Clone, Debug, Default)]
pub struct CellTally {
    pub name: String,
    pub runs: u64,
    pub by_ending: BTreeMap<Ending, u64>,
    pub attempted: u64,
    pub acked: u64,
    pub lost_acked: u64,
    pub faults: u64,
    pub writes_unavailable_ms_max: u64,
    pub wall_ms: u64,
    /// That of the runs that passed.
    pub passed_wall_ms: u64,
}

impl CellTally {
    pub fn count(&self, ending: Ending) -> u64 {
        self.by_ending.get(&ending).copied().unwrap_or(0)
    }

    /// Adds another cell's runs to these.
    pub fn merge(&mut self, other: &CellTally) {
        self.runs += other.runs;
        for (ending, count) in &other.by_ending {
            *self.by_ending.entry(*ending).or_default() += count;
        }
        self.attempted += other.attempted;
        self.acked += other.acked;
        self.lost_acked += other.lost_acked;
        self.faults += other.faults;
        self.writes_unavailable_ms_max =
            (self.writes_unavailable_ms_max).max(other.writes_unavailable_ms_max);
        self.wall_ms += other.wall_ms;
        self.passed_wall_ms += other.passed_wall_ms;
    }

    fn add(&mut self, record: &Record) {
        self.runs += 1;
        *self.by_ending.entry(record.ending).or_default() += 1;
        self.attempted += record.attempted;
        self.acked += record.acked;
        self.lost_acked += record.lost_acked;
        self.faults += record.faults;
        self.writes_unavailable_ms_max =
            (self.writes_unavailable_ms_max).max(record.writes_unavailable_ms);
        self.wall_ms += record.wall_ms;
        if matches!(record.ending, Ending::Valid | Ending::PermittedLoss) {
            self.passed_wall_ms += record.wall_ms;
        }
    }
}

/// One canary's rounds.
#[derive(Clone, Debug, Default)]
pub struct CanaryTally {
    pub bug: String,
    pub caught: u64,
    pub missed: u64,
    /// Runs that were judged, over all rounds.
    pub trials: u64,
    /// The most that one round took to catch it.
    pub trials_max: u64,
    pub trials_allowed: u32,
}

/// Numbers that are done: all below one, and some beyond.
#[derive(Clone, Debug, Default)]
struct Done {
    below: u64,
    beyond: BTreeSet<u64>,
}

impl Done {
    fn add(&mut self, number: u64) {
        if number >= self.below {
            self.beyond.insert(number);
        }
        while self.beyond.remove(&self.below) {
            self.below += 1;
        }
    }

    fn first_free(&self, taken: &BTreeSet<u64>) -> u64 {
        let mut number = self.below;
        while self.beyond.contains(&number) || taken.contains(&number) {
            number += 1;
        }
        number
    }
}

/// A round of a canary that is not over.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    judged: u32,
    made: u32,
}

/// Everything so far.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub cells: Vec<CellTally>,
    pub canaries: Vec<CanaryTally>,
    pub violations: VecDeque<Record>,
    pub violations_count: u64,
    /// Unknown, or without a verdict.
    pub others: VecDeque<Record>,
    pub soak_rss_kib: Series,
    pub run_rss_kib: Series,
    pub disk_bytes: Series,
    pub at_ms: u64,
    /// Runs and trials together.
    pub lines: u64,
    runs: Done,
    rounds: Done,
    open: BTreeMap<u64, Round>,
    taken_runs: BTreeSet<u64>,
    taken_rounds: BTreeSet<u64>,
}

impl Ledger {
    pub fn new(suite: &Suite) -> Ledger {
        let cells = suite.cells.iter().map(|cell| CellTally {
            name: cell.name.clone(),
            ..CellTally::default()
        });
        let canaries = suite.canaries.iter().map(|canary| CanaryTally {
            bug: canary.bug.clone(),
            trials_allowed: canary.trials,
            ..CanaryTally::default()
        });
        Ledger {
            cells: cells.collect(),
            canaries: canaries.collect(),
            ..Ledger::default()
        }
    }

    /// Takes one run in.
    pub fn add(&mut self, record: &Record) {
        self.lines += 1;
        self.at_ms = self.at_ms.max(record.at_ms);
        self.soak_rss_kib.add(record.soak_rss_kib);
        self.run_rss_kib.add(record.run_rss_kib);
        self.disk_bytes.add(record.disk_bytes);
        match &record.canary {
            Some(trial) => self.add_trial(record, trial),
            None => self.add_run(record),
        }
    }

    fn add_run(&mut self, record: &Record) {
        self.runs.add(record.run);
        self.taken_runs.remove(&record.run);
        if let Some(cell) = self.cells.iter_mut().find(|cell| cell.name == record.cell) {
            cell.add(record);
        }
        match record.ending {
            Ending::Valid | Ending::PermittedLoss => {}
            Ending::Invalid => {
                self.violations_count += 1;
                remember(&mut self.violations, record, self.lines);
            }
            Ending::Unknown | Ending::TestBed => remember(&mut self.others, record, self.lines),
        }
    }

    fn add_trial(&mut self, record: &Record, trial: &Trial) {
        let round = self.open.entry(trial.round).or_default();
        round.made += 1;
        round.judged += u32::from(record.ending.is_judged());
        let (judged, made) = (round.judged, round.made);
        let Some(tally) = self.canaries.iter_mut().find(|c| c.bug == trial.bug) else {
            return;
        };
        tally.trials += u64::from(record.ending.is_judged());
        // A test bed that failed is no trial; one that fails all the time shows nothing either.
        let over = judged >= trial.trials_max || made >= trial.trials_max.saturating_mul(2);
        if trial.caught {
            tally.caught += 1;
            tally.trials_max = tally.trials_max.max(u64::from(judged));
        } else if over {
            tally.missed += 1;
        } else {
            return;
        }
        self.open.remove(&trial.round);
        self.rounds.add(trial.round);
        self.taken_rounds.remove(&trial.round);
    }

    /// The next run that nobody has taken; it is taken now.
    pub fn take_run(&mut self) -> u64 {
        let run = self.runs.first_free(&self.taken_runs);
        self.taken_runs.insert(run);
        run
    }

    /// The next round of canaries, where fewer than this many were begun.
    pub fn take_round(&mut self, due: u64) -> Option<u64> {
        let round = self.rounds.first_free(&self.taken_rounds);
        (round < due).then(|| {
            self.taken_rounds.insert(round);
            round
        })
    }

    pub fn trials_made(&self, round: u64) -> u32 {
        self.open.get(&round).map_or(0, |round| round.made)
    }

    /// Whether a round that was begun is over.
    pub fn round_is_over(&self, round: u64) -> bool {
        round < self.rounds.below || self.rounds.beyond.contains(&round)
    }

    /// The number of the first run that nobody has begun.
    pub fn runs_begun(&self) -> u64 {
        self.runs.first_free(&self.taken_runs)
    }

    pub fn runs(&self) -> u64 {
        self.cells.iter().map(|cell| cell.runs).sum()
    }

    pub fn count(&self, ending: Ending) -> u64 {
        self.cells.iter().map(|cell| cell.count(ending)).sum()
    }

    /// Whether a canary was missed: what was not found says nothing then.
    pub fn is_blind(&self) -> bool {
        self.canaries.iter().any(|canary| canary.missed > 0)
    }

    /// Whether there were runs, and the test bed failed in all of them.
    pub fn only_failures(&self) -> bool {
        self.runs() > 0 && self.count(Ending::TestBed) == self.runs()
    }
}

fn remember(latest: &mut VecDeque<Record>, record: &Record, line: u64) {
    if latest.len() == NOTABLE_MAX {
        latest.pop_front();
    }
    // A line that does not say which it is was written before lines were numbered.
    latest.push_back(Record {
        nth: line,
        ..record.clone()
    });
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::passed;
    use super::*;

    fn suite() -> Suite {
        let text = "[[run]]\nname='a'\n[[canary]]\nbug='ignores-deposition'\nexpect='two-leaders'\n\
                    trials=2\n";
        Suite::parse("mine", text).expect("sound")
    }

    fn trial(round: u64, trial: u32, caught: bool, ending: Ending) -> Record {
        Record {
            canary: Some(Trial {
                bug: "ignores-deposition".to_owned(),
                round,
                trial,
                trials_max: 2,
                caught,
            }),
            ending,
            ..passed(round, "canary")
        }
    }

    #[test]
    fn a_soak_that_goes_on_takes_the_runs_that_are_missing_first() {
        let mut ledger = Ledger::new(&suite());
        for run in [0, 1, 3] {
            ledger.add(&passed(run, "a"));
        }
        assert_eq!(
            [ledger.take_run(), ledger.take_run(), ledger.take_run()],
            [2, 4, 5]
        );
        ledger.add(&passed(2, "a"));
        assert_eq!(ledger.take_run(), 6);
        assert_eq!(ledger.runs(), 4);
    }

    #[test]
    fn a_canary_that_is_not_caught_in_its_trials_makes_the_soak_blind() {
        let mut ledger = Ledger::new(&suite());
        assert_eq!(ledger.take_round(1), Some(0));
        assert_eq!(ledger.take_round(1), None);
        ledger.add(&trial(0, 1, false, Ending::Valid));
        assert!(!ledger.is_blind() && !ledger.round_is_over(0));
        ledger.add(&trial(0, 2, true, Ending::Invalid));
        assert!(!ledger.is_blind() && ledger.round_is_over(0));
        assert_eq!(
            (ledger.canaries[0].caught, ledger.canaries[0].trials_max),
            (1, 2)
        );
        ledger.add(&trial(1, 1, false, Ending::Valid));
        ledger.add(&trial(1, 2, false, Ending::Valid));
        assert!(ledger.is_blind());
        assert_eq!((ledger.runs(), ledger.violations_count), (0, 0));
    }

    #[test]
    fn a_test_bed_that_fails_is_no_trial_but_cannot_go_on_for_ever() {
        let mut ledger = Ledger::new(&suite());
        for nth in 1..=3 {
            ledger.add(&trial(0, nth, false, Ending::TestBed));
            assert!(!ledger.is_blind());
        }
        ledger.add(&trial(0, 4, false, Ending::TestBed));
        assert!(ledger.is_blind());
        assert_eq!(ledger.canaries[0].trials, 0);
    }

    #[test]
    fn memory_is_bounded_and_violations_are_counted_all_the_same() {
        let mut ledger = Ledger::new(&suite());
        for run in 0..1000 {
            let ending = Ending::Invalid;
            ledger.add(&Record {
                ending,
                ..passed(run, "a")
            });
        }
        assert_eq!(ledger.violations.len(), NOTABLE_MAX);
        assert_eq!(ledger.violations_count, 1000);
        assert_eq!(ledger.violations.back().map(|record| record.run), Some(999));
        assert_eq!(
            ledger.violations.back().map(|record| record.nth),
            Some(1000)
        );
    }
}
