//! Places on the time axis, as percentages and as SVG milliseconds.

use std::fmt::Write;

use crate::report::timeline::{Phase, Timeline};

/// `left:..%` of a moment.
pub fn left(time_ns: u64, end_ns: u64) -> String {
    format!("left:{:.3}%", percent(time_ns, end_ns))
}

/// `left:..%;width:..%` of a stretch.
pub fn stretch(from_ns: u64, to_ns: u64, end_ns: u64) -> String {
    let width = percent(to_ns, end_ns) - percent(from_ns, end_ns);
    format!("{};width:{width:.3}%", left(from_ns, end_ns))
}

/// A moment's share of the run in percent.
pub fn percent(time_ns: u64, end_ns: u64) -> f64 {
    (time_ns as f64 / end_ns as f64 * 100.0).clamp(0.0, 100.0)
}

/// The axis in the unit of all curves.
pub fn ms(time_ns: u64) -> f64 {
    (time_ns / 1000) as f64 / 1000.0
}

/// Distances between ticks that a person can count by, in milliseconds.
const STEPS_MS: [u64; 15] = [
    10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 300_000, 1_200_000,
    3_600_000,
];

fn ticks_ms(end_ns: u64) -> Vec<u64> {
    let end_ms = end_ns / 1_000_000;
    let fits = STEPS_MS.iter().copied().find(|step| end_ms / step <= 13);
    let step = fits.unwrap_or(end_ms / 12).max(1);
    (0..)
        .map(|k| k * step)
        .take_while(|ms| *ms <= end_ms)
        .collect()
}

/// Every second tick is left out where there is little room.
fn odd(index: usize) -> &'static str {
    if index % 2 == 1 { " odd" } else { "" }
}

pub fn grid(timeline: &Timeline) -> String {
    let mut lines = String::new();
    for (index, ms) in ticks_ms(timeline.end_ns).into_iter().enumerate() {
        let place = left(ms * 1_000_000, timeline.end_ns);
        let _ = write!(lines, "<i class=\"g{}\" style=\"{place}\"></i>", odd(index));
    }
    lines
}

pub fn axis(timeline: &Timeline) -> String {
    let mut labels = String::new();
    for (index, ms) in ticks_ms(timeline.end_ns).into_iter().enumerate() {
        let place = left(ms * 1_000_000, timeline.end_ns);
        let seconds = ms as f64 / 1000.0;
        let (zero, unit) = if index == 0 { (" z", " s") } else { ("", "") };
        let class = odd(index);
        let _ = write!(
            labels,
            "<span class=\"tk{class}{zero}\" style=\"{place}\">{seconds}{unit}</span>"
        );
    }
    format!(
        "<div class=\"lane axis\" aria-hidden=\"true\"><div class=\"lab\"></div>\
         <div class=\"plot\" style=\"--h:22px\" id=\"ticks\">{labels}</div></div>"
    )
}

pub fn phases(timeline: &Timeline) -> String {
    let spans: String = timeline
        .phases
        .iter()
        .map(|phase| span(phase, timeline.end_ns))
        .collect();
    format!(
        "<div class=\"lane phase\"><div class=\"lab\" style=\"padding:0\">\
         <small style=\"line-height:20px\">phase</small></div>\
         <div class=\"plot\" style=\"--h:21px\">{spans}</div></div>"
    )
}

fn span(phase: &Phase, end_ns: u64) -> String {
    let name = match phase.name.as_str() {
        "setup" => "set up".to_owned(),
        "final-read" => "read".to_owned(),
        other => super::escape::escaped(other).replace('-', " "),
    };
    let width = percent(phase.to_ns, end_ns) - percent(phase.from_ns, end_ns);
    // Too narrow for a word: the mark alone, and the word in the title.
    let room = super::faults_lane::fits(&name, width);
    let (class, text) = if room { ("", name.as_str()) } else { ("", "") };
    let small = if width < 25.0 { " ph0" } else { "" };
    format!(
        "<span class=\"ph{class}{small}\" style=\"{}\" title=\"{name}\">{text}</span>",
        stretch(phase.from_ns, phase.to_ns, end_ns)
    )
}
