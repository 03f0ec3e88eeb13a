//! The first of the lost records.

use plimsoll_checkers::Verdict;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Modify, Style};

use super::SHOWN;
use super::layout::fitted;
use crate::report::losses::LossReport;
use crate::report::lost::{faults_of, now_there};
use crate::report::numbers::{at, count};

const HEAD: [&str; 8] = [
    "partition",
    "offset",
    "value",
    "acked at",
    "by",
    "fault",
    "stage",
    "now there",
];

pub(super) fn records(verdict: &Verdict, losses: &LossReport) -> String {
    let records = &verdict.measures.lost;
    if records.is_empty() {
        return String::new();
    }
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for (record, loss) in records.iter().zip(&losses.losses).take(SHOWN) {
        let number = |number: Option<i64>| number.map_or("?".to_owned(), |n| n.to_string());
        rows.push(vec![
            record.key.clone(),
            number(record.offset),
            record.value.to_string(),
            format!("{} s", at(record.acked_ns)),
            record.node.clone().unwrap_or_else(|| "?".to_owned()),
            faults_of(verdict, record),
            loss.stage.words().to_owned(),
            now_there(record),
        ]);
    }
    let mut table = fitted(&rows);
    table
        .with(Style::rounded())
        .with(Modify::new(Columns::new(1..4)).with(Alignment::right()));
    let title = match records.len() {
        0..=SHOWN => "Lost records:".to_owned(),
        more => format!("The first {SHOWN} of {} lost records:", count(more as u64)),
    };
    format!("\n{title}\n{table}\n")
}
