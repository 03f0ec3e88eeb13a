//! The summary as Markdown, fit for a CI step's summary.

use std::fmt::Write;

use super::super::ledger::CellTally;
use super::super::record::Ending;
use super::super::series::Series;
use super::Summary;
use super::words::{bytes, cell_text, duration, have, loud, mib_of_kib, ratio, seconds, shortened};
use crate::report::numbers::count;

/// Runs with a word of their own.
const LISTED_MAX: usize = 20;

impl Summary<'_> {
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
        let cells = self.ledger.cells.iter();
        let waiting = cells.filter(|cell| cell.runs == 0).count() as u64;
        if waiting > 0 {
            let _ = writeln!(text, "{} not been run yet.\n", have(waiting, "cell"));
        }
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
                count(cell.runs),
                count(cell.count(Ending::Valid) + permitted),
                count(permitted),
                loud(cell.count(Ending::Invalid)),
                count(cell.count(Ending::Unknown)),
                count(cell.count(Ending::TestBed)),
                count(cell.acked),
                share(cell),
                seconds(cell.writes_unavailable_ms_max)
            );
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
                count(canary.caught),
                loud(canary.missed),
                count(canary.trials),
                count(canary.trials_max),
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
                    "- run {}, **{}**, {}: {}{}\n  `{}`",
                    count(record.nth),
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
        type Unit = fn(u64) -> String;
        let rows: [(&str, &Series, Unit); 3] = [
            ("resident set of the soak", &ledger.soak_rss_kib, mib_of_kib),
            ("largest process of a run", &ledger.run_rss_kib, mib_of_kib),
            ("what is kept", &ledger.disk_bytes, bytes),
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
            "\n{}, {} of them thinned to stay within {}.",
            match self.kept {
                1 => "1 run is kept".to_owned(),
                kept => format!("{} runs are kept", count(kept as u64)),
            },
            count(self.thinned as u64),
            bytes(self.terms.max_disk_bytes)
        );
    }
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
    match cell.lost_acked {
        0 => "0".to_owned(),
        lost => format!("{:.4} %", 100.0 * ratio(lost, cell.acked)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ledger::Ledger;
    use super::super::super::record::Record;
    use super::super::super::record::tests::passed;
    use super::super::super::suite::Suite;
    use super::super::super::terms::Terms;
    use super::*;
    use serde_json::json;
    use std::path::Path;

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
            stopped: false,
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
            text.contains("| a\\|b | 2 | 2 | 1 | 0 | 0 | 0 | 1,800 | 0.5000 % | 1.2 s |"),
            "{text}"
        );
        assert!(
            text.contains("1h 2m 3s") && text.contains("1 cell has not been run yet.\n\n| cell |"),
            "{text}"
        );
        assert!(
            markdown_of(&[passed(0, "a|b")]).contains(" | 900 | 0 | 1.2 s |"),
            "no loss is 0"
        );
        assert!(
            text.contains("| resident set of the soak | 8.8 MiB | 8.8 MiB |"),
            "{text}"
        );
        assert!(
            text.contains("2 runs are kept, 1 of them thinned to stay within 2 GB."),
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
            text.contains("- run 2, **c**, INVALID: ")
                && text.contains("value 5 \\| gone for good (`kept/000001-c-101`)"),
            "{text}"
        );
        assert!(text.contains("`plimsoll test --seed 101`"), "{text}");
    }
}
