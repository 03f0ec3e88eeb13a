//! What the marks of the lanes mean: those that the run has.

use plimsoll_checkers::Verdict;

use crate::report::timeline::{State, Timeline};

pub fn legend(timeline: &Timeline, verdict: &Verdict) -> String {
    let spans = || timeline.nodes.iter().flat_map(|node| &node.spans);
    let is_any = |wanted: fn(State) -> bool| spans().any(|span| wanted(span.state));
    let marks = [
        (true, KEPT),
        (verdict.measures.lost_acked > 0, LOST),
        (is_any(|state| matches!(state, State::Leads(_))), LEADS),
        (is_any(|state| matches!(state, State::Deposed(_))), DEPOSED),
        (!verdict.measures.fault_windows.is_empty(), FAULT),
        (is_any(|state| state == State::InSync), IN_SYNC),
        (is_any(|state| state == State::OutOfSync), OUT_OF_SYNC),
        (is_any(|state| state == State::Paused), PAUSED),
        (is_any(|state| state == State::Dead), DEAD),
        (is_any(|state| state == State::Silent), SILENT),
    ];
    let shown = marks.iter().filter(|(has, _)| *has);
    let shown: String = shown
        .map(|(_, mark)| format!("<span>{mark}</span>"))
        .collect();
    format!("<div class=\"legend\">{shown}</div>")
}

const KEPT: &str = "<i class=\"sw kept\"></i>acked, kept";
const LOST: &str = "<i class=\"sw lost\"></i>acked, later lost";
const LEADS: &str = "<i class=\"sw\" style=\"background:var(--keptwash);border-top:2px solid \
    var(--kept)\"></i>leads (height: how many)";
const DEPOSED: &str = "<i class=\"sw\" style=\"background:repeating-linear-gradient(135deg,\
    var(--lostwash) 0 3px,var(--lostfill) 3px 5px);border-top:2px solid var(--lost)\"></i>deposed, but \
    still claims to lead";
const FAULT: &str = "<i class=\"sw\" style=\"background:var(--faultfill)\"></i>fault on";
const IN_SYNC: &str = "<i class=\"sw\" style=\"height:0;width:16px;border-top:2px solid var(--ink2)\"></i>\
    in ISR";
const OUT_OF_SYNC: &str = "<i class=\"sw\" style=\"height:0;width:16px;border-top:2px dotted \
    var(--ink2)\"></i>out of ISR";
const PAUSED: &str = "<i class=\"sw\" style=\"background:repeating-linear-gradient(90deg,var(--band) 0 2px,\
    transparent 2px 6px)\"></i>paused";
const DEAD: &str = "<b>\u{d7}</b>dead";
const SILENT: &str = "<b>?</b>no answer";
