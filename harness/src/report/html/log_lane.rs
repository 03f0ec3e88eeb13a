//! Log ends and high watermark of one partition at a time: where replicas
//! stood apart, what only one of them had, and where it was cut back.

use std::fmt::Write;

use super::axis::{left, ms, percent, stretch};
use super::escape::escaped;
use super::faults_lane::fits;
use crate::report::numbers::count;
use crate::report::timeline::{Curve, Leader, LogLane, Timeline, Truncation};

/// Height of the drawing in pixels, and what of it the leaders' row and the margin take.
const HEIGHT_PX: u32 = 148;
const PLACE: &str = "top:20px;height:calc(100% - 24px)";
/// Notes that are nearer to each other than this share of the axis would overlap.
const NOTE_PERCENT: f64 = 16.0;
/// How many times wider than high a drawing may be in its own units.
const WIDE_MAX: i64 = 4;
const RANGE_POINTS: usize = 300;

pub fn lane(timeline: &Timeline) -> String {
    if timeline.logs.is_empty() {
        return String::new();
    }
    let plots: String = timeline
        .logs
        .iter()
        .enumerate()
        .map(|(index, lane)| plot(index, lane, timeline.end_ns))
        .collect();
    format!(
        "<div class=\"lane sep logs\"><div class=\"lab\"><b>Log of partition</b>\
         <output id=\"v-h\"></output><small>log ends by node, <span class=\"hwk\">HW</span>{}</small>{}\
         </div><div>{plots}</div></div>",
        left_out(timeline),
        pick(&timeline.logs),
    )
}

fn left_out(timeline: &Timeline) -> String {
    match timeline.partitions - timeline.logs.len() {
        0 => String::new(),
        _ => format!("; {} of {} shown", timeline.logs.len(), timeline.partitions),
    }
}

fn pick(lanes: &[LogLane]) -> String {
    let mut radios = String::new();
    for (index, lane) in lanes.iter().enumerate() {
        let checked = if index == first_told(lanes) {
            " checked"
        } else {
            ""
        };
        let hit = if lane.lost.is_empty() {
            ""
        } else {
            " class=\"hit\""
        };
        let _ = write!(
            radios,
            "<label><input type=\"radio\" name=\"pp\" value=\"{index}\" id=\"pp{index}\"{checked}>\
             <span{hit}>{}</span></label>",
            escaped(&short(&lane.key, lanes))
        );
    }
    format!("<div class=\"pick\" role=\"radiogroup\" aria-label=\"Partition\">{radios}</div>")
}

/// The partition that is shown first: the first with losses, or else with anything cut back.
fn first_told(lanes: &[LogLane]) -> usize {
    let lost = lanes.iter().position(|lane| !lane.lost.is_empty());
    let cut = || lanes.iter().position(|lane| !lane.truncations.is_empty());
    lost.or_else(cut).unwrap_or(0)
}

/// Without what all names begin with.
fn short(key: &str, lanes: &[LogLane]) -> String {
    let prefix = key.rsplit_once('-').map_or("", |(topic, _)| topic);
    let number = key.get(prefix.len() + 1..).unwrap_or_default();
    let same = |lane: &LogLane| lane.key.rsplit_once('-').map_or("", |(topic, _)| topic) == prefix;
    match !prefix.is_empty() && lanes.iter().all(same) {
        true => format!("p{number}"),
        false => key.to_owned(),
    }
}

fn plot(index: usize, lane: &LogLane, end_ns: u64) -> String {
    let top = lane.top().max(1);
    let hit = if lane.lost.is_empty() { "" } else { " hit" };
    let end = ms(end_ns);
    let key = escaped(&lane.key);
    let scale = Scale::new(top, end_ns);
    let mut curves = lost(lane, scale);
    for (number, node) in lane.nodes.iter().enumerate() {
        let ink = if number % 2 == 0 { "ink3" } else { "ink2" };
        let _ = write!(
            curves,
            "<path data-k=\"{}\" d=\"{}\" stroke=\"var(--{ink})\" stroke-width=\"1.2\"/>",
            escaped(&node.name),
            path(&node.ends, scale)
        );
    }
    let _ = write!(
        curves,
        "<path data-k=\"HW\" d=\"{}\" stroke=\"var(--kept)\" stroke-width=\"2.2\"/>",
        path(&lane.high_watermark, scale)
    );
    for cut in &lane.truncations {
        let _ = write!(
            curves,
            "<path d=\"M{:.1} {}V{}\" stroke=\"var(--lost)\" stroke-width=\"2\"/>",
            ms(cut.seen_ns),
            scale.y(cut.from),
            scale.y(cut.to)
        );
    }
    format!(
        "<div class=\"plot pp pp{index}{hit}\" style=\"--h:{HEIGHT_PX}px\" data-top=\"{top}\" data-scale=\"{}\">\
         <div class=\"ys\" aria-hidden=\"true\">{}</div><b class=\"pname\">{key}</b>{}\
         <svg viewBox=\"0 0 {end} {}\" preserveAspectRatio=\"none\" style=\"{PLACE}\" role=\"img\" \
         aria-label=\"Log ends and high watermark of {key}\">\
         <g fill=\"none\">{curves}</g></svg>{}</div>",
        scale.factor,
        ticks(top),
        leaders(&lane.leaders, end_ns),
        top * scale.factor,
        notes(lane, top, end_ns),
    )
}

/// Offsets as heights, counted downwards from the top.
#[derive(Clone, Copy)]
struct Scale {
    top: i64,
    /// Browsers blur what is wide in its own units and low: heights are multiplied.
    factor: i64,
}

impl Scale {
    fn new(top: i64, end_ns: u64) -> Scale {
        let wide = i64::try_from(end_ns / 1_000_000).unwrap_or(i64::MAX);
        let factor = (wide / WIDE_MAX / top).max(1);
        Scale { top, factor }
    }

    fn y(self, offset: i64) -> i64 {
        (self.top - offset) * self.factor
    }
}

/// Rises are drawn straight between what was seen; a fall stands where it was seen.
fn path(curve: &Curve, scale: Scale) -> String {
    let mut path = String::new();
    let mut last: Option<i64> = None;
    for (time_ns, value) in curve {
        let x = ms(*time_ns);
        match (last, value) {
            (_, None) => {}
            (None, Some(value)) => _ = write!(path, "M{x:.0} {}", scale.y(*value)),
            (Some(last), Some(value)) if last == *value => _ = write!(path, "H{x:.0}"),
            (Some(last), Some(value)) if last > *value => {
                _ = write!(path, "H{x:.0}V{}", scale.y(*value));
            }
            (Some(_), Some(value)) => _ = write!(path, "L{x:.0} {}", scale.y(*value)),
        }
        last = *value;
    }
    path
}

/// Ranges of lost records, from the acknowledgement of the first to that of the last.
fn lost(lane: &LogLane, scale: Scale) -> String {
    let (mut lines, mut areas) = (String::new(), String::new());
    let mut rest = lane.lost.as_slice();
    while let Some((first, _)) = rest.split_first() {
        let unbroken = rest
            .windows(2)
            .take_while(|pair| (pair[0].1..=pair[0].1 + 1).contains(&pair[1].1));
        let (range, after) = rest.split_at(unbroken.count() + 1);
        rest = after;
        let (from, base) = (ms(first.0), scale.y(first.1));
        let _ = write!(lines, "M{from:.0} {base}");
        let _ = write!(areas, "M{from:.0} {base}");
        let apart = range.len().div_ceil(RANGE_POINTS);
        let some = range.iter().step_by(apart).chain(range.last());
        for (time_ns, offset) in some {
            let point = format!("L{:.0} {}", ms(*time_ns), scale.y(offset + 1));
            lines.push_str(&point);
            areas.push_str(&point);
        }
        let _ = write!(areas, "V{base}Z");
    }
    match lines.is_empty() {
        true => lines,
        false => format!(
            "<path d=\"{areas}\" fill=\"var(--lostfill)\" opacity=\".3\"/>\
             <path d=\"{lines}\" stroke=\"var(--lost)\" stroke-width=\"1.8\"/>"
        ),
    }
}

fn leaders(leaders: &[Leader], end_ns: u64) -> String {
    let mut row = String::new();
    for leader in leaders {
        let node = escaped(&leader.node);
        let width = percent(leader.to_ns, end_ns) - percent(leader.from_ns, end_ns);
        let long = format!("{node} epoch {}", leader.epoch);
        let text = if fits(&long, width) {
            format!(
                "<b>{node}</b> <span class=\"wide\">epoch {0}</span><span class=\"nar\">e{0}</span>",
                leader.epoch
            )
        } else if fits(&leader.node, width) {
            format!("<b>{node}</b>")
        } else {
            String::new()
        };
        let _ = write!(
            row,
            "<span class=\"ld\" style=\"{}\" title=\"{long}\"><span>{text}</span></span>",
            stretch(leader.from_ns, leader.to_ns, end_ns)
        );
    }
    row
}

fn share(value: i64, top: i64) -> f64 {
    1.0 - value as f64 / top as f64
}

fn ticks(top: i64) -> String {
    let step = step(top);
    let mut ticks = String::new();
    let mut value = 0;
    // The highest tick must leave the leaders' row free.
    while share(value, top) > 0.06 || value == 0 {
        let _ = write!(
            ticks,
            "<span class=\"y\" style=\"top:calc(20px + (100% - 24px)*{:.4})\">{}</span>",
            share(value, top),
            count(u64::try_from(value).unwrap_or(0))
        );
        value += step;
    }
    ticks
}

/// Four or fewer steps of 1, 2 or 5 times a power of ten.
fn step(top: i64) -> i64 {
    let mut power = 1;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if top / step <= 4 {
                return step;
            }
        }
        power *= 10;
    }
}

/// Truncations in words, where there is room for them, the greatest first. A log that was cut back may
/// have grown again before it was seen, so that more was cut.
fn notes(lane: &LogLane, top: i64, end_ns: u64) -> String {
    let mut cuts: Vec<&Truncation> = lane.truncations.iter().collect();
    cuts.sort_by_key(|cut| (std::cmp::Reverse(cut.from - cut.to), cut.seen_ns));
    let mut taken: Vec<f64> = Vec::new();
    let mut notes = String::new();
    for cut in cuts {
        let at = percent(cut.seen_ns, end_ns);
        if taken.iter().any(|other| (other - at).abs() < NOTE_PERCENT) {
            continue;
        }
        taken.push(at);
        let records = u64::try_from(cut.from - cut.to).unwrap_or(0);
        let side = if at < 80.0 {
            "4px"
        } else {
            "calc(-100% - 4px)"
        };
        let middle = (cut.from + cut.to) / 2;
        let _ = write!(
            notes,
            "<div class=\"note wide\" data-v=\"{middle}\" style=\"{};\
             top:calc(20px + (100% - 24px)*{:.4});transform:translate({side},-50%)\">\
             {} truncates {} or more</div>",
            left(cut.seen_ns, end_ns),
            share(middle, top),
            escaped(&cut.node),
            count(records),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_slope_falls_drop_and_gaps_stay_open() {
        let second = 1_000_000_000;
        let curve = vec![
            (0, Some(3)),
            (second, Some(8)),
            (2 * second, Some(8)),
            (3 * second, None),
            (4 * second, Some(8)),
            (5 * second, Some(2)),
        ];
        let scale = Scale { top: 10, factor: 5 };
        assert_eq!(path(&curve, scale), "M0 35L1000 10H2000M4000 10H5000V40");
    }

    #[test]
    fn ticks_are_few_and_round() {
        for top in [1, 4, 7, 99, 1234, 5_000_000] {
            let step = step(top);
            assert!(top / step <= 4, "{top}: {step}");
            assert!(ticks(top).matches("class=\"y\"").count() <= 5, "{top}");
        }
    }

    #[test]
    fn partitions_of_one_topic_are_named_by_their_numbers() {
        let lane = |key: &str| LogLane {
            key: key.to_owned(),
            ..LogLane::default()
        };
        let one = [lane("my-log-0"), lane("my-log-12")];
        assert_eq!(short("my-log-12", &one), "p12");
        let two = [lane("a-0"), lane("b-0")];
        assert_eq!(short("b-0", &two), "b-0");
    }
}
