//! The run's faults as sentences, each linked to its place on the axis.

use plimsoll_checkers::{FaultWindowMeasures, Verdict};

use super::escape::escaped;
use crate::report::lost::fault_in_words;
use crate::report::numbers::{count, duration_ms};

/// More than this is no story.
const SENTENCES: usize = 12;

pub fn story(verdict: &Verdict, end_ns: u64) -> String {
    let windows = &verdict.measures.fault_windows;
    if windows.is_empty() {
        return String::new();
    }
    // The faults that cost most, told in the order in which they came.
    let mut told: Vec<&FaultWindowMeasures> = windows.iter().collect();
    told.sort_by_key(|one| std::cmp::Reverse((one.lost, one.unavailable_ms)));
    told.truncate(SENTENCES);
    told.sort_by_key(|one| one.window.from_ns);
    let items: String = told.iter().map(|one| sentence(one, end_ns)).collect();
    let rest = match windows.len() - told.len() {
        0 => String::new(),
        rest => format!("<p class=\"cap\">{rest} further faults cost less.</p>"),
    };
    format!("<ol class=\"story\">{items}</ol>{rest}")
}

fn sentence(one: &FaultWindowMeasures, end_ns: u64) -> String {
    let window = &one.window;
    let at = window.from_ns as f64 / 1e9;
    let lasted_ns = window
        .to_ns
        .unwrap_or(end_ns)
        .saturating_sub(window.from_ns);
    let lost = match one.lost {
        0 => String::new(),
        lost => format!(", {} of them lost", count(lost)),
    };
    let outage = match one.unavailable_ms {
        0 => String::new(),
        ms => format!(
            "; a partition acknowledged nothing for {}",
            duration_ms(ms as f64)
        ),
    };
    let detail = match window.detail.as_str() {
        "" => String::new(),
        detail => format!(" ({detail})"),
    };
    format!(
        "<li><a href=\"#t={at:.3}\" data-t=\"{at:.3}\">{at:.1} s</a> {} for {}. {} acks{lost}{outage}.</li>",
        escaped(&format!("{}{detail}", fault_in_words(window))),
        duration_ms(lasted_ns as f64 / 1e6),
        count(one.acks),
    )
}
