//! The summary of a soak: Markdown fit for a CI step's summary, JSON, the last
//! lines on a terminal, and the line that each run gets.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::ledger::{CanaryTally, CellTally, Ledger};
use super::record::{Ending, Record};
use super::series::Series;
use super::terms::Terms;

/// Runs with a word of their own in the Markdown.
/// A number as a person reads it.
type Shown = fn(u64) -> String;

const LISTED_MAX: usize = 20;
/// Longest finding in the Markdown.
const FINDING_CHARS_MAX: usize = 300;

/// All that a summary tells.
pub struct Summary<'a> {
    pub title: &'a str,
    pub terms: &'a Terms,
    pub folder: &'a Path,
    pub ledger: &'a Ledger,
    pub elapsed_ms: u64,
    pub kept: usize,
    pub thinned: usize,
}

impl Summary<'_> {
    /// What is to be known first, in a sentence.
    fn headline(&self) -> String {
        let ledger = self.ledger;
        let runs = ledger.runs();
        let invalid = ledger.count(Ending::Invalid);
        let found = match (runs, invalid) {
            (0, _) => "No run is over yet".to_owned(),
            (_, 0) if ledger.only_failures() => format!("The test bed failed in all {runs} runs"),
            (_, 0) => format!("No violation in {runs} runs"),
            (_, invalid) => format!("VIOLATIONS in {invalid} of {runs} runs"),
        };
        let blind = match ledger.is_blind() {
            true => {
                " and THE SOAK IS BLIND: a known bug was not caught, so what was not found says nothing"
            }
            false => "",
        };
        format!("{found}{blind}.")
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("## Soak: {}\n\n", self.headline());
        let title = match self.title.is_empty() {
            true => &self.terms.suite,
            false => self.title,
        };
        let _ = writeln!(
            text,
            "{}. Seed `{}`, begun {}, {} of running, {} at a time.\n",
            cell_text(title),
            self.terms.seed,
            self.terms.started_utc,
            duration(self.elapsed_ms),
            self.terms.jobs
        );
        self.write_cells(&mut text);
        self.write_canaries(&mut text);
        self.write_notable(&mut text);
        self.write_resources(&mut text);
        text
    }

    fn write_cells(&self, text: &mut String) {
        text.push_str(
            "| cell | runs | valid | of these with permitted losses | invalid | unknown | test bed failed \
             | acked | lost share | worst write outage |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        let ran = self.ledger.cells.iter().filter(|cell| cell.runs > 0);
        for cell in ran.chain([&total(&self.ledger.cells)]) {
            let permitted = cell.count(Ending::PermittedLoss);
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} s |",
                cell_text(&cell.name),
                cell.runs,
                cell.count(Ending::Valid) + permitted,
                permitted,
                loud(cell.count(Ending::Invalid)),
                cell.count(Ending::Unknown),
                cell.count(Ending::TestBed),
                cell.acked,
                share(cell),
                seconds(cell.writes_unavailable_ms_max)
            );
        }
        let waiting = self
            .ledger
            .cells
            .iter()
            .filter(|cell| cell.runs == 0)
            .count();
        if waiting > 0 {
            let _ = writeln!(text, "\n{waiting} cells have not been run yet.");
        }
    }

    fn write_canaries(&self, text: &mut String) {
        if self.ledger.canaries.is_empty() {
            text.push_str(
                "\n### Canaries\n\nThe suite has none: nothing shows that this soak can see.\n",
            );
            return;
        }
        text.push_str(
            "\n### Canaries\n\nBrokers with a known bug, each of which must be caught.\n\n\
             | bug | caught | missed | runs | most runs to catch it | runs allowed |\n|---|--:|--:|--:|--:|--:|\n",
        );
        for canary in &self.ledger.canaries {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                canary.bug,
                canary.caught,
                loud(canary.missed),
                canary.trials,
                canary.trials_max,
                canary.trials_allowed
            );
        }
    }

    fn write_notable(&self, text: &mut String) {
        let sections = [
            ("Violations", &self.ledger.violations),
            ("Runs without a verdict", &self.ledger.others),
        ];
        for (title, records) in sections {
            if records.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n### {title}\n");
            for record in records.iter().rev().take(LISTED_MAX) {
                let _ = writeln!(
                    text,
                    "- **{}**, {}: {}{}\n  `{}`",
                    cell_text(&record.cell),
                    record.ending.name(),
                    cell_text(&shortened(&record.finding)),
                    record
                        .folder
                        .as_ref()
                        .map_or(String::new(), |f| format!(" (`{f}`)")),
                    record.replay
                );
            }
            if records.len() > LISTED_MAX {
                let _ = writeln!(text, "- and earlier ones; see `soak.jsonl`");
            }
        }
    }

    fn write_resources(&self, text: &mut String) {
        text.push_str(
            "\n### Memory and disk\n\n| | first | median | last | most |\n|---|--:|--:|--:|--:|\n",
        );
        let ledger = self.ledger;
        let rows: [(&str, &Series, Shown); 3] = [
            ("resident set of the soak", &ledger.soak_rss_kib, mib_of_kib),
            ("largest process of a run", &ledger.run_rss_kib, mib_of_kib),
            ("what is kept", &ledger.disk_bytes, megabytes),
        ];
        for (name, series, unit) in rows {
            if let Some(shown) = series.shown() {
                let [first, median, last, max] =
                    [shown.first, shown.median, shown.last, shown.max].map(unit);
                let _ = writeln!(text, "| {name} | {first} | {median} | {last} | {max} |");
            }
        }
        let _ = writeln!(
            text,
            "\n{} runs are kept, {} of them thinned to stay within {}.",
            self.kept,
            self.thinned,
            megabytes(self.terms.max_disk_bytes)
        );
    }

    pub fn json(&self) -> Value {
        let ledger = self.ledger;
        json!({
            "headline": self.headline(),
            "suite": self.terms.suite,
            "seed": self.terms.seed,
            "folder": self.folder.display().to_string(),
            "elapsed_ms": self.elapsed_ms,
            "runs": ledger.runs(),
            "valid": ledger.count(Ending::Valid) + ledger.count(Ending::PermittedLoss),
            "permitted_losses": ledger.count(Ending::PermittedLoss),
            "invalid": ledger.count(Ending::Invalid),
            "unknown": ledger.count(Ending::Unknown),
            "test_bed_failures": ledger.count(Ending::TestBed),
            "blind": ledger.is_blind(),
            "cells": ledger.cells.iter().map(cell_json).collect::<Vec<_>>(),
            "canaries": ledger.canaries.iter().map(canary_json).collect::<Vec<_>>(),
            "violations": ledger.violations,
            "kept": self.kept,
            "thinned": self.thinned,
            "soak_rss_kib": series_json(&ledger.soak_rss_kib),
            "run_rss_kib": series_json(&ledger.run_rss_kib),
            "disk_bytes": series_json(&ledger.disk_bytes),
        })
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
                "  {}: {}\n    {}",
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
                lost => format!(", {lost} lost"),
            };
            format!(
                "{}: {}, {} acked{lost}",
                record.cell,
                record.ending.name(),
                record.acked
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
            count => format!(", {count} violations so far"),
        },
        if ledger.is_blind() { ", BLIND" } else { "" }.to_owned(),
    ];
    format!(
        "{:5}  {what}  (seed {}, {:.1} s, soak {} MiB, kept {}{}{}){finding}",
        ledger.lines,
        record.seed,
        seconds(record.wall_ms),
        record.soak_rss_kib / 1024,
        megabytes(record.disk_bytes),
        marks[0],
        marks[1]
    )
}

fn total(cells: &[CellTally]) -> CellTally {
    let mut total = CellTally {
        name: "all".to_owned(),
        ..CellTally::default()
    };
    for cell in cells {
        total.merge(cell);
    }
    total
}

fn share(cell: &CellTally) -> String {
    format!("{:.4} %", 100.0 * ratio(cell.lost_acked, cell.acked))
}

#[expect(clippy::cast_precision_loss, reason = "counts for display")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn seconds(ms: u64) -> f64 {
    ratio(ms, 1000)
}

fn mib_of_kib(kib: u64) -> String {
    format!("{:.1} MiB", ratio(kib, 1024))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", ratio(bytes, 1_000_000))
}

fn loud(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        count => format!("**{count}**"),
    }
}

fn duration(ms: u64) -> String {
    let whole = std::time::Duration::from_secs(ms / 1000);
    humantime::format_duration(whole).to_string()
}

/// Text that cannot end a table's cell or a line.
fn cell_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain.replace('|', "\\|").replace('<', "&lt;")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(FINDING_CHARS_MAX) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} ...", &text[..at]),
    }
}

fn cell_json(cell: &CellTally) -> Value {
    json!({
        "name": cell.name,
        "runs": cell.runs,
        "valid": cell.count(Ending::Valid) + cell.count(Ending::PermittedLoss),
        "permitted_losses": cell.count(Ending::PermittedLoss),
        "invalid": cell.count(Ending::Invalid),
        "unknown": cell.count(Ending::Unknown),
        "test_bed_failures": cell.count(Ending::TestBed),
        "attempted": cell.attempted,
        "acked": cell.acked,
        "lost_acked": cell.lost_acked,
        "lost_share": ratio(cell.lost_acked, cell.acked),
        "faults": cell.faults,
        "writes_unavailable_ms_max": cell.writes_unavailable_ms_max,
    })
}

fn canary_json(canary: &CanaryTally) -> Value {
    json!({
        "bug": canary.bug,
        "caught": canary.caught,
        "missed": canary.missed,
        "trials": canary.trials,
        "trials_most": canary.trials_max,
        "trials_allowed": canary.trials_allowed,
    })
}

fn series_json(series: &Series) -> Value {
    series.shown().map_or(Value::Null, |shown| {
        json!({ "first": shown.first, "median": shown.median, "last": shown.last, "max": shown.max })
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::passed;
    use super::super::suite::Suite;
    use super::*;

    fn terms() -> Terms {
        serde_json::from_value(json!({ "plimsoll": "0", "suite": "mine.toml", "seed": 7,
            "started_utc": "2026-01-01T00:00:00Z", "time_limit_ms": 1000, "runs": null, "jobs": 1,
            "stop_on_violation": false, "max_disk_bytes": 2_000_000_000, "run_limit_ms": null }))
        .expect("terms")
    }

    fn markdown_of(records: &[Record]) -> String {
        let text = "[[run]]\nname='a|b'\n[[run]]\nname='c'\n[[canary]]\nbug='ignores-deposition'\n\
                    expect='two-leaders'\n";
        let mut ledger = Ledger::new(&Suite::parse("mine", text).expect("sound"));
        records.iter().for_each(|record| ledger.add(record));
        let summary = Summary {
            title: "",
            terms: &terms(),
            folder: Path::new("results/x"),
            ledger: &ledger,
            elapsed_ms: 3_723_000,
            kept: 2,
            thinned: 1,
        };
        summary.markdown()
    }

    #[test]
    fn a_summary_has_a_row_a_cell_and_its_memory_and_disk() {
        let lossy = Record {
            ending: Ending::PermittedLoss,
            lost_acked: 9,
            ..passed(1, "a|b")
        };
        let text = markdown_of(&[passed(0, "a|b"), lossy]);
        assert!(
            text.starts_with("## Soak: No violation in 2 runs.\n"),
            "{text}"
        );
        assert!(
            text.contains("| a\\|b | 2 | 2 | 1 | 0 | 0 | 0 | 1800 | 0.5000 % | 1.2 s |"),
            "{text}"
        );
        assert!(
            text.contains("1h 2m 3s") && text.contains("1 cells have not been run"),
            "{text}"
        );
        assert!(
            text.contains("| resident set of the soak | 8.8 MiB | 8.8 MiB |"),
            "{text}"
        );
        assert!(
            text.contains("2 runs are kept, 1 of them thinned to stay within 2000.0 MB."),
            "{text}"
        );
    }

    #[test]
    fn a_violation_stands_with_its_sentence_its_folder_and_its_command() {
        let violation = Record {
            ending: Ending::Invalid,
            finding: "lost-write: value 5 | gone\nfor good".to_owned(),
            folder: Some("kept/000001-c-101".to_owned()),
            ..passed(1, "c")
        };
        let text = markdown_of(&[passed(0, "a|b"), violation]);
        assert!(
            text.starts_with("## Soak: VIOLATIONS in 1 of 2 runs.\n"),
            "{text}"
        );
        assert!(
            text.contains("value 5 \\| gone for good (`kept/000001-c-101`)"),
            "{text}"
        );
        assert!(text.contains("`plimsoll test --seed 101`"), "{text}");
    }
}
