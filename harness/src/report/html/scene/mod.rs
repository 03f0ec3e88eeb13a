//! A finding's scene as a picture of lanes, and its witness ops as a table.
//!
//! Every lane is an SVG whose places are percentages, so that text keeps its size on any screen.
//! Nothing refers to anything outside, and tooltips are titles, which need no script.

mod axis;
mod bars;
mod table;

use std::fmt::Write;

use super::escape::escaped;
use crate::report::scene::focus::cut;
use crate::report::scene::{Clock, Focus, Lane, Scene};

/// Clients have names of any length.
const NAME_CHARS: usize = 40;

pub const CSS: &str = include_str!("scene.css");

/// What a bar's shape means; once a section.
pub const LEGEND: &str = "<p class=\"sckey\"><span><i class=\"w\"></i>proves it (numbers as in the \
    table)</span><span><i class=\"n\"></i>ops around it</span><span><i class=\"fail\"></i>failed, not \
    done</span><span><i class=\"info\"></i>unknown outcome, may still take effect</span>\
    <span><i class=\"band\"></i>fault on</span><span><i class=\"gap\"></i>time left out; each side has \
    its own scale</span></p>";

/// How the labels of a log are read.
pub const LOG_LEGEND: &str = "<p class=\"cap\">Labels: send VALUE at OFFSET; poll OFFSET: VALUE, or \
    poll FIRST to LAST offset.</p>";

/// How the bars of an object are read.
pub const OBJECT_LEGEND: &str =
    "<p class=\"cap\">Darker grey: what else happened to the same value.</p>";

/// The picture with its table; `said` is read aloud in its place.
pub fn figure(scene: &Scene<'_>, focus: Focus<'_>, said: &str) -> String {
    let head = axis::head(scene);
    let mut lanes = String::new();
    for lane in &scene.lanes {
        let _ = write!(lanes, "{}", lane_of(scene, lane, focus));
    }
    format!(
        "<figure class=\"sc\" role=\"group\" aria-label=\"{}\"><div class=\"scpic\">{}{}{}{lanes}</div>{}</figure>",
        escaped(said),
        axis::background(scene, head.bands_from_px),
        axis::gap_marks(scene, head.lanes_from_px),
        head.html,
        table::table(scene, focus),
    )
}

fn lane_of(scene: &Scene<'_>, lane: &Lane, focus: Focus<'_>) -> String {
    let numbers: Vec<String> = lane.processes.iter().map(u64::to_string).collect();
    let several = if numbers.len() > 1 { "es" } else { "" };
    let numbers = cut(&numbers.join(", "), NAME_CHARS);
    // Quiet lanes are low: their name must fit into a line.
    let long = !lane.has_witness() && lane.name.len() + numbers.len() > 9;
    let process = match lane.name.starts_with("process ") || numbers.is_empty() || long {
        true => String::new(),
        false => format!("<small>process{several} {numbers}</small>"),
    };
    let drawn = bars::bars(scene, lane, focus);
    let quiet = if lane.has_witness() { "" } else { " q" };
    format!(
        "<div class=\"scl{quiet}\"><div class=\"scb\"><b>{}</b> {process}</div>\
         <svg class=\"scp\" height=\"{}\" aria-hidden=\"true\">{}</svg></div>",
        escaped(&cut(&lane.name, NAME_CHARS)),
        drawn.height_px,
        drawn.svg,
    )
}

/// A moment as the table has it: seconds to the microsecond, or a position.
fn moment(clock: Clock, at: f64) -> String {
    match clock {
        Clock::Time => format!("{:.6}", at / 1e9),
        Clock::Order => format!("{at:.0}"),
    }
}

/// A length of time, or of ops.
fn length(clock: Clock, length: f64) -> String {
    if clock == Clock::Order {
        return format!("{length:.0} ops");
    }
    let (number, unit) = match length {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "\u{b5}s"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns if ns < 120e9 => (ns / 1e9, "s"),
        ns => (ns / 60e9, "min"),
    };
    let digits = if number < 9.95 { 1 } else { 0 };
    format!("{number:.digits$} {unit}")
}
