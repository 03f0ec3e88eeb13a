//! The table of a comparison, for people at a terminal.

use serde_json::Value;
use tabled::builder::Builder;
use tabled::settings::Style;

use super::view;

/// Draws one row a cell; options that vary beyond the usual three get columns.
pub fn render(cells: &[Value], axes: &[String]) -> String {
    let (head, rows) = columns(cells, axes);
    let mut builder = Builder::default();
    builder.push_record(head);
    for row in rows {
        // Where a field has two parts they stand below each other, so that a row stays narrow.
        builder.push_record(row.iter().map(|field| {
            let field = field.replace(" / ", "\n").replace("; at most", "\nat most");
            field.replace(" (", "\n(")
        }));
    }
    builder.build().with(Style::sharp()).to_string()
}

/// The head and the rows that terminal and Markdown share.
pub fn columns(cells: &[Value], axes: &[String]) -> (Vec<String>, Vec<Vec<String>>) {
    let further = view::further_axes(axes);
    let mut head: Vec<String> = ["acks", "min ISR", "unclean"].map(str::to_owned).into();
    head.extend(further.iter().map(|(_, name)| (*name).clone()));
    let names = [
        "runs",
        "acked",
        "lost",
        "lost share [95 %]",
        "lost a run",
        "dup.",
        "no write",
        "p50",
        "p99",
        "promised / seen",
        "verdicts",
    ];
    head.extend(names.map(str::to_owned));
    let row = |cell: &Value| {
        let mut row = vec![
            view::text(&cell["acks"]),
            view::text(&cell["min_insync"]),
            view::unclean(cell).to_owned(),
        ];
        let varied = |index: &usize| view::text(&cell["varied"][*index]);
        row.extend(further.iter().map(|(index, _)| varied(index)));
        row.extend(numbers(cell));
        row
    };
    (head, cells.iter().map(row).collect())
}

fn numbers(cell: &Value) -> [String; 11] {
    let each = cell["lost_or_missing_each"]
        .as_array()
        .into_iter()
        .flatten();
    let each: Vec<String> = each.map(view::text).collect();
    let runs = match view::text(&cell["stopped"]).as_str() {
        "precision" | "budget" => format!("{} ({})", cell["runs"], view::stopped(cell)),
        _ => view::text(&cell["runs"]),
    };
    let (lost, acked) = view::lost_of(cell);
    [
        runs,
        acked,
        lost,
        view::lost_share(cell),
        each.join(" "),
        view::text(&cell["duplicates"]),
        view::outage(cell),
        view::time(&cell["latency_ms"]["p50"]),
        view::time(&cell["latency_ms"]["p99"]),
        format!(
            "{} / {}",
            view::text(&cell["promised"]),
            view::text(&cell["seen"])
        ),
        view::verdicts(cell),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_cell_is_a_row_and_every_further_option_a_column() {
        let cell = json!({ "acks": "all", "min_insync": 2, "unclean_elections": false,
            "varied": ["all", "3"], "runs": 3, "acked": 1000, "unacknowledged": 0, "lost_acked": 0,
            "runs_with_loss": 0, "none_of_these_runs_bound": 0.63, "stopped": "budget",
            "lost_or_missing_each": [0, 0, 0], "lost_share": 0.0, "lost_share_interval": [0.0, 0.63],
            "duplicates": 0, "unavailable_ms_mean": 1500.0, "unavailable_ms_interval": [900.0, 2100.0],
            "latency_ms": { "p50": 1.0, "p99": 9.0 }, "promised": "no acknowledged loss",
            "seen": "none lost in 3 runs", "valid": 3, "invalid": 0, "unknown": 0 });
        let table = render(&[cell], &["acks".to_owned(), "retries".to_owned()]);
        for word in [
            "retries",
            "3 valid",
            "(stopped: budget)",
            "at most 63 %",
            "1.5 s [0.9, 2.1]",
        ] {
            assert!(table.contains(word), "{word}: {table}");
        }
    }
}
