//! A lane a node: who leads, who is down, and who believes that it leads.

use std::fmt::Write;

use super::axis::{percent, stretch};
use super::escape::escaped;
use super::faults_lane::fits;
use crate::report::numbers::{about, size};
use crate::report::timeline::{NodeLane, Span, State, Timeline};

/// Height of a lane's bars when a node leads everything, in pixels.
const FULL_PX: f64 = 34.0;

pub fn lanes(timeline: &Timeline) -> String {
    let most = most_led(timeline);
    let lane = |(index, node): (usize, &NodeLane)| lane(index, node, most, timeline.end_ns);
    timeline.nodes.iter().enumerate().map(lane).collect()
}

fn most_led(timeline: &Timeline) -> usize {
    let spans = timeline.nodes.iter().flat_map(|node| &node.spans);
    let led = spans.map(|span| match span.state {
        State::Leads(number) | State::Deposed(number) => number,
        _ => 1,
    });
    led.max().unwrap_or(1)
}

fn lane(index: usize, node: &NodeLane, most: usize, end_ns: u64) -> String {
    let mut spans = String::new();
    for span in &node.spans {
        let _ = write!(spans, "{}", draw(&node.name, span, most, end_ns));
    }
    let first = if index == 0 { " sep" } else { "" };
    format!(
        "<div class=\"lane node{first}\"><div class=\"lab\"><b>{}</b><output id=\"v-n{index}\">\
         </output><small>{}</small></div><div class=\"plot\" style=\"--h:46px\">{spans}</div></div>",
        escaped(&node.name),
        escaped(&disk(node))
    )
}

/// What it has on its disks, where it was asked.
fn disk(node: &NodeLane) -> String {
    let size = node.bytes.map(|bytes| format!("{} of log", size(bytes)));
    match node.failed_dirs.len() {
        0 => size.unwrap_or_default(),
        1 => "a log directory failed".to_owned(),
        more => format!("{more} log directories failed"),
    }
}

/// A state in words, for readouts and titles.
pub fn words(state: State) -> String {
    match state {
        State::Dead => "dead".to_owned(),
        State::Paused => "paused".to_owned(),
        State::Silent => "no answer".to_owned(),
        State::Deposed(number) => format!("deposed, still claims {number}"),
        State::Leads(number) => format!("leads {number}"),
        State::Bare => "no partition".to_owned(),
        State::InSync => "follows, in ISR".to_owned(),
        State::OutOfSync => "out of ISR".to_owned(),
    }
}

fn draw(node: &str, span: &Span, most: usize, end_ns: u64) -> String {
    let (class, height) = match span.state {
        State::Dead => ("dead", 2.0),
        State::Silent => ("dead", 2.0),
        State::Paused => ("paused", 24.0),
        State::Deposed(number) => ("zombie", height(number, most)),
        State::Leads(number) => ("lead", height(number, most)),
        State::Bare => ("bare", 0.0),
        State::InSync => ("isr", 2.0),
        State::OutOfSync => ("out", 2.0),
    };
    let width = percent(span.to_ns, end_ns) - percent(span.from_ns, end_ns);
    let title = format!(
        "{node} {}, {} to {}",
        words(span.state),
        about(span.from_ns),
        about(span.to_ns)
    );
    format!(
        "<div class=\"seg {class}\" style=\"{};height:38px\" title=\"{}\">\
         <i style=\"height:{height:.1}px\"></i>{}</div>",
        stretch(span.from_ns, span.to_ns, end_ns),
        escaped(&title),
        label(span.state, width, height),
    )
}

fn height(led: usize, most: usize) -> f64 {
    (FULL_PX * led as f64 / most.max(1) as f64).max(9.0)
}

fn label(state: State, width: f64, height: f64) -> String {
    let (long, short) = match state {
        State::Dead => ("dead".to_owned(), "\u{d7}".to_owned()),
        State::Silent => ("no answer".to_owned(), "?".to_owned()),
        State::Paused => ("paused".to_owned(), String::new()),
        State::Deposed(_) => ("deposed, still claims".to_owned(), "deposed".to_owned()),
        State::Leads(number) => (format!("leads {number}"), number.to_string()),
        State::Bare => ("no partition".to_owned(), String::new()),
        State::InSync => ("follows".to_owned(), String::new()),
        State::OutOfSync => ("out of ISR".to_owned(), "out".to_owned()),
    };
    let text = match (fits(&long, width), fits(&short, width)) {
        (true, _) => long,
        (false, true) => short,
        (false, false) => return String::new(),
    };
    // A full bar has no room above it.
    let above = if height > 24.0 { 9.0 } else { height };
    match state {
        State::Deposed(_) => format!(
            "<span class=\"wide\" style=\"margin-bottom:{above:.0}px\"><b>{text}</b></span>"
        ),
        State::Leads(_) => {
            format!("<span class=\"wide\" style=\"margin-bottom:{above:.0}px\">{text}</span>")
        }
        _ if text.is_empty() => String::new(),
        _ => format!("<span class=\"wide\">{text}</span>"),
    }
}
