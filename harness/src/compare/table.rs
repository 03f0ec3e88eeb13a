//! The table of a comparison, for people.

use serde_json::Value;
use tabled::builder::Builder;
use tabled::settings::Style;

/// Draws one row a cell; options that vary beyond the usual three get columns.
pub fn render(cells: &[Value], axes: &[String]) -> String {
    let shown = ["acks", "min-insync", "unclean-elections"];
    let extra: Vec<(usize, &String)> = axes
        .iter()
        .enumerate()
        .filter(|(_, name)| !shown.contains(&name.as_str()))
        .collect();
    let mut builder = Builder::default();
    let mut head: Vec<String> = ["acks", "min ISR", "unclean"].map(str::to_owned).into();
    head.extend(extra.iter().map(|(_, name)| (*name).clone()));
    head.extend(
        [
            "runs",
            "acked",
            "lost",
            "lost share [95 %]",
            "lost a run",
            "dup.",
            "unavailable",
            "p50",
            "p99",
            "verdicts",
        ]
        .map(str::to_owned),
    );
    builder.push_record(head);
    for cell in cells {
        let mut row = vec![
            text(&cell["acks"]),
            text(&cell["min_insync"]),
            unclean(cell),
        ];
        row.extend(extra.iter().map(|(index, _)| text(&cell["varied"][*index])));
        row.extend(numbers(cell));
        builder.push_record(row);
    }
    builder.build().with(Style::sharp()).to_string()
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn unclean(cell: &Value) -> String {
    if cell["unclean_elections"] == Value::Bool(true) {
        "on"
    } else {
        "off"
    }
    .to_owned()
}

fn numbers(cell: &Value) -> [String; 10] {
    let percent = |value: &Value| value.as_f64().unwrap_or(0.0) * 100.0;
    let interval = &cell["lost_share_interval"];
    let point = percent(&cell["lost_share"]);
    let share = if cell["runs"].as_u64().unwrap_or(0) < 2 {
        format!("{point:.3} % [one run]")
    } else {
        let (low, high) = (percent(&interval[0]), percent(&interval[1]));
        format!("{point:.3} % [{low:.3}, {high:.3}]")
    };
    let each: Vec<String> = cell["lost_acked_each"]
        .as_array()
        .into_iter()
        .flatten()
        .map(text)
        .collect();
    let ms = |value: &Value| format!("{:.1} ms", value.as_f64().unwrap_or(0.0));
    let seconds = cell["unavailable_ms_mean"].as_f64().unwrap_or(0.0) / 1000.0;
    let verdicts = format!(
        "{} valid, {} invalid, {} unknown",
        cell["valid"], cell["invalid"], cell["unknown"]
    );
    [
        text(&cell["runs"]),
        text(&cell["acked"]),
        text(&cell["lost_acked"]),
        share,
        each.join(" "),
        text(&cell["duplicates"]),
        format!("{seconds:.1} s"),
        ms(&cell["latency_ms"]["p50"]),
        ms(&cell["latency_ms"]["p99"]),
        verdicts,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_cell_is_a_row_and_every_further_option_a_column() {
        let cell = json!({ "acks": "all", "min_insync": 2, "unclean_elections": false,
            "varied": ["all", "3"], "runs": 3, "acked": 1000, "lost_acked": 0,
            "lost_acked_each": [0, 0, 0], "lost_share": 0.0, "lost_share_interval": [0.0, 0.0],
            "duplicates": 0, "unavailable_ms_mean": 1500.0, "latency_ms": { "p50": 1.0, "p99": 9.0 },
            "valid": 3, "invalid": 0, "unknown": 0 });
        let table = render(&[cell], &["acks".to_owned(), "retries".to_owned()]);
        assert!(
            table.contains("retries") && table.contains("3 valid"),
            "{table}"
        );
    }
}
