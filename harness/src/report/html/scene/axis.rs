//! Ticks, gaps and faults: what stands above the lanes, behind them and, where time is left out,
//! before them.

use std::fmt::Write;

use plimsoll_checkers::FaultWindow;

use super::length;
use crate::report::html::escape::escaped;
use crate::report::lost::fault_in_words;
use crate::report::scene::axis::Stretch;
use crate::report::scene::focus::cut;
use crate::report::scene::{Clock, Scene};

/// Heights of the rows above the lanes, in pixels.
const TICKS_PX: u32 = 20;
const GAPS_PX: u32 = 15;
const NAMES_PX: u32 = 16;
/// Rows of names; where more faults are on, the last row counts the rest.
const NAME_ROWS: usize = 3;
/// Width of a plot and of a letter on a phone, in pixels.
pub const PHONE_PX: f64 = 340.0;
pub const LETTER_PX: f64 = 6.4;
/// How far apart ticks should be, and how far their texts are at least, in percent.
const APART: f64 = 17.0;
const BETWEEN: f64 = 2.0;
/// Ticks of one stretch, whatever its scale.
const TICKS: usize = 12;
const NAME_CHARS: usize = 40;
const TARGET_CHARS: usize = 22;

/// What stands above the lanes, and where, below its top, bands and lanes begin.
pub struct Head {
    pub html: String,
    pub bands_from_px: u32,
    pub lanes_from_px: u32,
}

pub fn head(scene: &Scene<'_>) -> Head {
    let gaps = scene.axis.stretches.len() > 1;
    let bands_from_px = TICKS_PX + if gaps { GAPS_PX } else { 0 };
    let (names, rows) = names(scene, bands_from_px);
    let unit = match scene.clock {
        Clock::Time => "time, s",
        Clock::Order => "position",
    };
    let html = format!(
        "<div class=\"scl scx\"><div class=\"scb\"><small>{unit}</small></div>\
         <svg class=\"scp\" height=\"{}\" aria-hidden=\"true\">{}{}{names}</svg></div>",
        bands_from_px + rows as u32 * NAMES_PX,
        ticks(scene),
        gap_lengths(scene),
    );
    Head {
        html,
        bands_from_px,
        lanes_from_px: bands_from_px + rows as u32 * NAMES_PX,
    }
}

fn ticks(scene: &Scene<'_>) -> String {
    let stretches = &scene.axis.stretches;
    let steps: Vec<f64> = stretches
        .iter()
        .map(|stretch| step(scene.clock, stretch))
        .collect();
    // One number of decimals for all: that of the finest scale.
    let finest = steps.iter().copied().fold(f64::INFINITY, f64::min);
    let digits = (9.0 - finest.log10().floor()).clamp(0.0, 9.0) as usize;
    let mut svg = String::new();
    // A phone has no room for the label beside the axis, so the first tick carries the unit too.
    let mut unit = if scene.clock == Clock::Time { " s" } else { "" };
    let mut free = f64::NEG_INFINITY;
    for (stretch, step) in stretches.iter().zip(steps) {
        let first = (stretch.from / step).ceil();
        let fit = ((stretch.to - stretch.from) / step) as usize + 1;
        for count in 0..fit.min(TICKS) {
            let at = (first + count as f64) * step;
            let place = scene.axis.place(at);
            if at > stretch.to {
                continue;
            }
            let text = match scene.clock {
                Clock::Time => format!("{:.digits$}{unit}", at / 1e9),
                Clock::Order => format!("{at:.0}"),
            };
            let (anchor, left, right) = anchor(place, &text);
            if left < free {
                continue;
            }
            let _ = write!(
                svg,
                "<text class=\"t\"{anchor} x=\"{place:.2}%\" y=\"13\">{text}</text>"
            );
            free = right + BETWEEN;
            unit = "";
        }
    }
    svg
}

/// Text near an end of the axis stays on it; also where it begins and ends.
fn anchor(place: f64, text: &str) -> (&'static str, f64, f64) {
    let width = text.chars().count() as f64 * LETTER_PX / PHONE_PX * 100.0;
    let half = width / 2.0;
    match place {
        _ if place < half => ("", place, place + width),
        _ if place > 100.0 - half => (" text-anchor=\"end\"", place - width, place),
        _ => (" text-anchor=\"middle\"", place - half, place + half),
    }
}

/// The distance between ticks that a person can count by.
fn step(clock: Clock, stretch: &Stretch) -> f64 {
    let fit = ((stretch.right - stretch.left) / APART).max(1.0);
    let wanted = ((stretch.to - stretch.from) / fit).max(1.0);
    let power = 10_f64.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= wanted);
    let mut step = step.unwrap_or(power * 10.0);
    // A short stretch has at least one tick, even where that means a finer step.
    let has_tick = |step: f64| (stretch.from / step).ceil() * step <= stretch.to;
    while !has_tick(step) && step > 1.0 {
        step /= 10.0;
    }
    match clock {
        Clock::Time => step,
        Clock::Order => step.max(1.0),
    }
}

/// Pairs of stretches with a gap between them.
fn gaps<'s>(scene: &'s Scene<'_>) -> impl Iterator<Item = (&'s Stretch, &'s Stretch)> {
    let stretches = &scene.axis.stretches;
    stretches.iter().zip(stretches.iter().skip(1))
}

fn gap_lengths(scene: &Scene<'_>) -> String {
    let mut svg = String::new();
    for (before, after) in gaps(scene) {
        let middle = (before.right + after.left) / 2.0;
        let text = length(scene.clock, after.from - before.to);
        let _ = write!(
            svg,
            "<text class=\"g\" text-anchor=\"middle\" x=\"{middle:.2}%\" y=\"{}\">{text}</text>",
            TICKS_PX + 11,
        );
    }
    svg
}

/// Names of faults at the place where their bands begin, and how many rows they take.
fn names(scene: &Scene<'_>, top_px: u32) -> (String, usize) {
    let mut ends: Vec<f64> = Vec::new();
    let mut svg = String::new();
    let mut left_out = 0;
    for window in &scene.windows {
        let name = cut(&named(window), NAME_CHARS);
        let width = (name.chars().count() as f64 * LETTER_PX + 8.0) / PHONE_PX * 100.0;
        let from = scene.place_of(window).0.min(100.0 - width).max(0.0);
        let row = ends.iter().position(|end| *end <= from);
        let row = row.unwrap_or(ends.len());
        match ends.get_mut(row) {
            Some(end) => *end = from + width,
            None if row < NAME_ROWS => ends.push(from + width),
            None => {
                left_out += 1;
                continue;
            }
        }
        let y = top_px + NAMES_PX * row as u32 + 12;
        let _ = write!(
            svg,
            "<text class=\"f\" x=\"{from:.2}%\" dx=\"3\" y=\"{y}\">{}</text>",
            escaped(&name)
        );
    }
    if left_out == 0 {
        return (svg, ends.len());
    }
    let y = top_px + NAMES_PX * ends.len() as u32 + 12;
    let _ = write!(
        svg,
        "<text class=\"f\" x=\"0\" dx=\"3\" y=\"{y}\">and {left_out} further faults</text>"
    );
    (svg, ends.len() + 1)
}

/// A fault with the time in which it was on, since a gap has no scale.
fn named(window: &FaultWindow) -> String {
    let lasted_ns = window.to_ns.map(|to| to.saturating_sub(window.from_ns));
    let digits = match lasted_ns {
        Some(ns) if ns < 1_000_000_000 => 3,
        _ => 1,
    };
    let seconds = |ns: u64| format!("{:.digits$}", ns as f64 / 1e9);
    let from = seconds(window.from_ns);
    let when = match window.to_ns.map(seconds) {
        Some(to) => format!("{from} to {to} s"),
        None => format!("from {from} s"),
    };
    format!("{}, {when}", cut(&fault_in_words(window), TARGET_CHARS))
}

/// Bands of faults behind all lanes.
pub fn background(scene: &Scene<'_>, from_px: u32) -> String {
    let mut bands = String::new();
    for window in &scene.windows {
        let (from, to) = scene.place_of(window);
        let title = match window.detail.as_str() {
            "" => fault_in_words(window),
            detail => format!("{}: {detail}", fault_in_words(window)),
        };
        let _ = write!(
            bands,
            "<rect class=\"f\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"{from_px}\" height=\"100%\">\
             <title>{}</title></rect>",
            (to - from).max(0.4),
            escaped(&cut(&title, 200))
        );
        for edge in [from, to] {
            if edge > 0.0 && edge < 100.0 {
                let _ = write!(
                    bands,
                    "<line class=\"f\" x1=\"{edge:.2}%\" x2=\"{edge:.2}%\" y1=\"{from_px}\" y2=\"100%\"/>"
                );
            }
        }
    }
    format!("<svg class=\"scbg\" aria-hidden=\"true\">{bands}</svg>")
}

/// Edges of the gaps, behind all lanes.
pub fn gap_marks(scene: &Scene<'_>, from_px: u32) -> String {
    let mut marks = String::new();
    for (before, after) in gaps(scene) {
        for edge in [before.right, after.left] {
            let _ = write!(
                marks,
                "<line x1=\"{edge:.2}%\" x2=\"{edge:.2}%\" y1=\"{from_px}\" y2=\"100%\"/>"
            );
        }
    }
    match marks.is_empty() {
        true => String::new(),
        false => format!("<svg class=\"scgap\" aria-hidden=\"true\">{marks}</svg>"),
    }
}

/// Gaps of one lane: over its bars, so that an op which spans one is seen to be broken, and under
/// its text.
pub fn gap_covers(scene: &Scene<'_>) -> String {
    let mut covers = String::new();
    for (before, after) in gaps(scene) {
        let (left, right) = (before.right + 0.1, after.left - 0.1);
        let _ = write!(
            covers,
            "<rect class=\"c\" x=\"{left:.2}%\" width=\"{:.2}%\" height=\"100%\"/>",
            right - left
        );
    }
    covers
}
