//! The lost records: unbroken ranges first, then record by record.

use std::fmt::Write;

use plimsoll_checkers::{LostRecord, Verdict};

use super::escape::escaped;
use crate::report::lost::{Range, by_partition, faults_in_words, ranges, span};
use crate::report::numbers::{at, count, counted};

/// Records that a partition shows before the rest is folded away.
const FIRST: usize = 5;
/// Rows of ranges that are drawn.
const RANGES: usize = 200;
/// Beyond so many the page would be of no use to anybody.
const RECORDS: usize = 5_000;

/// Nothing when nothing was lost.
pub fn section(verdict: &Verdict) -> String {
    let total = verdict.measures.lost.len();
    if total == 0 {
        return String::new();
    }
    let ranges = ranges(verdict);
    format!(
        "<section aria-labelledby=h-lost><h2 id=h-lost>The lost records</h2>\
         <p class=\"sub\">{} in {}.</p>{}{}</section>",
        counted(total as u64, "record"),
        counted(ranges.len() as u64, "unbroken range"),
        range_table(verdict, &ranges),
        record_tables(verdict, total),
    )
}

fn range_table(verdict: &Verdict, ranges: &[Range<'_>]) -> String {
    let mut rows = String::new();
    for range in ranges.iter().take(RANGES) {
        let _ = write!(
            rows,
            "<tr><td>{}<td class=n data-h=lost>{}<td class=n data-h=offsets>{}\
             <td class=n data-h=values>{}<td class=n data-h='acked at, s'>{}<td>{}<td>{}",
            escaped(range.key),
            count(range.records),
            range.offsets.map_or("unknown".to_owned(), span),
            span(range.values),
            moments(range.acked_ns),
            escaped(range.node.unwrap_or("unknown")),
            escaped(&faults_in_words(verdict, &range.faults)),
        );
    }
    let more = match ranges.len().saturating_sub(RANGES) {
        0 => String::new(),
        more => format!(
            "<p class=\"cap\">{} more ranges are not shown.</p>",
            count(more as u64)
        ),
    };
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Lost ranges\">\
         <table class=\"rg\"><thead><tr><th>part.<th class=n>lost<th class=n>offsets<th class=n>values\
         <th class=n>acked at, s<th>acked by<th>fault on</thead><tbody>{rows}</tbody></table></div>{more}"
    )
}

fn moments((first, last): (u64, u64)) -> String {
    match first == last {
        true => at(first),
        false => format!("{} to {}", at(first), at(last)),
    }
}

fn record_tables(verdict: &Verdict, total: usize) -> String {
    let partitions = by_partition(verdict);
    let mut firsts = String::new();
    let mut rest = String::new();
    let mut shown = 0_usize;
    for (key, records) in &partitions {
        let head = &records[..records.len().min(FIRST)];
        let heading = match records.len() {
            0..=FIRST => format!("{}: {} lost", escaped(key), records.len()),
            many => format!(
                "{}: {} lost, the first {FIRST}",
                escaped(key),
                count(many as u64)
            ),
        };
        let _ = write!(
            firsts,
            "<tbody class=grp><tr><th colspan=6>{heading}</tr>{}</tbody>",
            rows(verdict, head)
        );
        shown += head.len();
        let room = RECORDS.saturating_sub(shown);
        let folded: Vec<&LostRecord> = records.iter().skip(FIRST).take(room).copied().collect();
        shown += folded.len();
        if !folded.is_empty() {
            let _ = write!(
                rest,
                "<details><summary>{}: {} more</summary><div class=\"scroll\"><table class=\"fx\">\
                 {HEAD}<tbody>{}</tbody></table></div></details>",
                escaped(key),
                count(folded.len() as u64),
                rows(verdict, &folded)
            );
        }
    }
    let note = match total.saturating_sub(shown) {
        0 => String::new(),
        left => format!(
            "<p class=\"cap\">{} further records are not shown here; verdict.json lists every one.</p>",
            count(left as u64)
        ),
    };
    format!(
        "<h3 style=\"margin-top:28px\">Record by record</h3>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Lost records\">\
         <table class=\"fx\">{HEAD}{firsts}</table></div><div class=\"more\">{rest}</div>{note}"
    )
}

const HEAD: &str = "<colgroup><col style=\"width:10%\"><col style=\"width:12%\">\
    <col style=\"width:14%\"><col style=\"width:12%\"><col style=\"width:34%\"><col></colgroup><thead>\
    <tr><th class=n>offset<th class=n>value<th class=n>acked at, s<th>acked by<th>fault on\
    <th>that offset now holds</thead>";

fn rows(verdict: &Verdict, records: &[&LostRecord]) -> String {
    let mut rows = String::new();
    for record in records {
        let _ = write!(
            rows,
            "<tr><td class=n>{}<td class=n>{}<td class=n>{}<td>{}<td>{}<td>{}",
            record
                .offset
                .map_or("unknown".to_owned(), |offset| offset.to_string()),
            record.value,
            at(record.acked_ns),
            escaped(record.node.as_deref().unwrap_or("unknown")),
            escaped(&faults_in_words(verdict, &record.faults)),
            record
                .instead
                .map_or("nothing".to_owned(), |value| value.to_string()),
        );
    }
    rows
}
