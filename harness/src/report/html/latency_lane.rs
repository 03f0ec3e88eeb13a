//! How long acknowledgements took: the median in a band from p10 to p99, on a
//! logarithmic scale, with what got no answer at the top.

use std::fmt::Write;

use super::axis::ms;
use crate::report::timeline::Timeline;

const HEIGHT: f64 = 100.0;
/// Room at the top for sends without an answer.
const TOP: f64 = 12.0;

pub fn lane(timeline: &Timeline) -> String {
    let scale = Scale::of(timeline);
    let end = ms(timeline.end_ns);
    let (mut band, mut median) = (String::new(), String::new());
    let width = ms(timeline.bins.width_ns);
    for (index, bin) in timeline.bins.bins.iter().enumerate() {
        let Some([low, middle, high]) = bin.latency_ms else {
            continue;
        };
        let from = index as f64 * width;
        let to = (from + width).min(end);
        let (low, middle, high) = (scale.y(low), scale.y(middle), scale.y(high));
        let _ = write!(band, "M{from:.1} {high:.1}H{to:.1}V{low:.1}H{from:.1}Z");
        let joins = index > 0 && timeline.bins.bins[index - 1].latency_ms.is_some();
        let step = if joins { 'V' } else { 'M' };
        match step {
            'V' => _ = write!(median, "V{middle:.1}H{to:.1}"),
            _ => _ = write!(median, "M{from:.1} {middle:.1}H{to:.1}"),
        }
    }
    let (names, lines) = scale.ticks(end);
    format!(
        "<div class=\"lane sep\"><div class=\"lab\"><b>Ack latency</b><output id=\"v-l\"></output>\
         <small>p50, band p10 to p99</small></div><div class=\"plot\" style=\"--h:100px\">\
         <div class=\"ys\" aria-hidden=\"true\">{names}</div>\
         <svg viewBox=\"0 0 {end} {HEIGHT}\" preserveAspectRatio=\"none\" \
         style=\"top:6px;height:calc(100% - 12px)\" role=\"img\" \
         aria-label=\"Latency quantiles, logarithmic\">\
         <path d=\"{lines}\" stroke=\"var(--grid)\"/><path d=\"{band}\" fill=\"var(--band)\"/>\
         <path d=\"{median}\" fill=\"none\" stroke=\"var(--ink)\" stroke-width=\"1.6\"/>{}</svg>\
         {}</div></div>",
        no_answers(timeline, end),
        no_answers_label(timeline, end),
    )
}

/// Powers of ten that hold all latencies.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(timeline: &Timeline) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for [least, _, most] in timeline.bins.bins.iter().filter_map(|bin| bin.latency_ms) {
            low = low.min(least);
            high = high.max(most);
        }
        if high == 0.0 {
            (low, high) = (1.0, 1000.0);
        }
        let low = low.max(0.001).log10().floor();
        let high = high.max(0.001).log10().ceil().max(low + 1.0);
        Self { low, high }
    }

    fn y(&self, ms: f64) -> f64 {
        let share = (ms.max(0.001).log10() - self.low) / (self.high - self.low);
        HEIGHT - share.clamp(0.0, 1.0) * (HEIGHT - TOP)
    }

    fn ticks(&self, end: f64) -> (String, String) {
        let (mut names, mut lines) = (String::new(), String::new());
        let mut power = self.low;
        while power <= self.high {
            let ms = 10_f64.powf(power);
            let y = self.y(ms);
            let _ = write!(
                names,
                "<span class=\"y\" style=\"top:calc(6px + (100% - 12px)*{:.3})\">{}</span>",
                y / HEIGHT,
                name(ms)
            );
            let _ = write!(lines, "M0 {y:.1}H{end}");
            power += 1.0;
        }
        (names, lines)
    }
}

fn name(ms: f64) -> String {
    if ms >= 999.0 {
        format!("{:.0} s", ms / 1000.0)
    } else if ms >= 0.999 {
        format!("{ms:.0} ms")
    } else {
        format!("{:.0} \u{b5}s", ms * 1000.0)
    }
}

fn no_answers(timeline: &Timeline, end: f64) -> String {
    let mut path = String::new();
    let mut last = f64::NEG_INFINITY;
    let tick = end / 250.0;
    for time_ns in &timeline.bins.indeterminate_ns {
        let x = ms(*time_ns);
        // Ticks that would lie on each other are one.
        if x - last >= tick / 2.0 {
            let _ = write!(path, "M{:.1} 4h{tick:.1}", (x - tick).max(0.0));
            last = x;
        }
    }
    match path.is_empty() {
        true => path,
        false => format!("<path d=\"{path}\" stroke=\"var(--ink2)\" stroke-width=\"5\"/>"),
    }
}

/// After the last of them, or before the first, wherever there is room.
fn no_answers_label(timeline: &Timeline, end: f64) -> String {
    let times = &timeline.bins.indeterminate_ns;
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return String::new();
    };
    let place = |time_ns: u64| ms(time_ns) / end * 100.0;
    let (first, last) = (place(*first), place(*last));
    let side = if last < 80.0 {
        format!("left:{last:.2}%;transform:translate(4px,-50%)")
    } else if first > 22.0 {
        format!("left:{first:.2}%;transform:translate(calc(-100% - 12px),-50%)")
    } else {
        return String::new();
    };
    format!("<div class=\"note wide\" style=\"top:10px;{side}\">no answer: indeterminate</div>")
}
