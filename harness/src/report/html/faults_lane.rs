//! Faults as bars, each kind in rows of its own and with a texture of its own.

use std::fmt::Write;

use plimsoll_checkers::{FaultWindow, Verdict};

use super::axis::{percent, stretch};
use super::escape::escaped;
use crate::report::lost::fault_in_words;
use crate::report::numbers::about;
use crate::report::timeline::Timeline;

/// Widths of the plot that labels are measured for, on a desk and on a phone. A
/// guess only decides where a label stands, never where a bar does.
const DESK_PX: f64 = 960.0;
const PHONE_PX: f64 = 340.0;
const LETTER_PX: f64 = 6.7;

/// Whether a label of 12 px has room in so many percent of a desk's axis.
pub fn fits(label: &str, percent: f64) -> bool {
    fits_in(label, percent, DESK_PX)
}

fn fits_in(label: &str, percent: f64, plot_px: f64) -> bool {
    label.chars().count() as f64 * LETTER_PX + 12.0 <= percent / 100.0 * plot_px
}

/// One bar's place.
struct Bar<'v> {
    window: &'v FaultWindow,
    to_ns: u64,
    row: usize,
}

pub fn lane(timeline: &Timeline, verdict: &Verdict) -> String {
    let bars = place(timeline, verdict);
    let rows = bars.iter().map(|bar| bar.row + 1).max().unwrap_or(1);
    let mut html = String::new();
    for bar in &bars {
        let _ = write!(html, "{}", draw(bar, &bars, timeline.end_ns));
    }
    let none = match bars.is_empty() {
        true => "<span class=\"note\" style=\"left:0;top:3px\">none was injected</span>",
        false => "",
    };
    format!(
        "<div class=\"lane sep fl\"><div class=\"lab\"><b>Faults</b><output id=\"v-f\"></output>\
         <small>{}</small></div><div class=\"plot\" style=\"--h:{}px\">{html}{none}</div></div>",
        escaped(&kinds(verdict)),
        (rows * 21 + 3).max(32),
    )
}

/// The kinds that took hold, in words.
fn kinds(verdict: &Verdict) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for one in &verdict.measures.fault_windows {
        let kind = match one.window.fault.as_str() {
            "partition" => "cut",
            other => other,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.sort_unstable();
    kinds.join(", ")
}

/// A row holds one kind and no two bars at a time.
fn place<'v>(timeline: &Timeline, verdict: &'v Verdict) -> Vec<Bar<'v>> {
    let mut windows: Vec<&FaultWindow> = verdict
        .measures
        .fault_windows
        .iter()
        .map(|one| &one.window)
        .collect();
    windows.sort_by_key(|window| (order(&window.fault), window.fault.clone(), window.from_ns));
    let mut rows: Vec<(&str, u64)> = Vec::new();
    let mut bars = Vec::new();
    for window in windows {
        let to_ns = window.to_ns.unwrap_or(timeline.end_ns);
        let free = rows
            .iter()
            .position(|row| row.0 == window.fault && row.1 <= window.from_ns);
        let row = free.unwrap_or(rows.len());
        match rows.get_mut(row) {
            Some(row) => row.1 = to_ns,
            None => rows.push((&window.fault, to_ns)),
        }
        bars.push(Bar { window, to_ns, row });
    }
    bars
}

fn order(fault: &str) -> usize {
    let known = ["partition", "kill", "pause"];
    known
        .iter()
        .position(|name| *name == fault)
        .unwrap_or(known.len())
}

fn draw(bar: &Bar<'_>, bars: &[Bar<'_>], end_ns: u64) -> String {
    let window = bar.window;
    let words = fault_in_words(window);
    let kind = match window.fault.as_str() {
        "partition" => "cut",
        "pause" => "pause",
        _ => "kill",
    };
    let title = format!(
        "{words}, {}, {} to {}",
        window.detail,
        about(window.from_ns),
        match window.to_ns {
            Some(to) => about(to),
            None => "the end".to_owned(),
        }
    );
    format!(
        "<div class=\"bar {kind} w-{} p-{}\" style=\"{};top:{}px\" title=\"{}\"><span>{}</span></div>",
        side(bar, bars, &words, end_ns, DESK_PX),
        side(bar, bars, &words, end_ns, PHONE_PX),
        stretch(window.from_ns, bar.to_ns, end_ns),
        3 + 21 * bar.row,
        escaped(&title),
        escaped(&words),
    )
}

/// Inside its bar, right of it, left of it past 85 %, or in the title only.
fn side(bar: &Bar<'_>, bars: &[Bar<'_>], words: &str, end_ns: u64, plot_px: f64) -> &'static str {
    let from = percent(bar.window.from_ns, end_ns);
    let to = percent(bar.to_ns, end_ns);
    if fits_in(words, to - from, plot_px) {
        return "in";
    }
    let same_row = |other: &&Bar<'_>| other.row == bar.row;
    let begins = |other: &Bar<'_>| percent(other.window.from_ns, end_ns);
    let next = bars.iter().filter(same_row).map(begins);
    let next = next.filter(|other| *other > from).fold(100.0, f64::min);
    if to <= 85.0 && fits_in(words, next - to, plot_px) {
        return "right";
    }
    let before = bars.iter().filter(same_row);
    let before = before.map(|other| percent(other.to_ns, end_ns));
    let before = before.filter(|other| *other <= from).fold(0.0, f64::max);
    // The bar before may have its label right of it, so leave room for two.
    if to > 85.0 && fits_in(words, (from - before) / 2.0, plot_px) {
        return "left";
    }
    "none"
}
