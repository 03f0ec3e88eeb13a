//! The one shared time axis with all its lanes.

use std::fmt::Write;

use plimsoll_checkers::Verdict;

use super::escape::escaped;
use super::{
    acks_lane, axis, faults_lane, latency_lane, legend, log_lane, lost_lane, nodes_lane, story,
};
use crate::report::lost::fault_in_words;
use crate::report::numbers::{about, count, counted};
use crate::report::timeline::Timeline;

pub fn section(timeline: &Timeline, verdict: &Verdict) -> String {
    format!(
        "<section aria-labelledby=h-run><h2 id=h-run>What happened</h2><p class=\"sub\">{}</p>\n\
         <figure>{}\n{}\n\
         <div class=\"tl\" tabindex=\"0\" role=\"group\" aria-label=\"Timeline of the run. Arrow keys \
         move the cursor, plus and minus zoom, n and p jump between events.\" \
         aria-describedby=\"keys\">\n<div class=\"canvas\">\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{OVERLAY}\n\
         </div></div>{HELP}\n{}</figure></section>",
        escaped(&lead(verdict)),
        legend::legend(timeline, verdict),
        zoom(timeline, verdict),
        shades(timeline, verdict),
        axis::axis(timeline),
        axis::phases(timeline),
        faults_lane::lane(timeline, verdict),
        nodes_lane::lanes(timeline),
        acks_lane::lane(timeline),
        lost_lane::lane(timeline, verdict),
        log_lane::lane(timeline),
        latency_lane::lane(timeline),
        story::story(verdict, timeline.end_ns),
    )
}

const OVERLAY: &str = "<div class=\"over\" id=\"top\" aria-hidden=\"true\"><div class=\"sel\"></div>\
    <div class=\"cross\"><b></b></div></div>";

const HELP: &str = "<div id=\"live\" class=\"sr\" aria-live=\"polite\"></div>\
    <p class=\"help touch\">Tap to read values; zoom with the buttons, then swipe.</p>\
    <p class=\"help keys js-only\" id=\"keys\">Drag to zoom, double-click for the whole run. Keys: \
    <kbd>&larr;</kbd> <kbd>&rarr;</kbd> cursor, <kbd>n</kbd> <kbd>p</kbd> next and previous event, \
    <kbd>+</kbd> <kbd>&minus;</kbd> <kbd>0</kbd> zoom.</p>";

/// What the faults had to do with the losses, in plain sentences.
fn lead(verdict: &Verdict) -> String {
    let measures = &verdict.measures;
    if measures.fault_windows.is_empty() {
        return "No fault took hold.".to_owned();
    }
    let acks = counted(measures.acks_in_fault_windows, "acknowledgement");
    let mut lead = format!("{acks} arrived while a fault was on.");
    if measures.lost_acked == 0 {
        return lead;
    }
    let of_them = measures.lost.iter().filter(|one| !one.faults.is_empty());
    let of_them = match of_them.count() as u64 {
        0 => "none".to_owned(),
        some => count(some),
    };
    let _ = write!(
        lead,
        " Of the {}, {of_them} had been acknowledged then.",
        counted(measures.lost_acked, "lost record"),
    );
    let windows = measures.fault_windows.iter().filter(|one| one.lost > 0);
    if let Some(worst) = windows.max_by_key(|one| one.lost) {
        let _ = write!(
            lead,
            " The fault with the most of them is {} at {}: {}.",
            fault_in_words(&worst.window),
            about(worst.window.from_ns),
            count(worst.lost),
        );
    }
    lead
}

fn zoom(timeline: &Timeline, verdict: &Verdict) -> String {
    let end = timeline.end_ns as f64 / 1e9;
    let mut buttons = format!("<button data-z=\"0-{end}\">Whole run</button>");
    let lost = &verdict.measures.lost;
    if let (Some(first), Some(last)) = (lost.first(), lost.last()) {
        let from = (first.acked_ns as f64 / 1e9 - 2.0).max(0.0);
        let to = (last.acked_ns as f64 / 1e9 + 2.0).min(end);
        let _ = write!(
            buttons,
            "<button data-z=\"{from:.3}-{to:.3}\">The losses</button>"
        );
    }
    format!(
        "<div class=\"zoom js-only\">{buttons}<button data-z=\"in\" aria-label=\"Zoom in\">+</button>\
         <button data-z=\"out\" aria-label=\"Zoom out\">&minus;</button></div>"
    )
}

/// Grid lines, and a wash under every fault.
fn shades(timeline: &Timeline, verdict: &Verdict) -> String {
    let mut washes = String::new();
    for one in &verdict.measures.fault_windows {
        let to = one.window.to_ns.unwrap_or(timeline.end_ns);
        let place = axis::stretch(one.window.from_ns, to, timeline.end_ns);
        let _ = write!(washes, "<i class=\"f\" style=\"{place}\"></i>");
    }
    format!(
        "<div class=\"over\" aria-hidden=\"true\"><div id=\"grid\">{}</div>{washes}</div>",
        axis::grid(timeline)
    )
}
