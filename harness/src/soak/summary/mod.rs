//! The summary of a soak: Markdown fit for a CI step's summary, JSON, the last
//! lines on a terminal, and the line that each run gets.

mod json;
mod markdown;
mod words;

use std::fmt::Write;
use std::path::Path;

use super::ledger::Ledger;
use super::record::{Ending, Record};
use super::terms::Terms;

use self::words::{bytes, seconds, shortened};
use crate::report::numbers::{count, counted};

/// All that a summary tells.
pub struct Summary<'a> {
    pub title: &'a str,
    pub terms: &'a Terms,
    pub folder: &'a Path,
    pub ledger: &'a Ledger,
    pub elapsed_ms: u64,
    pub kept: usize,
    pub thinned: usize,
    /// By a signal, before its limits.
    pub stopped: bool,
}

impl Summary<'_> {
    /// What is to be known first, in a sentence.
    fn headline(&self) -> String {
        let ledger = self.ledger;
        let runs = counted(ledger.runs(), "run");
        let invalid = ledger.count(Ending::Invalid);
        let found = match (ledger.runs(), invalid) {
            (0, _) => "No run is over yet".to_owned(),
            (1, 0) if ledger.only_failures() => "The test bed failed in the one run".to_owned(),
            (_, 0) if ledger.only_failures() => format!("The test bed failed in all {runs}"),
            (_, 0) => format!("No violation in {runs}"),
            (_, invalid) => format!("VIOLATIONS in {} of {runs}", count(invalid)),
        };
        let blind = match ledger.is_blind() {
            true => {
                " and THE SOAK IS BLIND: a known bug was not caught, so what was not found says nothing"
            }
            false => "",
        };
        format!("{found}{blind}.")
    }

    /// The last lines of a soak.
    pub fn terminal(&self) -> String {
        let canaries = self.ledger.canaries.iter();
        let canaries: Vec<String> = canaries
            .map(|canary| {
                format!(
                    "{} {}/{}",
                    canary.bug,
                    canary.caught,
                    canary.caught + canary.missed
                )
            })
            .collect();
        let canaries = match canaries.is_empty() {
            true => "none".to_owned(),
            false => canaries.join(", "),
        };
        let mut text = format!(
            "\n{}\n  {} valid ({} with permitted losses), {} invalid, {} unknown, {} failures of the test bed\n  \
             canaries caught: {canaries}\n",
            self.headline(),
            self.ledger.count(Ending::Valid) + self.ledger.count(Ending::PermittedLoss),
            self.ledger.count(Ending::PermittedLoss),
            self.ledger.count(Ending::Invalid),
            self.ledger.count(Ending::Unknown),
            self.ledger.count(Ending::TestBed),
        );
        for record in self.ledger.violations.iter().rev().take(5) {
            let _ = writeln!(
                text,
                "  run {}, {}: {}\n    {}",
                record.nth,
                record.cell,
                shortened(&record.finding),
                record.replay
            );
        }
        let _ = writeln!(
            text,
            "  {}/summary.md, junit.xml, soak.jsonl",
            self.folder.display()
        );
        if self.stopped {
            let _ = writeln!(
                text,
                "  stopped before its time; to go on: plimsoll soak --resume {}",
                crate::trial::quoted(&self.folder.display().to_string())
            );
        }
        text
    }
}

/// The line of one run.
pub fn progress(ledger: &Ledger, record: &Record) -> String {
    let what = match &record.canary {
        Some(trial) => {
            let caught = match (trial.caught, record.ending.is_judged()) {
                (true, _) => "caught",
                (false, true) => "not caught",
                (false, false) => "test bed failed",
            };
            format!(
                "{}, trial {} of {}: {caught}",
                record.cell, trial.trial, trial.trials_max
            )
        }
        None => {
            let lost = match record.lost_acked {
                0 => String::new(),
                lost => format!(", {} lost", count(lost)),
            };
            format!(
                "{}: {}, {} acked{lost}",
                record.cell,
                record.ending.name(),
                count(record.acked)
            )
        }
    };
    let finding = match record.ending {
        Ending::Valid | Ending::PermittedLoss => String::new(),
        _ if record.canary.as_ref().is_some_and(|trial| trial.caught) => String::new(),
        _ => format!("\n      {}", shortened(&record.finding)),
    };
    let marks = [
        match ledger.violations_count {
            0 => String::new(),
            number => format!(", {} so far", counted(number, "violation")),
        },
        if ledger.is_blind() { ", BLIND" } else { "" }.to_owned(),
    ];
    format!(
        "{:5}  {what}  (seed {}, {:.1} s, soak {} MiB, kept {}{}{}){finding}",
        ledger.lines,
        record.seed,
        seconds(record.wall_ms),
        record.soak_rss_kib / 1024,
        bytes(record.disk_bytes),
        marks[0],
        marks[1]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::record::tests::passed;
    use super::super::suite::Suite;
    use super::*;

    #[test]
    fn a_soak_that_was_stopped_says_how_to_go_on_and_numbers_its_runs_as_everywhere() {
        let suite = Suite::parse("mine", "[[run]]\nname='a'\n").expect("sound");
        let mut ledger = Ledger::new(&suite);
        ledger.add(&Record {
            ending: Ending::Invalid,
            ..passed(0, "a")
        });
        let terms: Terms = serde_json::from_value(json!({ "plimsoll": "0", "suite": "mine.toml",
            "seed": 7, "started_utc": "2026-01-01T00:00:00Z", "time_limit_ms": 1000, "runs": null,
            "jobs": 1, "stop_on_violation": false, "max_disk_bytes": 1, "run_limit_ms": null }))
        .expect("terms");
        let mut summary = Summary {
            title: "",
            terms: &terms,
            folder: Path::new("results/x"),
            ledger: &ledger,
            elapsed_ms: 1,
            kept: 1,
            thinned: 0,
            stopped: false,
        };
        assert!(!summary.terminal().contains("--resume"));
        summary.stopped = true;
        let text = summary.terminal();
        assert!(
            text.contains("to go on: plimsoll soak --resume results/x"),
            "{text}"
        );
        assert!(text.contains("VIOLATIONS in 1 of 1 run."), "{text}");
        assert!(text.contains("\n  run 1, a: "), "{text}");
        assert!(
            summary
                .markdown()
                .contains("1 run is kept, 0 of them thinned")
        );
    }
}
