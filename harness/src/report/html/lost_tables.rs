//! The lost records: unbroken ranges first, then record by record.

use std::collections::BTreeMap;
use std::fmt::Write;

use plimsoll_checkers::{LostRecord, Verdict};

use super::escape::escaped;
use crate::report::losses::{LastSeen, LossReport, Stage};
use crate::report::lost::{Range, by_partition, faults_of, now_there, ranges, span};
use crate::report::numbers::{at, count, counted};

/// Records that a partition shows before the rest is folded away.
const FIRST: usize = 5;
/// Rows of ranges that are drawn.
const RANGES: usize = 200;
/// Beyond so many the page would be of no use to anybody.
const RECORDS: usize = 5_000;
/// Sentences that show a stage.
const SHOWN_BY: usize = 20;

/// Nothing when nothing was lost.
pub fn section(verdict: &Verdict, losses: &LossReport) -> String {
    let total = verdict.measures.lost.len();
    if total == 0 {
        return String::new();
    }
    let ranges = ranges(verdict, losses);
    format!(
        "<section aria-labelledby=h-lost><h2 id=h-lost>The lost records</h2>\
         <p class=\"sub\">{} in {}.{}</p>{}{}{}</section>",
        counted(total as u64, "record"),
        counted(ranges.len() as u64, "unbroken range"),
        just_before(losses),
        range_table(verdict, &ranges),
        stages(losses),
        record_tables(verdict, losses, total),
    )
}

/// A fault bites before it is proved to hold, and a leader that comes back is the last to hear of it.
fn just_before(losses: &LossReport) -> String {
    let were = |number: u64| match number {
        1 => "1 was".to_owned(),
        number => format!("{} were", count(number)),
    };
    let margin = losses.margin_ms as f64 / 1000.0;
    let mut text = String::new();
    if losses.lost_just_before_faults > 0 {
        let _ = write!(
            text,
            " {} acknowledged in the last {margin:.1} s before a fault was proved to hold, while no \
             other was on; that fault is named.",
            were(losses.lost_just_before_faults)
        );
    }
    if losses.lost_just_after_faults > 0 {
        let _ = write!(
            text,
            " {} acknowledged by the target of a fault in the first {margin:.1} s after its heal.",
            were(losses.lost_just_after_faults)
        );
    }
    text
}

/// What the stages rest on.
fn stages(losses: &LossReport) -> String {
    let mut shown: Vec<(&str, &str)> = losses
        .losses
        .iter()
        .filter(|loss| !loss.shown_by.is_empty())
        .map(|loss| (loss.stage.words(), loss.shown_by.as_str()))
        .collect();
    shown.dedup();
    let unknown = losses.stages.get(&Stage::Unknown).copied();
    let unknown = unknown.map_or(String::new(), |number| {
        format!(
            "<p class=\"cap\">{} at an unknown stage: no log end that the monitor saw decides it.</p>",
            count(number)
        )
    });
    let items: String = shown
        .iter()
        .take(SHOWN_BY)
        .map(|(stage, by)| format!("<li>{}: {}.</li>", escaped(stage), escaped(by)))
        .collect();
    match items.is_empty() {
        true => unknown,
        false => format!(
            "<details class=\"why-stage\"><summary>What shows the stages</summary><ul class=\"rest\">{items}</ul></details>{unknown}"
        ),
    }
}

fn range_table(verdict: &Verdict, ranges: &[Range<'_>]) -> String {
    let mut rows = String::new();
    for range in ranges.iter().take(RANGES) {
        let _ = write!(
            rows,
            "<tr><td>{}<td class=n data-h=lost>{}<td class=n data-h=offsets>{}\
             <td class=n data-h=values>{}<td class=n data-h='acked at, s'>{}<td>{}<td>{}<td>{}",
            escaped(range.key),
            count(range.records),
            range.offsets.map_or("unknown".to_owned(), span),
            span(range.values),
            moments(range.acked_ns),
            escaped(range.node.unwrap_or("unknown")),
            escaped(&range.fault_in_words(verdict)),
            range.stage.words(),
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
         <th class=n>acked at, s<th>acked by<th>fault<th>stage</thead><tbody>{rows}</tbody></table></div>{more}"
    )
}

fn moments((first, last): (u64, u64)) -> String {
    match first == last {
        true => at(first),
        false => format!("{} to {}", at(first), at(last)),
    }
}

fn record_tables(verdict: &Verdict, losses: &LossReport, total: usize) -> String {
    let seen = seen_on_disks(verdict, losses);
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
            rows(verdict, &seen, head)
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
                rows(verdict, &seen, &folded)
            );
        }
    }
    let note = match total.saturating_sub(shown) {
        0 => String::new(),
        left => format!(
            "<p class=\"cap\">{} further records are not shown here; lost.csv lists every one.</p>",
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
    <tr><th class=n>offset<th class=n>value<th class=n>acked at, s<th>acked by<th>fault\
    <th>that offset now holds</thead>";

/// Where the disks last held each lost record, by op and value.
type Seen<'l> = BTreeMap<(u64, i64), &'l LastSeen>;

fn seen_on_disks<'l>(verdict: &Verdict, losses: &'l LossReport) -> Seen<'l> {
    let resolved = losses.resolved.as_ref();
    let places = resolved.map_or(&[][..], |resolved| &resolved.lost_last_seen);
    let records = verdict.measures.lost.iter().zip(places);
    records
        .filter_map(|(record, place)| Some(((record.op, record.value), place.as_ref()?)))
        .collect()
}

fn rows(verdict: &Verdict, seen: &Seen<'_>, records: &[&LostRecord]) -> String {
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
            escaped(&faults_of(verdict, record)),
            there(record, seen),
        );
    }
    rows
}

fn there(record: &LostRecord, seen: &Seen<'_>) -> String {
    let instead = now_there(record);
    match seen.get(&(record.op, record.value)) {
        None => instead,
        Some(at) => format!(
            "{instead}; last seen on the disk of {} at offset {}, epoch {}",
            escaped(&at.node),
            at.offset,
            at.leader_epoch
        ),
    }
}
