//! What the nodes' disks held after the stop, apart from the verdict.

use std::fmt::Write;

use super::escape::escaped;
use crate::report::losses::LossReport;
use crate::report::numbers::count;

/// Divergent offsets that are listed.
const LISTED: usize = 50;

/// Nothing where nobody looked.
pub fn section(losses: &LossReport) -> String {
    let Some(resolved) = &losses.resolved else {
        return String::new();
    };
    let fates = &resolved.indeterminate;
    let row = |name: &str, number: u64| format!("<tr><td>{name}<td class=n>{}", count(number));
    let rows = [
        row(
            "indeterminate, on every replica's disk",
            fates.on_every_replica,
        ),
        row("indeterminate, on some", fates.on_some),
        row("indeterminate, nowhere", fates.nowhere),
        row(
            "indeterminate, not told by the disks that were read",
            fates.unknown,
        ),
        row("lost, yet still on some disk", resolved.lost_on_some_disk),
        row("lost, and on no disk", resolved.lost_on_no_disk),
        row(
            "offsets at which two disks differ",
            resolved.divergent_offsets,
        ),
    ];
    let mut differ = String::new();
    for one in resolved.divergent.iter().take(LISTED) {
        let values: Vec<String> = one
            .values
            .iter()
            .map(|(node, value)| format!("{} holds {value}", escaped(node)))
            .collect();
        let _ = write!(
            differ,
            "<li>{} at offset {}: {}</li>",
            escaped(&one.key),
            one.offset,
            values.join(", ")
        );
    }
    let differ = match differ.is_empty() {
        true => differ,
        false => format!(
            "<details><summary>Where disks differ</summary><ul class=\"rest\">{differ}</ul></details>"
        ),
    };
    let unread: String = resolved
        .unreadable
        .iter()
        .take(LISTED)
        .map(|what| format!("<p class=\"cap\">Not read: {}.</p>", escaped(what)))
        .collect();
    format!(
        "<section aria-labelledby=h-disk><h2 id=h-disk>What the disks say</h2><p class=\"sub\">The \
         segments of {} after the stop. The verdict rests on what clients were shown, and stays.</p>\
         <table class=\"st plain\"><tbody>{}</tbody></table>{differ}{unread}</section>",
        escaped(&resolved.nodes.join(", ")),
        rows.concat(),
    )
}
