//! The numbers of the run in one table.

use plimsoll_checkers::Verdict;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Modify, Style};

use super::layout::fitted;
use crate::report::losses::{LossReport, Stage};
use crate::report::lost;
use crate::report::numbers::{count, counted, duration_ms, share};

pub(super) fn numbers(verdict: &Verdict, losses: &LossReport) -> String {
    let rows: Vec<Vec<String>> = rows(verdict, losses).into_iter().map(Vec::from).collect();
    let mut table = fitted(&rows);
    table
        .with(Style::rounded().remove_horizontals())
        .with(Modify::new(Columns::one(1)).with(Alignment::right()));
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
        counted(measures.isr_shrinks, "ISR shrink"),
    ));
    rows.push(row(
        "faults",
        count(measures.faults),
        format!(
            "{} while one was on",
            counted(measures.acks_in_fault_windows, "acknowledgement")
        ),
    ));
    rows.push(row(
        "stale reads",
        count(measures.stale_reads),
        format!(
            "of {}; measured, not accused",
            counted(measures.reads, "read")
        ),
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
        notes.push(format!("writes of {worst}, the worst partition"));
    }
    if unavailable.reads.worst_ms > 0 {
        let reads = duration_ms(unavailable.reads.worst_ms as f64);
        notes.push(format!("reads {reads}"));
    }
    if !notes.is_empty() && !unavailable.by_place.is_empty() {
        notes.push("of all clients together".to_owned());
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
