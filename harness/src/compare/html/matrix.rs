//! The matrix: a row a cell, what it lost on a logarithmic axis with a stroke a run, how long it stood
//! still, and what was promised.

use std::fmt::Write;

use serde_json::Value;

use super::super::view::Fate;
use super::super::{Compared, view};
use super::outcome;
use crate::report::parts::{escaped, mark};

/// The logarithmic axis of shares: a slot for zero, then 0.01 % to 100 %.
const ZERO_X: f64 = 3.0;
const FIRST_X: f64 = 12.0;
const LAST_X: f64 = 98.0;
const FIRST_PERCENT: f64 = 0.01;
const DECADES: f64 = 4.0;

/// Rows and columns: unclean elections, or else the last axis, goes across.
pub(super) fn matrix(compared: &Compared) -> String {
    let axes = &compared.axes;
    let across = axes
        .iter()
        .position(|axis| axis == "unclean-elections")
        .or_else(|| axes.len().checked_sub(1).filter(|_| axes.len() > 1));
    let value = |cell: &Value, axis: usize| view::text(&cell["varied"][axis]);
    let row_of = |cell: &Value| -> Vec<String> {
        let down = (0..axes.len()).filter(|axis| Some(*axis) != across);
        down.map(|axis| format!("{}={}", axes[axis], value(cell, axis)))
            .collect()
    };
    let column_of = |cell: &Value| {
        across.map_or(String::new(), |axis| {
            format!("{}={}", axes[axis], value(cell, axis))
        })
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    for cell in &compared.cells {
        let (row, column) = (row_of(cell), column_of(cell));
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let longest = compared
        .cells
        .iter()
        .filter_map(|cell| cell["unavailable_ms_mean"].as_f64())
        .fold(1.0, f64::max);
    let mut body = String::new();
    for row in &rows {
        let _ = write!(body, "<tr>{}", row_head(row, &compared.cells));
        for column in &columns {
            let found = compared.cells.iter().enumerate();
            let mut found =
                found.filter(|(_, cell)| row_of(cell) == *row && column_of(cell) == *column);
            match found.next() {
                Some((index, cell)) => body.push_str(&drawn(index, cell, column, longest)),
                None => body.push_str("<td>"),
            }
        }
    }
    let heads: String = columns
        .iter()
        .map(|column| format!("<th>{}{SCALE}", escaped(column)))
        .collect();
    let cols: String = columns.iter().map(|_| "<col>").collect();
    format!(
        "<section aria-labelledby=h-mx><h2 id=h-mx>The same faults under other settings</h2>{}\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Comparison matrix\">\
         <table class=\"mx c{}\"><colgroup><col class=\"c0\">{cols}</colgroup><thead><tr><th>{heads}</thead>\
         <tbody>{body}</tbody></table></div><p class=\"cap\">Share of acknowledged records that were lost \
         (acks=0: of sent records that are missing), on a logarithmic axis with a slot for zero. Thin strokes: \
         the runs, the same seeds in each cell. Bar: 95 % interval over whole runs, since records fall together \
         at a fail-over. Where nothing was lost the bar is left out and a bound given: so many runs in a \
         hundred may still lose something.{}</p></section>",
        legend(),
        columns.len().min(4),
        match compared.cells.iter().any(|cell| cell["acks"] != "all") {
            true => " min.insync.replicas is not consulted at acks=0 and 1.",
            false => "",
        },
    )
}

const SCALE: &str = "<span class=\"sc\"><i style=\"left:3%\">0</i><i style=\"left:12%\">.01</i>\
    <i style=\"left:33.5%\">.1</i><i style=\"left:55%\">1</i><i style=\"left:76.5%\">10</i>\
    <i style=\"left:98%\">100 %</i></span>";

/// What the marks mean.
fn legend() -> String {
    let meanings = [
        (Fate::Kept, "ok", "kept: nothing lost"),
        (
            Fate::Permitted,
            "perm",
            "permitted: lost, and the settings allow it",
        ),
        (Fate::Broken, "perm", "broken: the settings forbid it"),
        (Fate::Unknown, "unk", "unknown: could not be judged"),
    ];
    let items: String = meanings
        .iter()
        .map(|(fate, colour, words)| {
            let mark = mark(outcome(*fate));
            format!("<span><span class=\"{colour}\">{mark}</span> {words}</span>")
        })
        .collect();
    format!("<div class=\"legend\">{items}</div>")
}

fn row_head(row: &[String], cells: &[Value]) -> String {
    // Where nothing varies down the rows, what they have in common.
    let common = cells.first().filter(|_| row.is_empty()).map(|cell| {
        ["acks", "min_insync"]
            .map(|name| format!("{}={}", name.replace('_', "-"), view::text(&cell[name])))
    });
    let mut parts = row.iter().chain(common.iter().flatten());
    let first = parts.next().map_or("", String::as_str);
    let rest: String = parts
        .map(|part| format!("<small>{}</small>", escaped(part)))
        .collect();
    format!("<th scope=row>{}{rest}", escaped(first))
}

fn drawn(index: usize, cell: &Value, column: &str, longest_ms: f64) -> String {
    let fate = Fate::of(cell);
    let colour = match fate {
        Fate::Kept => "ok",
        Fate::Unknown => "unk",
        Fate::Permitted | Fate::Broken => "perm",
    };
    let measurable = cell["writes_measurable"] == true;
    let share = cell["lost_share"].as_f64().unwrap_or(0.0);
    let word = match (fate, measurable) {
        (Fate::Permitted, false) => "missing, never acknowledged",
        (fate, _) => fate.word(),
    };
    let shown = match cell["runs_with_loss"] == 0 {
        true => "0".to_owned(),
        false => format!("{} %", view::percent(share)),
    };
    let (lost, of) = match measurable {
        true => view::lost_of(cell),
        false => (
            view::number(&cell["missing_unacknowledged"]),
            view::number(&cell["unacknowledged"]),
        ),
    };
    let outage = match cell["unavailable_ms_mean"].as_f64() {
        Some(ms) => format!(
            "<i class=\"dn\" style=\"width:{:.0}px\"></i>{} without a write",
            (ms / longest_ms * 40.0).clamp(1.0, 40.0),
            escaped(&view::outage(cell))
        ),
        None => "outage not measurable".to_owned(),
    };
    format!(
        "<td data-h=\"{}\"><div class=\"top\"><span class=\"{colour}\">{}</span><b class=\"{colour}\">{shown}</b> \
         <span>{word}</span><span class=\"no\">cell {}</span></div>{}<span class=\"nar\">{SCALE}</span>\
         <div class=\"st\"><span>{lost} of {of}</span><span>{}</span><span>{outage}</span><span>p99 {}</span>\
         <span>{}</span></div><div class=\"st\"><span>promised: {}</span></div><div class=\"st\">{}</div>",
        escaped(column),
        mark(outcome(fate)),
        index + 1,
        strokes(cell, fate),
        escaped(&bounds(cell)),
        escaped(&view::time(&cell["latency_ms"]["p99"])),
        escaped(&view::stopped(cell)),
        escaped(&view::text(&cell["promised"])),
        links(cell),
    )
}

fn bounds(cell: &Value) -> String {
    let bound = |index: usize| cell["lost_share_interval"][index].as_f64().unwrap_or(0.0);
    match cell["runs"].as_u64().unwrap_or(0) {
        0 => "no run".to_owned(),
        _ if cell["runs_with_loss"] == 0 => view::at_most(cell),
        1 => "one run".to_owned(),
        _ => format!(
            "{} to {} %",
            view::percent(bound(0)),
            view::percent(bound(1))
        ),
    }
}

/// A stroke a run, and the interval behind them.
fn strokes(cell: &Value, fate: Fate) -> String {
    let colour = match fate {
        Fate::Kept => "var(--kept)",
        Fate::Unknown => "var(--ink2)",
        Fate::Permitted | Fate::Broken => "var(--lost)",
    };
    let each = cell["lost_share_each"].as_array().into_iter().flatten();
    let mut zeros = 0.0_f64;
    let mut path = String::new();
    for share in each.filter_map(Value::as_f64) {
        let mut x = place(share);
        if share == 0.0 {
            // Runs without a loss stand side by side.
            x = (1.2 + zeros).min(9.0);
            zeros += 0.9;
        }
        let _ = write!(path, "M{x:.1} 3v14");
    }
    let bound = |index: usize| cell["lost_share_interval"][index].as_f64().unwrap_or(0.0);
    let told = cell["runs_with_loss"].as_u64() > Some(0) && cell["runs"].as_u64() > Some(1);
    let bar = match told {
        true => format!(
            "<path d=\"M{:.1} 10H{:.1}\" stroke=\"{colour}\" stroke-width=\"6\" opacity=\".4\"/>",
            place(bound(0)),
            place(bound(1))
        ),
        false => String::new(),
    };
    format!(
        "<svg class=\"iv\" viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"share of each run\"><path d=\"M12 10H98\" stroke=\"var(--rule)\"/>\
         <path d=\"M12 7v6M33.5 7v6M55 7v6M76.5 7v6M98 7v6\" stroke=\"var(--rule)\"/>{bar}\
         <path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1.6\"/></svg>"
    )
}

/// Where a share stands on the axis.
fn place(share: f64) -> f64 {
    if share <= 0.0 {
        return ZERO_X;
    }
    let decades = (share * 100.0 / FIRST_PERCENT).log10();
    (FIRST_X + decades / DECADES * (LAST_X - FIRST_X)).clamp(FIRST_X, LAST_X)
}

/// The runs' own reports.
fn links(cell: &Value) -> String {
    let folders = cell["folders"].as_array().into_iter().flatten();
    let seeds = cell["seeds"].as_array().into_iter().flatten();
    let links: String = folders
        .zip(seeds)
        .filter_map(|(folder, seed)| {
            let folder = folder.as_str()?;
            Some(format!(
                "<a href=\"{}/report.html\">seed {}</a>",
                escaped(folder),
                escaped(&view::text(seed))
            ))
        })
        .collect();
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_stand_on_a_logarithmic_axis_with_a_slot_for_zero() {
        assert_eq!(place(0.0), ZERO_X);
        assert_eq!(place(0.0001), FIRST_X);
        assert!((place(0.01) - 55.0).abs() < 1e-9);
        assert_eq!((place(1.0), place(1e-9)), (LAST_X, FIRST_X));
    }
}
