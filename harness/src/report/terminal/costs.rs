//! How the faults were got over, whom they kept out, and what the disks say.

use plimsoll_checkers::Verdict;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Modify, Style};

use super::layout::{fitted, wrapped};
use crate::report::losses::{LossReport, in_words};
use crate::report::numbers::{count, duration_ms};

const NOT_MEASURABLE: &str = "not measurable";

const HEAD: [&str; 6] = [
    "fault",
    "n",
    "to a new leader",
    "to the first ack",
    "heal to full ISR",
    "lost",
];

/// How the faults were got over, by kind.
pub(super) fn faults(losses: &LossReport) -> String {
    let never_came: String = losses
        .never_came
        .iter()
        .map(|one| one.words() + "\n")
        .collect();
    if losses.by_kind.is_empty() {
        return match never_came.is_empty() {
            true => never_came,
            false => format!("\n{never_came}"),
        };
    }
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for kind in &losses.by_kind {
        let spread = |spread| in_words(spread, kind.faults);
        rows.push(vec![
            kind.fault.clone(),
            count(kind.faults),
            spread(kind.to_new_leader_ms),
            match losses.writes_measurable {
                true => spread(kind.to_first_ack_ms),
                false => NOT_MEASURABLE.to_owned(),
            },
            spread(kind.heal_to_full_isr_ms),
            count(kind.lost),
        ]);
    }
    format!("\n{}\n{never_came}", numbers_right(&rows))
}

/// Who could not write or read for how long, by the side on which clients were.
pub(super) fn sides(verdict: &Verdict, losses: &LossReport) -> String {
    let sides = crate::report::sides::sides(verdict);
    if sides.is_empty() {
        return String::new();
    }
    let mut rows = vec![
        ["clients", "no write", "no read"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for side in &sides {
        rows.push(vec![
            side.name.clone(),
            match losses.writes_measurable {
                true => duration_ms(side.writes_ms as f64),
                false => NOT_MEASURABLE.to_owned(),
            },
            duration_ms(side.reads_ms as f64),
        ]);
    }
    format!("\n{}\n", numbers_right(&rows))
}

fn numbers_right(rows: &[Vec<String>]) -> String {
    let mut table = fitted(rows);
    table
        .with(Style::rounded())
        .with(Modify::new(Columns::new(1..)).with(Alignment::right()));
    table.to_string()
}

/// What the disks say; the verdict stays as it is.
pub(super) fn disks(losses: &LossReport) -> String {
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
