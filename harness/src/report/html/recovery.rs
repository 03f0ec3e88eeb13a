//! What the faults cost: by kind, one by one, and by the side on which clients were.

use std::fmt::Write;

use plimsoll_checkers::Verdict;

use super::escape::escaped;
use crate::report::losses::{KindOfFault, LossReport, Recovery, Spread, in_words};
use crate::report::numbers::{about, count, duration_ms};

/// Rows of single faults.
const FAULTS: usize = 200;
const NOT_MEASURABLE: &str = "not measurable";

pub fn section(verdict: &Verdict, losses: &LossReport) -> String {
    let faults = faults(losses);
    let sides = sides(verdict, losses);
    if faults.is_empty() && sides.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=h-cost><h2 id=h-cost>What the faults cost</h2>\
         <p class=\"sub\">Times count from the moment at which a fault was proved to hold, and are as \
         fine as the monitor looked. To a new leader: of every partition that a target led.</p>\
         {faults}{sides}</section>"
    )
}

fn faults(losses: &LossReport) -> String {
    let never_came: String = losses
        .never_came
        .iter()
        .map(|one| format!("<p class=\"cap\">{}.</p>", escaped(&one.words())))
        .collect();
    if losses.by_kind.is_empty() {
        return never_came;
    }
    let measurable = losses.writes_measurable;
    let kinds: String = losses
        .by_kind
        .iter()
        .map(|kind| of_kind(kind, measurable))
        .collect();
    let mut each = String::new();
    for one in losses.recoveries.iter().take(FAULTS) {
        let _ = write!(each, "{}", of_fault(one, measurable));
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Faults by kind\">\
         <table class=\"st\"><thead><tr><th>kind of fault<th class=n>n<th class=n>to a new leader\
         <th class=n>to the first ack<th class=n>heal to full ISR<th class=n>no write meanwhile\
         <th class=n>lost</thead><tbody>{kinds}</tbody></table></div>{never_came}\
         <details><summary>Every fault</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Every fault\"><table class=\"st\"><thead><tr><th>fault<th class=n>from\
         <th class=n>led<th class=n>to a new leader<th class=n>to the first ack\
         <th class=n>heal to full ISR<th class=n>no write meanwhile<th class=n>lost (near it)\
         </thead><tbody>{each}</tbody></table></div></details>"
    )
}

fn of_kind(kind: &KindOfFault, measurable: bool) -> String {
    let spread = |times| escaped(&in_words(times, kind.faults)).into_owned();
    let write = |times: Option<Spread>| match measurable {
        true => spread(times),
        false => NOT_MEASURABLE.to_owned(),
    };
    format!(
        "<tr><td>{}<td class=n data-h=n>{}<td class=n data-h='to a new leader'>{}\
         <td class=n data-h='to the first ack'>{}<td class=n data-h='heal to full ISR'>{}\
         <td class=n data-h='no write meanwhile'>{}<td class=n data-h=lost>{}",
        escaped(&kind.fault),
        count(kind.faults),
        spread(kind.to_new_leader_ms),
        write(kind.to_first_ack_ms),
        spread(kind.heal_to_full_isr_ms),
        write(kind.unavailable_ms),
        count(kind.lost),
    )
}

fn of_fault(one: &Recovery, measurable: bool) -> String {
    let what = match one.fault.as_str() {
        "partition" => "cut",
        other => other,
    };
    let leader = match (one.to_new_leader_ms, one.led) {
        (Some(ms), led) if one.changed_leader < led => format!(
            "{} <small>{} of {led}</small>",
            duration_ms(ms as f64),
            one.changed_leader
        ),
        (Some(ms), _) => duration_ms(ms as f64),
        (None, 0) => "led nothing".to_owned(),
        (None, _) => "kept".to_owned(),
    };
    let first = match (measurable, one.to_first_ack_ms, one.led) {
        (false, ..) => NOT_MEASURABLE.to_owned(),
        (true, Some(ms), _) => duration_ms(ms as f64),
        (true, None, 0) => String::new(),
        (true, None, _) => "never".to_owned(),
    };
    let full = match (one.shrank, one.heal_to_full_isr_ms) {
        (false, _) => "never shrank".to_owned(),
        (true, Some(ms)) => duration_ms(ms as f64),
        (true, None) => "not seen".to_owned(),
    };
    let outage = match measurable {
        true => duration_ms(one.unavailable_ms as f64),
        false => NOT_MEASURABLE.to_owned(),
    };
    let at = one.from_ns as f64 / 1e9;
    format!(
        "<tr><td>{}<td class=n data-h=from><a href=\"#t={at:.3}\" data-t=\"{at:.3}\">{}</a>\
         <td class=n data-h=led>{}<td class=n data-h='to a new leader'>{leader}\
         <td class=n data-h='to the first ack'>{first}<td class=n data-h='heal to full ISR'>{full}\
         <td class=n data-h='no write meanwhile'>{outage}<td class=n data-h='lost (near it)'>{} ({})",
        escaped(format!("{what} {}", one.targets.join(", ")).trim_end()),
        about(one.from_ns),
        count(one.led),
        count(one.lost),
        count(one.lost_just_before + one.lost_just_after),
    )
}

/// Who could not write or read, by the side that clients were on.
fn sides(verdict: &Verdict, losses: &LossReport) -> String {
    let sides = crate::report::sides::sides(verdict);
    if sides.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for side in &sides {
        let writes = match losses.writes_measurable {
            true => duration_ms(side.writes_ms as f64),
            false => NOT_MEASURABLE.to_owned(),
        };
        let _ = write!(
            rows,
            "<tr><td>{}<td class=n data-h='no write'>{writes}<td class=n data-h='no read'>{}",
            escaped(&side.name),
            duration_ms(side.reads_ms as f64)
        );
    }
    format!(
        "<h3 style=\"margin-top:22px\">Unavailable, by the clients' side</h3>\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Unavailability by side\">\
         <table class=\"st sides\"><thead><tr><th>clients<th class=n>no write acknowledged\
         <th class=n>no read answered</thead><tbody>{rows}</tbody></table></div>\
         <p class=\"cap\">Sum of outages of the worst partition: half a second or more without a \
         success, though somebody asked. All clients together are served as soon as one of them is.</p>"
    )
}
