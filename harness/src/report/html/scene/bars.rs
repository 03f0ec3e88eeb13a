//! The bars of one lane: filled where it is known that the op took effect, hollow where it failed,
//! barred and open towards the right where nobody knows.

use std::fmt::Write;

use plimsoll_checkers::history::{OpType, Process};

use super::axis::{LETTER_PX, PHONE_PX, gap_covers};
use super::{length, moment};
use crate::report::html::escape::escaped;
use crate::report::scene::focus::{excerpt, label};
use crate::report::scene::{Bar, Focus, Lane, Scene};

/// Rows with a witness carry its label above the bar; heights in pixels.
const TALL_PX: u32 = 32;
const LOW_PX: u32 = 15;
const BAR_PX: u32 = 11;
const GREY_PX: u32 = 8;
/// Bars have this width at least, in percent.
const LEAST: f64 = 0.7;
const LABEL_CHARS: usize = 26;
const TITLE_CHARS: usize = 160;
/// Width of a plot on a desk, for labels of neighbours, which a phone does without.
const DESK_PX: f64 = 940.0;

pub struct Drawn {
    pub svg: String,
    pub height_px: u32,
}

/// A bar with the places that it takes, in percent.
struct Placed<'s> {
    bar: &'s Bar,
    from: f64,
    to: f64,
    /// Where its label begins and ends.
    text: (f64, f64),
    label: String,
    row: usize,
}

pub fn bars(scene: &Scene<'_>, lane: &Lane, focus: Focus<'_>) -> Drawn {
    let mut placed: Vec<Placed<'_>> = lane
        .bars
        .iter()
        .map(|bar| place(scene, bar, focus))
        .collect();
    let rows = pack(&mut placed);
    let tall = |row: usize| {
        let mut of = placed.iter().filter(|one| one.row == row);
        of.any(|one| one.bar.witness.is_some())
    };
    let mut tops = Vec::new();
    let mut height_px = 3;
    for row in 0..rows {
        height_px += if tall(row) { TALL_PX } else { LOW_PX };
        tops.push(height_px - 3 - BAR_PX);
    }
    let (mut shapes, mut texts) = (String::new(), String::new());
    for (index, one) in placed.iter().enumerate() {
        let y = tops.get(one.row).copied().unwrap_or(0);
        let room = match placed[index + 1..].iter().find(|next| next.row == one.row) {
            Some(next) => next.from,
            None => 100.0,
        };
        let class = match (one.bar.witness, one.bar.same_value) {
            (Some(_), _) => "w",
            (None, true) => "n same",
            (None, false) => "n",
        };
        let _ = write!(
            shapes,
            "<g class=\"{class}\"><title>{}</title>{}</g>",
            escaped(&title(scene, one.bar, focus)),
            shape(scene, one, y),
        );
        let failed = one.bar.span.outcome(scene.history) == OpType::Fail;
        text(one, y, room, failed, &mut texts);
    }
    let svg = format!("{shapes}{}{texts}", gap_covers(scene));
    Drawn { svg, height_px }
}

fn place<'s>(scene: &Scene<'_>, bar: &'s Bar, focus: Focus<'_>) -> Placed<'s> {
    let from = scene.place(bar.span.from);
    let end = match bar.span.to {
        Some(to) => scene.place(to),
        None => 100.0,
    };
    let is_point = bar.span.invoke(scene.history).process == Process::Nemesis;
    let to = match (is_point, bar.span.outcome(scene.history)) {
        (true, _) => from,
        // It may take effect as long as the picture goes on; the rest of its stretch says so.
        (_, OpType::Info) => match bar.span.to {
            Some(to) => scene.axis.end_of_stretch(scene.at(to)),
            None => 100.0,
        },
        _ => end,
    };
    let (invoke, completion) = (
        bar.span.invoke(scene.history),
        bar.span.completion(scene.history),
    );
    let label = label(invoke, completion, focus, LABEL_CHARS);
    // As wide as it is on a phone, so that labels meet nowhere.
    let numbered = label.chars().count() as f64 + 4.0;
    let width = numbered * LETTER_PX / PHONE_PX * 100.0;
    let text = match from + width <= 100.0 {
        true => (from, from + width),
        false => ((to.max(from + LEAST) - width).max(0.0), to.max(width)),
    };
    Placed {
        bar,
        from,
        to: to.max(from + LEAST),
        text,
        label,
        row: 0,
    }
}

/// Gives each bar the first row in which neither it nor its label meets another.
fn pack(placed: &mut [Placed<'_>]) -> usize {
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for one in placed {
        let free = |(bar, text): &(f64, f64)| {
            *bar <= one.from + 0.05 && (one.bar.witness.is_none() || *text <= one.text.0)
        };
        let row = rows.iter().position(free).unwrap_or(rows.len());
        if row == rows.len() {
            rows.push((0.0, 0.0));
        }
        rows[row].0 = one.to;
        if one.bar.witness.is_some() {
            rows[row].1 = one.text.1;
        }
        one.row = row;
    }
    rows.len()
}

fn text(one: &Placed<'_>, y: u32, room: f64, failed: bool, svg: &mut String) {
    let label = escaped(&one.label);
    if let Some(number) = one.bar.witness {
        let (x, anchor) = match one.text.0 + 0.01 < one.from {
            true => (one.to, " text-anchor=\"end\""),
            false => (one.from, ""),
        };
        let _ = write!(
            svg,
            "<text{anchor} x=\"{x:.2}%\" y=\"{}\"><tspan class=\"no\">{number}</tspan> {label}</text>",
            y - 5,
        );
        return;
    }
    // A failed op has its cross there.
    let before_px = if failed { 14 } else { 4 };
    let wanted = one.label.chars().count() as f64 * LETTER_PX + f64::from(before_px + 6);
    if wanted / DESK_PX * 100.0 <= room - one.to {
        let _ = write!(
            svg,
            "<text class=\"d\" x=\"{:.2}%\" dx=\"{before_px}\" y=\"{}\">{label}</text>",
            one.to,
            y + BAR_PX - 2,
        );
    }
}

fn shape(scene: &Scene<'_>, one: &Placed<'_>, top: u32) -> String {
    let (from, to) = (one.from, one.to);
    let height = match one.bar.witness {
        Some(_) => BAR_PX,
        None => GREY_PX,
    };
    let y = top + (BAR_PX - height) / 2;
    let middle = y + height / 2;
    let span = &one.bar.span;
    if span.invoke(scene.history).process == Process::Nemesis {
        return format!("<circle cx=\"{from:.2}%\" cy=\"{middle}\" r=\"4.5\"/>");
    }
    let rect = |class: &str, width: f64| {
        format!(
            "<rect{class} x=\"{from:.2}%\" y=\"{y}\" width=\"{:.2}%\" height=\"{height}\" rx=\"1.5\"/>",
            width.max(LEAST)
        )
    };
    match span.outcome(scene.history) {
        OpType::Ok | OpType::Invoke => rect("", to - from),
        OpType::Fail => format!(
            "{}<text class=\"x\" x=\"{to:.2}%\" dx=\"2\" y=\"{}\">\u{d7}</text>",
            rect(" class=\"fail\"", to - from),
            middle + 4
        ),
        OpType::Info => {
            // Barred up to the moment at which it was given up, a dashed line beyond.
            let known = span.to.map_or(to, |to| scene.place(to)).max(from + LEAST);
            format!(
                "<rect class=\"hit\" x=\"{from:.2}%\" y=\"{y}\" width=\"{:.2}%\" height=\"{height}\"/>\
                 <line class=\"info\" x1=\"{from:.2}%\" x2=\"{known:.2}%\" y1=\"{middle}\" y2=\"{middle}\" \
                 stroke-width=\"{height}\"/><line class=\"open\" x1=\"{known:.2}%\" x2=\"{to:.2}%\" \
                 y1=\"{middle}\" y2=\"{middle}\"/><text class=\"x\" text-anchor=\"end\" x=\"{to:.2}%\" \
                 y=\"{}\">?</text>",
                to - from,
                middle + 4,
            )
        }
    }
}

/// Everything about an op in a line.
fn title(scene: &Scene<'_>, bar: &Bar, focus: Focus<'_>) -> String {
    let invoke = bar.span.invoke(scene.history);
    let completion = bar.span.completion(scene.history);
    let who = match invoke.process {
        Process::Nemesis => "nemesis".to_owned(),
        Process::Client(number) => format!("process {number}"),
    };
    let asked = excerpt(&invoke.value, focus, TITLE_CHARS);
    let begun = scene.at(bar.span.from);
    let unit = match scene.clock {
        crate::report::scene::Clock::Time => " s",
        crate::report::scene::Clock::Order => "",
    };
    let begin = format!(
        "op {}, {who}: {} {asked}, at {}{unit}",
        invoke.index,
        invoke.f,
        moment(scene.clock, begun)
    );
    match (completion, bar.span.to, invoke.process) {
        (_, _, Process::Nemesis) => begin,
        (Some(op), Some(to), _) => {
            let ended = match op.kind {
                OpType::Ok => "ok",
                OpType::Fail => "fail",
                OpType::Info | OpType::Invoke => "info",
            };
            let why = op.error.as_deref().unwrap_or("");
            let got = match why {
                "" => excerpt(&op.value, focus, TITLE_CHARS),
                why => crate::report::scene::focus::cut(why, TITLE_CHARS),
            };
            let lasted = length(scene.clock, scene.at(to) - begun);
            format!("{begin}; {ended} after {lasted}: {got}")
        }
        _ => format!("{begin}; never answered"),
    }
}
