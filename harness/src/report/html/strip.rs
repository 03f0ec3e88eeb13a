//! The numbers of the run in one strip.

use plimsoll_checkers::Verdict;

use super::escape::escaped;
use crate::report::losses::LossReport;
use crate::report::numbers::{count, counted, duration_ms, share};

pub fn strip(verdict: &Verdict, losses: &LossReport) -> String {
    let measures = &verdict.measures;
    let latency = |ms: Option<f64>| ms.map_or("none".to_owned(), duration_ms);
    let mut cells = vec![
        cell("", "Attempted", &count(measures.attempted), ""),
        cell(
            "",
            "Acknowledged",
            &count(measures.acked),
            &match losses.writes_measurable {
                true => share(measures.acked, measures.attempted),
                false => "none asked for".to_owned(),
            },
        ),
        cell("", "Failed", &count(measures.failed), "not written"),
        cell(
            "",
            "Indeterminate",
            &count(measures.indeterminate),
            &format!("{} in the log", count(measures.unacked_but_present)),
        ),
        lost(verdict),
        cell(
            bad(measures.duplicates),
            "Duplicates",
            &count(measures.duplicates),
            "",
        ),
        cell(
            "",
            "Unavailable",
            &match losses.writes_measurable {
                true => duration_ms(measures.unavailable_ms as f64),
                false => "?".to_owned(),
            },
            &match losses.writes_measurable {
                true => unavailable(verdict),
                false => "not measurable".to_owned(),
            },
        ),
        cell("", "Ack p50", &latency(measures.latency_ms.p50), ""),
        cell(
            "",
            "Ack p99",
            &latency(measures.latency_ms.p99),
            &format!("max {}", latency(measures.latency_ms.max)),
        ),
        cell(
            "",
            "Leader changes",
            &count(measures.leader_changes),
            &counted(measures.isr_shrinks, "ISR shrink"),
        ),
    ];
    let mut further = |name: &str, number: u64, note: &str| {
        if number > 0 {
            cells.push(cell("", name, &count(number), note));
        }
    };
    further("Unverified", measures.unverified, "acked, not read");
    further("Stale reads", measures.stale_reads, "measured only");
    further("Late", measures.late, "after the barrier");
    further(
        "Missing",
        measures.missing_unacknowledged,
        "sent with acks=0",
    );
    format!(
        "<dl class=\"strip\" style=\"--cols:{}\" aria-label=\"Numbers\">\n{}</dl>",
        columns(cells.len()),
        cells.join("\n")
    )
}

/// So many columns that the last row is as full as can be.
fn columns(tiles: usize) -> usize {
    let gap = |columns: &usize| tiles.next_multiple_of(*columns) - tiles;
    (5..=7).min_by_key(gap).unwrap_or(5)
}

fn lost(verdict: &Verdict) -> String {
    let measures = &verdict.measures;
    let note = match (measures.lost_acked, measures.unverified) {
        (0, 0) => String::new(),
        (0, _) => "as far as read".to_owned(),
        (lost, _) => format!("{} of acked", share(lost, measures.acked)),
    };
    cell(
        bad(measures.lost_acked),
        "Lost",
        &count(measures.lost_acked),
        &note,
    )
}

fn unavailable(verdict: &Verdict) -> String {
    let worst = verdict.measures.unavailable.writes.worst.as_deref();
    worst.map_or(String::new(), |worst| format!("worst: {worst}"))
}

fn bad(number: u64) -> &'static str {
    if number > 0 { " class=bad" } else { "" }
}

fn cell(class: &str, name: &str, value: &str, note: &str) -> String {
    let note = match note {
        "" => "&nbsp;".to_owned(),
        note => escaped(note).into_owned(),
    };
    format!(
        "<div{class}><dt>{name}</dt><dd>{}<small>{note}</small></dd></div>",
        escaped(value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiles_fill_their_rows() {
        assert_eq!([10, 11, 12, 13, 14].map(columns), [5, 6, 6, 7, 7]);
    }
}
