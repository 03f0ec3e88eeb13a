//! The witness ops as rows, in order of time.

use std::fmt::Write;

use plimsoll_checkers::history::{Op, OpType};

use super::moment;
use crate::report::html::escape::escaped;
use crate::report::numbers::counted;
use crate::report::scene::elements::membership;
use crate::report::scene::focus::{cut, excerpt};
use crate::report::scene::{Clock, Focus, Scene};

const VALUE_CHARS: usize = 240;
/// A list of which is said what it holds needs no more than this.
const LIST_CHARS: usize = 40;
const ERROR_CHARS: usize = 120;
const NAME_CHARS: usize = 40;

pub fn table(scene: &Scene<'_>, focus: Focus<'_>) -> String {
    let mut rows = String::new();
    for (position, number) in &scene.witnesses {
        let op = &scene.history.ops()[*position];
        let _ = write!(
            rows,
            "<tr><td><b class=\"no\">{number}</b><td class=n data-h=index>{}<td data-h=process>{}\
             <td>{}<td>{}<td class=v>{}<td class=n data-h=at>{}",
            op.index,
            escaped(&who(op)),
            escaped(&cut(&op.f, NAME_CHARS)),
            kind(op),
            escaped(&value(scene, op, focus)),
            moment(scene.clock, scene.at(*position)),
        );
    }
    let when = match scene.clock {
        Clock::Time => "time, s",
        Clock::Order => "position",
    };
    let more = match scene.left_out {
        0 => String::new(),
        more => format!(
            "<p class=\"cap\">{} of the proof not shown.</p>",
            counted(more as u64, "further op")
        ),
    };
    format!(
        "<table class=\"sct\"><thead><tr><th><th class=n>index<th>process<th>f<th>type<th>value\
         <th class=n>{when}</thead><tbody>{rows}</tbody></table>{more}"
    )
}

fn who(op: &Op) -> String {
    let at = match (&op.client, &op.node) {
        (Some(client), Some(node)) => format!(" ({client} at {node})"),
        (Some(client), None) => format!(" ({client})"),
        (None, Some(node)) => format!(" (at {node})"),
        (None, None) => String::new(),
    };
    cut(&format!("{}{at}", op.process), NAME_CHARS)
}

fn kind(op: &Op) -> &'static str {
    match op.kind {
        OpType::Invoke => "invoke",
        OpType::Ok => "ok",
        OpType::Fail => "fail",
        OpType::Info => "info",
    }
}

fn value(scene: &Scene<'_>, op: &Op, focus: Focus<'_>) -> String {
    let value = match membership(&op.value, &scene.elements) {
        Some(said) => format!("{} ({said})", excerpt(&op.value, focus, LIST_CHARS)),
        None => excerpt(&op.value, focus, VALUE_CHARS),
    };
    match &op.error {
        None => value,
        Some(error) => format!("{value} error: {}", cut(error, ERROR_CHARS)),
    }
}
