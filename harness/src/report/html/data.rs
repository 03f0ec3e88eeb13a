//! What the page's script reads: the same numbers that are drawn.

use plimsoll_checkers::Verdict;
use serde_json::json;

use super::nodes_lane::words;
use crate::report::lost::{by_partition, fault_in_words};
use crate::report::timeline::Timeline;

/// More lost moments a partition would only slow the readout down.
const MOMENTS: usize = 5_000;
/// From this share of the run on, the set-up is left out of the first view.
const LATE: f64 = 0.2;

/// JSON that may stand inside a script element.
pub fn json(timeline: &Timeline, verdict: &Verdict) -> String {
    let seconds = |ns: u64| (ns / 1_000_000) as f64 / 1000.0;
    let bins = &timeline.bins;
    let faults = verdict.measures.fault_windows.iter().map(|one| {
        json!({
            "t0": seconds(one.window.from_ns),
            "t1": seconds(one.window.to_ns.unwrap_or(timeline.end_ns)),
            "label": fault_in_words(&one.window),
        })
    });
    let nodes = timeline.nodes.iter().map(|node| {
        let spans = node.spans.iter();
        let spans = spans.map(|span| {
            json!([
                seconds(span.from_ns),
                seconds(span.to_ns),
                words(span.state)
            ])
        });
        json!({"name": node.name, "spans": spans.collect::<Vec<_>>()})
    });
    let lost = by_partition(verdict);
    let lost = lost.iter().map(|(key, records)| {
        let at = records
            .iter()
            .take(MOMENTS)
            .map(|one| one.acked_ns / 1_000_000);
        json!({"key": key, "at": at.collect::<Vec<_>>()})
    });
    let edges = timeline.nodes.iter().flat_map(|node| &node.spans);
    let events: Vec<f64> = edges.map(|span| seconds(span.from_ns)).collect();
    let acks = bins.bins.iter();
    let data = json!({
        "end": timeline.end_ns as f64 / 1e9,
        "open": opening(timeline),
        "bin": bins.width_ns as f64 / 1e9,
        "acks": acks.map(|bin| [bin.kept, bin.lost, bin.failed, bin.indeterminate, bin.unasked]).collect::<Vec<_>>(),
        "lat": bins.bins.iter().map(|bin| {
            bin.latency_ms.map(|[low, middle, high]| [round(middle), round(high), round(low)])
        }).collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(),
        "events": events,
        "lost": lost.collect::<Vec<_>>(),
    });
    // No markup can begin inside the element, whatever names hold.
    data.to_string().replace('<', "\\u003c")
}

/// Where the page opens: a system that takes long to start would leave little room for what happened
/// afterwards.
fn opening(timeline: &Timeline) -> Option<[f64; 2]> {
    let phases = timeline.phases.iter();
    let begun = phases
        .filter(|phase| phase.name == "setup")
        .map(|phase| phase.to_ns);
    let from_ns = begun.max()?.saturating_sub(timeline.end_ns / 50);
    let end = timeline.end_ns as f64 / 1e9;
    let from = from_ns as f64 / 1e9;
    (from > end * LATE).then_some([from, end])
}

fn round(ms: f64) -> f64 {
    (ms * 100.0).round() / 100.0
}
