//! compare.csv: a row a cell, plain numbers, for a spreadsheet.

use serde_json::Value;

use super::{Compared, view};

/// Fields that are taken as they stand.
const FIELDS: [&str; 31] = [
    "acks",
    "min_insync",
    "unclean_elections",
    "runs",
    "stopped",
    "valid",
    "invalid",
    "unknown",
    "attempted",
    "acked",
    "failed",
    "indeterminate",
    "unacknowledged",
    "missing_unacknowledged",
    "lost_acked",
    "runs_with_loss",
    "lost_share",
    "none_of_these_runs_bound",
    "duplicates",
    "reordered",
    "vanished_reads",
    "divergent",
    "stale_reads",
    "unacked_but_present",
    "unavailable_ms_mean",
    "reads_unavailable_ms_mean",
    "faults",
    "leader_changes",
    "smallest_isr",
    "promised",
    "seen",
];

pub fn csv(compared: &Compared) -> String {
    let further = view::further_axes(&compared.axes);
    let mut head: Vec<String> = vec!["cell".to_owned()];
    head.extend(further.iter().map(|(_, name)| (*name).clone()));
    head.extend(FIELDS.map(str::to_owned));
    for pair in ["lost_share", "unavailable_ms"] {
        head.extend([format!("{pair}_low"), format!("{pair}_high")]);
    }
    head.extend(["latency_ms_p50", "latency_ms_p99"].map(str::to_owned));
    let mut text = head.join(",") + "\n";
    for (index, cell) in compared.cells.iter().enumerate() {
        let mut row = vec![(index + 1).to_string()];
        row.extend(further.iter().map(|(at, _)| field(&cell["varied"][*at])));
        row.extend(FIELDS.iter().map(|name| field(&cell[*name])));
        for pair in ["lost_share_interval", "unavailable_ms_interval"] {
            row.extend([field(&cell[pair][0]), field(&cell[pair][1])]);
        }
        row.extend(["p50", "p99"].map(|name| field(&cell["latency_ms"][name])));
        text.push_str(&row.join(","));
        text.push('\n');
    }
    text
}

fn field(value: &Value) -> String {
    if value.is_null() {
        return String::new();
    }
    crate::report::csv_field(&view::text(value))
}
