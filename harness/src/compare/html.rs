//! compare.html: the matrix of cells, then every number, the pairs and the ways out of each kind of
//! fault. One file without external resources; verdicts in colour, shape and word.

use std::fmt::Write;

use serde_json::Value;

use super::view::Fate;
use super::{Compared, advice, table, view};
use crate::report::numbers::counted;
use crate::report::parts::{Outcome, class, document, escaped, mark};

/// The logarithmic axis of shares: a slot for zero, then 0.01 % to 100 %.
const ZERO_X: f64 = 3.0;
const FIRST_X: f64 = 12.0;
const LAST_X: f64 = 98.0;
const FIRST_PERCENT: f64 = 0.01;
const DECADES: f64 = 4.0;

pub fn page(compared: &Compared) -> String {
    let sections = [
        banner(compared),
        matrix(compared),
        numbers(compared),
        kinds(compared),
        pairs(compared),
        questions(compared),
        footer(compared),
    ];
    document("comparison", &sections.join("\n"), "")
}

fn outcome(fate: Fate) -> Outcome {
    match fate {
        Fate::Kept => Outcome::Kept,
        Fate::Permitted => Outcome::Permitted,
        Fate::Broken => Outcome::Broken,
        Fate::Unknown => Outcome::Unknown,
    }
}

fn banner(compared: &Compared) -> String {
    let fates = || compared.cells.iter().map(Fate::of);
    // A loss that the settings permit is what a comparison is made for, and no alarm.
    let class = match (
        fates().any(|one| one == Fate::Broken),
        fates().all(|one| one == Fate::Kept),
    ) {
        (true, _) => class(Outcome::Broken),
        (false, true) => class(Outcome::Kept),
        (false, false) => "",
    };
    let runs: u64 = compared
        .cells
        .iter()
        .filter_map(|cell| cell["runs"].as_u64())
        .sum();
    let failures: String = compared
        .failures
        .iter()
        .map(|why| format!("<p class=\"cap\">A run failed: {}</p>", escaped(why)))
        .collect();
    format!(
        "<header class=\"verdict {class}\"><div class=\"tag\"><b>Comparison</b><span>plimsoll {}, {}, {}, \
         {}</span></div>\n<h1>{}</h1>\n<p class=\"why\">{}</p>{failures}{}\
         <div class=\"cmd\"><pre>{}</pre></div></header>",
        escaped(&compared.plan.plimsoll),
        escaped(&compared.plan.started_utc),
        counted(compared.cells.len() as u64, "cell"),
        counted(runs, "run"),
        escaped(&title(compared)),
        escaped(&compared.recommendation),
        constants(compared),
        escaped(&compared.replay),
    )
}

/// What is the same in all cells.
fn constants(compared: &Compared) -> String {
    let names = [
        ("acks", "acks"),
        ("min_insync", "min.insync.replicas"),
        ("unclean_elections", "unclean elections"),
        ("replication_factor", "replication factor"),
        ("client", "client"),
        ("idempotent", "idempotent"),
        ("clients", "clients"),
        ("fault_schedule", "faults"),
        ("time_limit_ms", "time limit"),
    ];
    let mut pairs = String::new();
    for (key, name) in names {
        let mut values = compared.cells.iter().map(|cell| &cell[key]);
        let Some(first) = values.next().filter(|first| !first.is_null()) else {
            continue;
        };
        if values.all(|value| value == first) {
            let value = match key {
                "time_limit_ms" => view::time(first),
                _ => view::text(first),
            };
            let _ = write!(
                pairs,
                "<div><dt>{name}</dt><dd>{}</dd></div>",
                escaped(&value)
            );
        }
    }
    format!("<dl class=\"set\">{pairs}</dl>")
}

fn title(compared: &Compared) -> String {
    let with = |fate: Fate| {
        let of = compared.cells.iter().filter(|cell| Fate::of(cell) == fate);
        of.count()
    };
    let kinds = [
        (Fate::Kept, "lost nothing"),
        (Fate::Permitted, "lost what the settings permit"),
        (Fate::Broken, "broke the promise"),
        (Fate::Unknown, "could not be judged"),
    ];
    let some = kinds.iter().map(|(fate, words)| (with(*fate), words));
    let parts: Vec<String> = some
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{number} {words}"))
        .collect();
    match compared.cells.len() {
        1 => format!("1 cell: {}.", parts.join(", ")),
        cells => format!("{cells} cells: {}.", parts.join(", ")),
    }
}

/// Rows and columns: unclean elections, or else the last axis, goes across.
fn matrix(compared: &Compared) -> String {
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

fn numbers(compared: &Compared) -> String {
    let (head, rows) = table::columns(&compared.cells, &compared.axes);
    let heads: String = head
        .iter()
        .map(|name| format!("<th>{}", escaped(name)))
        .collect();
    let mut body = String::new();
    for (index, row) in rows.iter().enumerate() {
        let _ = write!(body, "<tr><td data-h=cell>{}", index + 1);
        for (field, name) in row.iter().zip(&head) {
            let _ = write!(body, "<td data-h=\"{}\">{}", escaped(name), escaped(field));
        }
    }
    format!(
        "<section aria-labelledby=h-n><h2 id=h-n>Numbers</h2><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Numbers by cell\"><table class=\"st wide-t\"><thead><tr><th>cell{heads}</thead>\
         <tbody>{body}</tbody></table></div></section>"
    )
}

fn kinds(compared: &Compared) -> String {
    let mut body = String::new();
    for (index, cell) in compared.cells.iter().enumerate() {
        let measurable = cell["writes_measurable"] == true;
        for (kind, cost) in cell["by_kind"].as_object().into_iter().flatten() {
            let writes = |field: &str| match measurable {
                true => view::time(&cost[field]),
                false => "not measurable".to_owned(),
            };
            let _ = write!(
                body,
                "<tr><td>{}: {}<td class=n data-h=n>{}<td class=n data-h='to a new leader'>{}\
                 <td class=n data-h='to the first ack'>{}<td class=n data-h='heal to full ISR'>{}\
                 <td class=n data-h='no write meanwhile'>{}<td class=n data-h=lost>{}",
                index + 1,
                escaped(kind),
                view::number(&cost["faults"]),
                view::time(&cost["to_new_leader_ms_median"]),
                writes("to_first_ack_ms_median"),
                view::time(&cost["heal_to_full_isr_ms_median"]),
                writes("unavailable_ms_median"),
                view::number(&cost["lost"]),
            );
        }
    }
    if body.is_empty() {
        return String::new();
    }
    format!(
        "<section aria-labelledby=h-k><h2 id=h-k>By kind of fault</h2><p class=\"sub\">Medians over the faults \
         of all runs of a cell.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Kinds of fault\">\
         <table class=\"st\"><thead><tr><th>cell: fault<th class=n>n<th class=n>to a new leader\
         <th class=n>to the first ack<th class=n>heal to full ISR<th class=n>no write meanwhile\
         <th class=n>lost</thead><tbody>{body}</tbody></table></div></section>"
    )
}

fn pairs(compared: &Compared) -> String {
    if compared.pairs.is_empty() {
        return String::new();
    }
    let items: String = compared
        .pairs
        .iter()
        .take(advice::PAIRS_SHOWN)
        .map(|pair| {
            format!(
                "<li><b>Cells {} and {}</b>, {}. {}</li>",
                pair.cells.0 + 1,
                pair.cells.1 + 1,
                escaped(&pair.axis),
                escaped(&pair.sentence)
            )
        })
        .collect();
    let more = match compared.pairs.len().saturating_sub(advice::PAIRS_SHOWN) {
        0 => String::new(),
        more => format!("<p class=\"cap\">{more} more in compare.json.</p>"),
    };
    format!(
        "<section aria-labelledby=h-p><h2 id=h-p>Pairs that differ in one setting</h2>\
         <ul class=\"rest pairs\">{items}</ul>{more}</section>"
    )
}

fn questions(compared: &Compared) -> String {
    if compared.questions.is_empty() {
        return String::new();
    }
    let items: String = compared
        .questions
        .iter()
        .map(|(question, answer)| {
            let answer = escaped(answer);
            format!("<div><dt>{question}</dt><dd>{answer}</dd></div>")
        })
        .collect();
    format!(
        "<section aria-labelledby=h-q><h2 id=h-q>Questions</h2><p class=\"sub\">As far as these runs bear them \
         out.</p><dl class=\"qa\">{items}</dl></section>"
    )
}

fn footer(compared: &Compared) -> String {
    format!(
        "<footer>plimsoll {}. compare.json, compare.csv and runs.jsonl beside this page hold the same numbers; \
         the runs are in runs/.</footer>",
        escaped(&compared.plan.plimsoll)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::folder::Plan;
    use super::super::statistics::aggregate;
    use super::*;

    #[test]
    fn shares_stand_on_a_logarithmic_axis_with_a_slot_for_zero() {
        assert_eq!(place(0.0), ZERO_X);
        assert_eq!(place(0.0001), FIRST_X);
        assert!((place(0.01) - 55.0).abs() < 1e-9);
        assert_eq!((place(1.0), place(1e-9)), (LAST_X, FIRST_X));
    }

    fn compared(cells: &[Value], axes: &[&str]) -> Compared {
        Compared {
            plan: Plan {
                plimsoll: "0.1.0".to_owned(),
                started_utc: "2026-01-01T00:00:00Z".to_owned(),
                words: Vec::new(),
                runs: 2,
            },
            axes: axes.iter().map(|axis| (*axis).to_owned()).collect(),
            cells: cells.to_vec(),
            recommendation: String::new(),
            pairs: Vec::new(),
            questions: Vec::new(),
            failures: Vec::new(),
            replay: "plimsoll compare".to_owned(),
        }
    }

    fn cell(unclean: bool, lost: u64) -> Value {
        let verdict = json!({"valid": true, "acked": 1000, "lost_acked": lost, "unacknowledged": 0,
            "unavailable_ms": 900, "seed": 1, "promise": {"permitted": []}});
        let mut cell = aggregate(&[&verdict], 10_000.0);
        for (name, value) in [
            ("acks", json!("all")),
            ("min_insync", json!(1)),
            ("unclean_elections", json!(unclean)),
            ("varied", json!([unclean.to_string()])),
            ("fault_schedule", json!("the leader alone, then gone")),
            ("time_limit_ms", json!(10_000)),
        ] {
            cell.insert(name.to_owned(), value);
        }
        Value::Object(cell)
    }

    #[test]
    fn a_page_shows_what_all_cells_share_and_alarms_only_where_a_promise_broke() {
        let mut cells = [cell(false, 0), cell(true, 7)];
        let drawn = page(&compared(&cells, &["unclean-elections"]));
        for words in [
            "<header class=\"verdict \">",
            "<dt>min.insync.replicas</dt><dd>1</dd>",
            "<dt>faults</dt><dd>the leader alone, then gone</dd>",
            "<dt>time limit</dt><dd>10.0 s</dd>",
            "<th scope=row>acks=all<small>min-insync=1</small>",
        ] {
            assert!(drawn.contains(words), "{words}: {drawn}");
        }
        assert!(!drawn.contains("<dt>unclean elections</dt>"), "it varies");
        assert!(
            !drawn.contains("is not consulted"),
            "no cell has acks=0 or 1"
        );
        cells[1]["invalid"] = json!(1);
        let drawn = page(&compared(&cells, &["unclean-elections"]));
        assert!(drawn.contains("<header class=\"verdict o-broken\">"));
    }
}
