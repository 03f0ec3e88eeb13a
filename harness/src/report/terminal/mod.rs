//! The report on a terminal: the verdict in plain words first, then one table
//! of numbers, what was lost, how faults were got over, what was found, and how to repeat the run.
//!
//! Fits 100 columns and is readable at 80. Colour only where asked for.

use plimsoll_checkers::{Judged, Validity, Verdict};
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::peaker::PriorityMax;
use tabled::settings::{Alignment, Modify, Style, Width};

use super::headline::{Outcome, headline};
use super::losses::{LossReport, Spread, Stage};
use super::numbers::{at, count, duration_ms, share};
use super::{RunMeta, lost};

/// How many lost records and findings are shown; the report has the rest.
const SHOWN: usize = 5;
pub(super) const COLUMNS: usize = 96;

/// The whole report as text that ends with a newline.
pub fn terminal(verdict: &Verdict, meta: &RunMeta, losses: &LossReport, colour: bool) -> String {
    let mut text = first_line(verdict, colour);
    text.push_str(&numbers(verdict, losses));
    text.push_str(&lost_records(verdict, losses));
    text.push_str(&faults(losses));
    text.push_str(&disks(losses));
    text.push_str(&findings(verdict));
    text.push_str(&where_to_look(verdict, meta));
    text
}

fn first_line(verdict: &Verdict, colour: bool) -> String {
    let headline = headline(verdict);
    let tag = headline.tag.to_uppercase();
    let (on, off) = match (colour, headline.outcome) {
        (false, _) => ("", ""),
        (true, Outcome::Kept) => ("\x1b[1;32m", "\x1b[0m"),
        (true, Outcome::Permitted | Outcome::Unknown) => ("\x1b[1;33m", "\x1b[0m"),
        (true, Outcome::Broken) => ("\x1b[1;31m", "\x1b[0m"),
    };
    let mut text = format!("{on}{tag}{off}: {}\n", headline.text());
    if !headline.why.is_empty() {
        text.push_str(&wrapped(&headline.why, ""));
    }
    // An unknown verdict's reason is in its headline.
    if let Some(reason) = verdict
        .reason
        .as_ref()
        .filter(|_| headline.outcome == Outcome::Broken)
    {
        text.push_str(&wrapped(&format!("Beside that: {reason}."), ""));
    }
    text
}

fn numbers(verdict: &Verdict, losses: &LossReport) -> String {
    let mut table = Builder::default();
    for [name, value, note] in rows(verdict, losses) {
        table.push_record([name, value, note]);
    }
    let mut table = table.build();
    table
        .with(Style::rounded().remove_horizontals())
        .with(Modify::new(Columns::one(1)).with(Alignment::right()))
        .with(
            Width::wrap(COLUMNS)
                .keep_words(true)
                .priority(PriorityMax::right()),
        );
    format!("\n{table}\n")
}

fn rows(verdict: &Verdict, losses: &LossReport) -> Vec<[String; 3]> {
    let measures = &verdict.measures;
    let row = |name: &str, value: String, note: String| [name.to_owned(), value, note];
    let mut rows = vec![
        row("attempted", count(measures.attempted), String::new()),
        row(
            "acknowledged",
            count(measures.acked),
            match losses.writes_measurable {
                true => format!("{} of attempted", share(measures.acked, measures.attempted)),
                false => "acks=0 asks for no acknowledgement".to_owned(),
            },
        ),
        row(
            "failed",
            count(measures.failed),
            "certainly not written".to_owned(),
        ),
        row(
            "indeterminate",
            count(measures.indeterminate),
            format!("{} of them in the log", count(measures.unacked_but_present)),
        ),
    ];
    if measures.unacknowledged > 0 {
        rows.push(row(
            "no answer asked",
            count(measures.unacknowledged),
            format!("{} missing", count(measures.missing_unacknowledged)),
        ));
    }
    rows.push(row(
        "lost",
        count(measures.lost_acked),
        lost_note(verdict, losses),
    ));
    rows.extend(doubts(verdict));
    rows.push(row(
        "duplicated",
        count(measures.duplicates),
        permission(verdict, "duplicate"),
    ));
    rows.push(match losses.writes_measurable {
        true => row(
            "unavailable",
            duration_ms(measures.unavailable_ms as f64),
            unavailable_note(verdict),
        ),
        false => row(
            "unavailable",
            "?".to_owned(),
            "not measurable: acks=0 asks for no answer".to_owned(),
        ),
    });
    rows.push(row(
        "latency",
        latency(measures.latency_ms.p50),
        latency_note(verdict),
    ));
    rows.push(row(
        "leader changes",
        count(measures.leader_changes),
        format!("{} ISR shrinks", count(measures.isr_shrinks)),
    ));
    rows.push(row(
        "faults",
        count(measures.faults),
        format!(
            "{} acknowledgements while one was on",
            count(measures.acks_in_fault_windows)
        ),
    ));
    rows.push(row(
        "stale reads",
        count(measures.stale_reads),
        format!("of {} reads; measured, not accused", count(measures.reads)),
    ));
    rows
}

/// Rows that only a run with something to doubt needs.
fn doubts(verdict: &Verdict) -> Vec<[String; 3]> {
    let measures = &verdict.measures;
    let mut rows = Vec::new();
    let mut add = |name: &str, number: u64, note: &str| {
        if number > 0 {
            rows.push([name.to_owned(), count(number), note.to_owned()]);
        }
    };
    add(
        "unverified",
        measures.unverified,
        "acknowledged, but nobody read so far",
    );
    add("late", measures.late, "appeared after the barrier");
    rows
}

fn lost_note(verdict: &Verdict, losses: &LossReport) -> String {
    let measures = &verdict.measures;
    if measures.lost_acked == 0 {
        return match measures.unverified {
            0 => String::new(),
            _ => "as far as it was read".to_owned(),
        };
    }
    let partitions: Vec<String> = lost::by_partition(verdict)
        .iter()
        .map(|(key, records)| format!("{key} {}", count(records.len() as u64)))
        .collect();
    let by = match partitions.len() {
        0..=6 => partitions.join(", "),
        more => format!("in {more} partitions"),
    };
    let stages = losses.stages.iter();
    let stages: Vec<String> = stages
        .map(|(stage, number)| match stage {
            Stage::Unknown => format!("{} at an unknown stage", count(*number)),
            stage => format!("{} {}", count(*number), stage.words()),
        })
        .collect();
    format!(
        "{} of acknowledged; {by}; {}; {}",
        share(measures.lost_acked, measures.acked),
        stages.join(", "),
        permission(verdict, "lost-write"),
    )
}

fn permission(verdict: &Verdict, anomaly: &str) -> String {
    let violated = verdict.violations.contains(&anomaly);
    let permitted = verdict.permitted.contains(&anomaly);
    match (violated, permitted) {
        (true, _) => "a violation".to_owned(),
        (false, true) => "permitted".to_owned(),
        (false, false) => String::new(),
    }
}

fn unavailable_note(verdict: &Verdict) -> String {
    let unavailable = &verdict.measures.unavailable;
    let mut notes = Vec::new();
    if let Some(worst) = &unavailable.writes.worst {
        notes.push(format!("writes of {worst}, the worst"));
    }
    if unavailable.reads.worst_ms > 0 {
        notes.push(format!(
            "reads {}",
            duration_ms(unavailable.reads.worst_ms as f64)
        ));
    }
    let sides = unavailable.by_place.iter();
    let sides: Vec<String> = sides
        .map(|(place, at)| format!("{place} {}", duration_ms(at.writes.worst_ms as f64)))
        .collect();
    if !sides.is_empty() {
        notes.push(format!("by clients' side: {}", sides.join(", ")));
    }
    notes.join("; ")
}

fn latency(ms: Option<f64>) -> String {
    ms.map_or("none".to_owned(), duration_ms)
}

fn latency_note(verdict: &Verdict) -> String {
    let latency_ms = &verdict.measures.latency_ms;
    match latency_ms.p50 {
        None => String::new(),
        Some(_) => format!(
            "p50; p99 {}, max {}",
            latency(latency_ms.p99),
            latency(latency_ms.max)
        ),
    }
}

fn lost_records(verdict: &Verdict, losses: &LossReport) -> String {
    let records = &verdict.measures.lost;
    if records.is_empty() {
        return String::new();
    }
    let mut table = Builder::default();
    table.push_record([
        "partition",
        "offset",
        "value",
        "acked at",
        "by",
        "fault",
        "stage",
        "now there",
    ]);
    for (record, loss) in records.iter().zip(&losses.losses).take(SHOWN) {
        let number = |number: Option<i64>| number.map_or("?".to_owned(), |n| n.to_string());
        table.push_record([
            record.key.clone(),
            number(record.offset),
            record.value.to_string(),
            format!("{} s", at(record.acked_ns)),
            record.node.clone().unwrap_or_else(|| "?".to_owned()),
            lost::faults_of(verdict, record),
            loss.stage.words().to_owned(),
            record
                .instead
                .map_or("nothing".to_owned(), |n| n.to_string()),
        ]);
    }
    let mut table = table.build();
    table
        .with(Style::rounded())
        .with(Modify::new(Columns::new(1..4)).with(Alignment::right()))
        .with(
            Width::wrap(COLUMNS)
                .keep_words(true)
                .priority(PriorityMax::right()),
        );
    let title = match records.len() {
        0..=SHOWN => "Lost records:".to_owned(),
        more => format!("The first {SHOWN} of {} lost records:", count(more as u64)),
    };
    format!("\n{title}\n{table}\n")
}

/// How the faults were got over, by kind.
fn faults(losses: &LossReport) -> String {
    if losses.by_kind.is_empty() {
        return String::new();
    }
    let mut table = Builder::default();
    table.push_record([
        "fault",
        "n",
        "to a new leader",
        "to the first ack",
        "heal to full ISR",
        "lost",
    ]);
    let spread = |spread: Option<Spread>| {
        spread.map_or("none seen".to_owned(), |spread| {
            format!(
                "{} (max {})",
                duration_ms(spread.median as f64),
                duration_ms(spread.max as f64)
            )
        })
    };
    for kind in &losses.by_kind {
        table.push_record([
            kind.fault.clone(),
            count(kind.faults),
            spread(kind.to_new_leader_ms),
            match losses.writes_measurable {
                true => spread(kind.to_first_ack_ms),
                false => "not measurable".to_owned(),
            },
            spread(kind.heal_to_full_isr_ms),
            count(kind.lost),
        ]);
    }
    let mut table = table.build();
    table
        .with(Style::rounded())
        .with(Modify::new(Columns::new(1..)).with(Alignment::right()))
        .with(
            Width::wrap(COLUMNS)
                .keep_words(true)
                .priority(PriorityMax::right()),
        );
    format!("\n{table}\n")
}

/// What the disks say; the verdict stays as it is.
fn disks(losses: &LossReport) -> String {
    let Some(resolved) = &losses.resolved else {
        return String::new();
    };
    let fates = &resolved.indeterminate;
    let line = format!(
        "On the disks after the stop (the verdict stays): of the indeterminate sends {} on every \
         replica, {} on some, {} nowhere, {} unknown; of the lost records {} on some disk.",
        count(fates.on_every_replica),
        count(fates.on_some),
        count(fates.nowhere),
        count(fates.unknown),
        count(resolved.lost_on_some_disk),
    );
    format!("\n{}", wrapped(&line, ""))
}

fn findings(verdict: &Verdict) -> String {
    let mut text = String::new();
    for one in verdict.looked_for.iter().filter(|one| one.violations > 0) {
        let of = |judged: &&Judged| !judged.permitted && judged.finding.anomaly == one.anomaly;
        text.push_str(&format!(
            "\nVIOLATION {} ({}): {}.\n",
            one.anomaly,
            count(one.violations),
            one.definition
        ));
        for judged in verdict.anomalies.iter().filter(of).take(SHOWN) {
            let ops: Vec<String> = judged.finding.ops.iter().map(u64::to_string).collect();
            let line = format!("{} (ops {})", judged.finding.sentence, ops.join(", "));
            text.push_str(&wrapped(&line, "  "));
        }
    }
    for name in &verdict.permitted {
        let mut of = verdict.anomalies.iter();
        let first = of.find(|judged| judged.permitted && judged.finding.anomaly == *name);
        let because = first.and_then(|judged| judged.because.as_deref());
        let total = verdict.anomaly_counts.get(name).copied().unwrap_or(0);
        let line = format!(
            "Permitted: {name} ({}): {}.",
            count(total),
            because.unwrap_or("")
        );
        text.push('\n');
        text.push_str(&wrapped(&line, ""));
    }
    let clean: Vec<&str> = verdict
        .looked_for
        .iter()
        .filter(|one| one.found == 0)
        .map(|one| one.anomaly)
        .collect();
    let said = match verdict.valid {
        Validity::Unknown => "Not found in what could be judged",
        _ => "Looked for and not found",
    };
    let line = format!("{said}: {}.", clean.join(", "));
    text.push('\n');
    text.push_str(&wrapped(&line, ""));
    text
}

fn where_to_look(verdict: &Verdict, meta: &RunMeta) -> String {
    let mut text = String::from("\n");
    if let Some(run) = meta.run.as_ref().or(verdict.run.as_ref()) {
        text.push_str(&format!("Report:  {run}/report.html\n"));
    }
    if let Some(replay) = meta.replay.as_ref().or(verdict.replay.as_ref()) {
        text.push_str(&format!("Repeat:  {replay}\n"));
    }
    text
}

/// Breaks a paragraph at spaces so that it fits the terminal.
pub(super) fn wrapped(paragraph: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut line = String::from(indent);
    for word in paragraph.split_whitespace() {
        let used = line.chars().count();
        if used > indent.len() && used + 1 + word.chars().count() > COLUMNS {
            text.push_str(line.trim_end());
            text.push('\n');
            line = format!("{indent}  ");
        } else if used > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    text.push_str(line.trim_end());
    text.push('\n');
    text
}
