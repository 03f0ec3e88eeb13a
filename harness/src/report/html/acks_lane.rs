//! Acknowledgements a second, split into kept and later lost; errors below.

use std::fmt::Write;

use super::axis::ms;
use crate::report::numbers::count;
use crate::report::timeline::{Bin, Timeline};

/// Height of the drawing; its base line leaves the lowest quarter to errors.
const HEIGHT: f64 = 100.0;
const BASE: f64 = 76.0;
/// Bars have a gap of this share of a bin.
const GAP: f64 = 0.12;

pub fn lane(timeline: &Timeline) -> String {
    let bins = &timeline.bins;
    let seconds = bins.width_ns as f64 / 1e9;
    let top = nice(bins.most_acks().max(1) as f64 / seconds);
    let errors = bins.most_errors().max(1) as f64 / seconds;
    // Errors share the scale unless that would not fit below the base line.
    let down = top.max(errors * (BASE - 4.0) / (HEIGHT - BASE - 2.0));
    let end = ms(timeline.end_ns);
    let mut paths = Paths::default();
    for (index, bin) in bins.bins.iter().enumerate() {
        paths.add(index, bin, timeline, top, down);
    }
    let unasked = bins.bins.iter().any(|bin| bin.unasked > 0);
    let name = match unasked {
        true => "Sends a second",
        false => "Acks a second",
    };
    let note = match unasked {
        true => "acks=0: none acknowledged",
        false => "errors below",
    };
    format!(
        "<div class=\"lane sep\"><div class=\"lab\"><b>{name}</b><output id=\"v-a\"></output>\
         <small>{note}</small></div><div class=\"plot\" style=\"--h:92px\">\
         <div class=\"ys\" aria-hidden=\"true\">\
         <span class=\"y\" style=\"top:calc(6px + 80px*.04)\">{}</span>\
         <span class=\"y\" style=\"top:calc(6px + 80px*.76)\">0</span></div>\
         <svg viewBox=\"0 0 {end} {HEIGHT}\" preserveAspectRatio=\"none\" style=\"top:6px;height:80px\" \
         role=\"img\" aria-label=\"Acknowledgements and errors a second\">\
         <path d=\"M0 4H{end}\" stroke=\"var(--grid)\"/>{}\
         <path d=\"M0 {BASE}H{end}\" stroke=\"var(--ink3)\"/>{}</svg></div></div>",
        number(top),
        paths.above(),
        paths.below(),
    )
}

#[derive(Default)]
struct Paths {
    kept: String,
    lost: String,
    unasked: String,
    failed: String,
    indeterminate: String,
}

impl Paths {
    fn add(&mut self, index: usize, bin: &Bin, timeline: &Timeline, top: f64, down: f64) {
        let seconds = timeline.bins.width_ns as f64 / 1e9;
        let width = ms(timeline.bins.width_ns);
        let x = index as f64 * width + width * GAP / 2.0;
        // The last bin ends with the run.
        let wide = (width * (1.0 - GAP)).min(ms(timeline.end_ns) - x).max(0.0);
        let scaled = |number: u64, full: f64| number as f64 / seconds / full * (BASE - 4.0);
        let kept = scaled(bin.kept, top);
        let lost = scaled(bin.lost, top);
        bar(&mut self.kept, x, BASE - kept, wide, kept);
        bar(&mut self.lost, x, BASE - kept - lost, wide, lost);
        let unasked = scaled(bin.unasked, top);
        let above = BASE - kept - lost - unasked;
        bar(&mut self.unasked, x, above, wide, unasked);
        let failed = scaled(bin.failed, down);
        let unknown = scaled(bin.indeterminate, down);
        bar(&mut self.failed, x, BASE, wide, failed);
        bar(&mut self.indeterminate, x, BASE + failed, wide, unknown);
    }

    fn above(&self) -> String {
        format!(
            "<path d=\"{}\" fill=\"var(--keptfill)\"/><path d=\"{}\" fill=\"var(--lostfill)\"/>\
             <path d=\"{}\" fill=\"var(--band)\" stroke=\"var(--ink3)\"/>",
            self.kept, self.lost, self.unasked
        )
    }

    fn below(&self) -> String {
        format!(
            "<path d=\"{}\" fill=\"var(--ink3)\"/>\
             <path d=\"{}\" fill=\"none\" stroke=\"var(--ink2)\" stroke-width=\"1.2\"/>",
            self.failed, self.indeterminate
        )
    }
}

fn bar(path: &mut String, x: f64, y: f64, width: f64, height: f64) {
    if height > 0.0 && width > 0.0 {
        let _ = write!(path, "M{x:.1} {y:.2}h{width:.1}v{height:.2}h{:.1}z", -width);
    }
}

/// The next number of the kind 1, 2, 5, 10, 20, ...
fn nice(number: f64) -> f64 {
    let power = 10_f64.powf(number.max(1e-9).log10().floor());
    let fits = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power);
    fits.into_iter()
        .find(|step| *step >= number)
        .unwrap_or(number)
}

fn number(value: f64) -> String {
    if value >= 1.0 {
        // Whole by construction and far below 2^53.
        count(value.round() as u64)
    } else {
        format!("{value}")
    }
}
