//! JUnit XML: a suite for each cell, in it one test case for all of its runs
//! that passed and one for each other run that is remembered. A violation is a
//! failure, a run whose outcome is unknown is skipped, a test bed that failed
//! is an error; a canary that was missed is a failure of its own.

use std::fmt::Write;

use super::ledger::{CanaryTally, CellTally, Ledger};
use super::record::{Ending, Record};
use crate::report::numbers::counted;

/// The whole file.
pub fn render(ledger: &Ledger) -> String {
    let mut suites = String::new();
    let mut sums = Sums::default();
    for cell in ledger.cells.iter().filter(|cell| cell.runs > 0) {
        let notable = ledger.violations.iter().chain(&ledger.others);
        let records: Vec<&Record> = notable.filter(|record| record.cell == cell.name).collect();
        sums.add(&write_cell(&mut suites, cell, &records));
    }
    if !ledger.canaries.is_empty() {
        sums.add(&write_canaries(&mut suites, &ledger.canaries));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll soak\" {}>\n{suites}</testsuites>\n",
        sums.attributes()
    )
}

#[derive(Default)]
struct Sums {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skipped += other.skipped;
    }

    fn attributes(&self) -> String {
        format!(
            "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
            self.tests, self.failures, self.errors, self.skipped
        )
    }
}

fn write_cell(out: &mut String, cell: &CellTally, records: &[&Record]) -> Sums {
    let mut sums = Sums::default();
    let mut cases = String::new();
    let class = escaped(&cell.name);
    let permitted = cell.count(Ending::PermittedLoss);
    let passed = cell.count(Ending::Valid) + permitted;
    if passed > 0 {
        sums.tests += 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{class}\" name=\"{}, {permitted} with permitted losses\" \
             time=\"{}\"/>",
            counted(passed, "valid run"),
            seconds(cell.passed_wall_ms)
        );
    }
    for record in records {
        sums.tests += 1;
        let (element, count) = match record.ending {
            Ending::Invalid => ("failure", &mut sums.failures),
            Ending::TestBed => ("error", &mut sums.errors),
            _ => ("skipped", &mut sums.skipped),
        };
        *count += 1;
        let place = record.folder.as_deref().unwrap_or("not kept");
        let _ = writeln!(
            cases,
            "    <testcase classname=\"{class}\" name=\"run {}, seed {}\" time=\"{}\">\n      \
             <{element} message=\"{}\">{}\n{}\nkept in: {}</{element}>\n    </testcase>",
            record.nth,
            record.seed,
            seconds(record.wall_ms),
            escaped(&record.finding),
            escaped(&record.finding),
            escaped(&record.replay),
            escaped(place)
        );
    }
    let attributes = sums.attributes();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{class}\" {attributes} time=\"{}\">\n    <properties><property name=\"runs\" \
         value=\"{}\"/><property name=\"invalid\" value=\"{}\"/></properties>\n{cases}  </testsuite>",
        seconds(cell.wall_ms),
        cell.runs,
        cell.count(Ending::Invalid)
    );
    sums
}

fn write_canaries(out: &mut String, canaries: &[CanaryTally]) -> Sums {
    let mut sums = Sums::default();
    let mut cases = String::new();
    for canary in canaries
        .iter()
        .filter(|canary| canary.caught + canary.missed > 0)
    {
        sums.tests += 1;
        let bug = escaped(&canary.bug);
        if canary.missed == 0 {
            let _ = writeln!(
                cases,
                "    <testcase classname=\"canaries\" name=\"{bug} caught {}\"/>",
                times(canary.caught)
            );
            continue;
        }
        sums.failures += 1;
        let _ = writeln!(
            cases,
            "    <testcase classname=\"canaries\" name=\"{bug}\">\n      <failure message=\"the soak is blind: the \
             bug {bug} was not caught within {}, {}\"/>\n    </testcase>",
            counted(canary.trials_allowed.into(), "run"),
            times(canary.missed)
        );
    }
    let attributes = sums.attributes();
    let _ = writeln!(
        out,
        "  <testsuite name=\"canaries\" {attributes}>\n{cases}  </testsuite>"
    );
    sums
}

fn times(number: u64) -> String {
    counted(number, "time")
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Text as XML can carry it; what XML 1.0 has no way to write is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::record::Trial;
    use super::super::record::tests::passed;
    use super::super::suite::Suite;
    use super::*;

    #[test]
    fn each_class_of_ending_has_the_element_that_readers_know() {
        let text =
            "[[run]]\nname='a <1>'\n[[canary]]\nbug='ignores-deposition'\nexpect='two-leaders'\n";
        let mut ledger = Ledger::new(&Suite::parse("mine", text).expect("sound"));
        let endings = [
            Ending::Valid,
            Ending::PermittedLoss,
            Ending::Invalid,
            Ending::Unknown,
            Ending::TestBed,
        ];
        for (ending, run) in endings.into_iter().zip(0..) {
            let finding = "x < \"y\" \u{1b}[31m & z".to_owned();
            ledger.add(&Record {
                ending,
                finding,
                ..passed(run, "a <1>")
            });
        }
        let canary = Some(Trial {
            bug: "ignores-deposition".to_owned(),
            round: 0,
            trial: 1,
            trials_max: 1,
            caught: false,
        });
        ledger.add(&Record {
            canary,
            ..passed(0, "canary")
        });
        let xml = render(&ledger);
        for part in [
            "<testsuites name=\"plimsoll soak\" tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\">",
            "name=\"2 valid runs, 1 with permitted losses\"",
            "<failure message=\"x &lt; &quot;y&quot; [31m &amp; z\">",
            "<error message=",
            "<skipped message=",
            "plimsoll test --seed 102",
            "the soak is blind",
            // Numbered from 1, as the lines and the folders are; and the runs that passed took 20 s
            // of the cell's 50 s.
            "name=\"run 3, seed 102\"",
            "with permitted losses\" time=\"20.000\"",
            "classname=\"a &lt;1&gt;\"",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
        assert!(!xml.contains('\u{1b}'));
    }
}
