//! Lost records at the moment at which each was acknowledged, a row a partition.

use std::collections::BTreeSet;
use std::fmt::Write;

use plimsoll_checkers::{LostRecord, Verdict};

use super::axis::ms;
use super::escape::escaped;
use crate::report::lost::by_partition;
use crate::report::timeline::Timeline;

const ROW: usize = 15;
/// Above so many a tick stands for all records of one pixel.
const EXACT: usize = 2000;
const PIXELS: f64 = 2000.0;
/// More rows than this are drawn as one.
const ROWS: usize = 16;

/// Nothing when nothing was lost.
pub fn lane(timeline: &Timeline, verdict: &Verdict) -> String {
    let partitions = by_partition(verdict);
    if partitions.is_empty() {
        return String::new();
    }
    let one_row = partitions.len() > ROWS;
    let rows = if one_row { 1 } else { partitions.len() };
    let (mut names, mut ticks, mut lines) = (String::new(), String::new(), String::new());
    let end = ms(timeline.end_ns);
    for (index, (key, records)) in partitions.iter().enumerate() {
        let row = if one_row { 0 } else { index };
        let y = (row * ROW) as f64 + 7.5;
        draw(&mut ticks, records, row, verdict.measures.lost.len(), end);
        if row == index {
            let name = if one_row { "all" } else { key };
            let _ = write!(
                names,
                "<span class=\"y\" style=\"top:{}px\">{}</span>",
                14 + ROW * row,
                escaped(name)
            );
            let _ = write!(lines, "M0 {y}H{end}");
        }
    }
    let height = rows * ROW;
    format!(
        "<div class=\"lane\"><div class=\"lab\"><b style=\"color:var(--lost)\">Lost records</b>\
         <output id=\"v-x\"></output><small>when acked</small></div>\
         <div class=\"plot\" style=\"--h:{}px\"><div class=\"ys\" aria-hidden=\"true\">{names}</div>\
         <svg viewBox=\"0 0 {end} {height}\" preserveAspectRatio=\"none\" \
         style=\"top:6px;height:{height}px\" role=\"img\" \
         aria-label=\"{} lost records at the time each was acknowledged\">\
         <path d=\"{lines}\" stroke=\"var(--grid)\"/>\
         <path d=\"{ticks}\" stroke=\"var(--lost)\" stroke-width=\"1\"/></svg></div></div>",
        (height + 10).max(36),
        verdict.measures.lost.len(),
    )
}

fn draw(ticks: &mut String, records: &[&LostRecord], row: usize, total: usize, end: f64) {
    let top = row * ROW + 3;
    let mut told: BTreeSet<u64> = BTreeSet::new();
    for record in records {
        let x = ms(record.acked_ns);
        // One tick a pixel says as much as a thousand there.
        let pixel = (x / end * PIXELS).max(0.0) as u64;
        if total <= EXACT || told.insert(pixel) {
            let _ = write!(ticks, "M{x:.1} {top}v9");
        }
    }
}
