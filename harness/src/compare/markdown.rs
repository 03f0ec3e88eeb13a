//! compare.md: the comparison for a CI summary or a design document.

use std::fmt::Write;

use serde_json::Value;

use super::view::Fate;
use super::{Compared, advice, table, view};
use crate::report::markdown::{escaped, table as drawn};

pub fn markdown(compared: &Compared) -> String {
    let mut text = format!(
        "## Comparison\n\n**{}**\n\n",
        escaped(&compared.recommendation)
    );
    let (mut head, rows) = table::columns(&compared.cells, &compared.axes);
    head.insert(0, "cell".to_owned());
    let rows: Vec<Vec<String>> = rows
        .iter()
        .zip(&compared.cells)
        .enumerate()
        .map(|(index, (row, cell))| {
            let sign = match Fate::of(cell) {
                Fate::Kept => "✅",
                Fate::Permitted => "🔶",
                Fate::Broken => "❌",
                Fate::Unknown => "❔",
            };
            let mut cells = vec![format!("{} {sign} {}", index + 1, Fate::of(cell).word())];
            cells.extend(row.iter().map(|field| escaped(field)));
            cells
        })
        .collect();
    let heads: Vec<&str> = head.iter().map(String::as_str).collect();
    text.push_str(&drawn(&heads, &rows));
    text.push_str("Intervals: 95 %, over whole runs. No write: the worst partition's outages, mean of the runs.\n\n");
    text.push_str(&kinds(&compared.cells));
    text.push_str(&pairs(compared));
    if !compared.questions.is_empty() {
        text.push_str("### Questions\n\n");
        for (question, answer) in &compared.questions {
            let _ = writeln!(text, "- **{question}** {}", escaped(answer));
        }
        text.push('\n');
    }
    for failure in &compared.failures {
        let _ = writeln!(text, "- a run failed: {}", escaped(failure));
    }
    let _ = writeln!(text, "```sh\n{}\n```", compared.replay.replace("```", ""));
    text
}

fn pairs(compared: &Compared) -> String {
    if compared.pairs.is_empty() {
        return String::new();
    }
    let mut text = "### Pairs that differ in one setting\n\n".to_owned();
    for pair in compared.pairs.iter().take(advice::PAIRS_SHOWN) {
        let _ = writeln!(
            text,
            "- cells {} and {}, {}: {}",
            pair.cells.0 + 1,
            pair.cells.1 + 1,
            escaped(&pair.axis),
            escaped(&pair.sentence)
        );
    }
    match compared.pairs.len().saturating_sub(advice::PAIRS_SHOWN) {
        0 => {}
        more => {
            let _ = writeln!(text, "- and {more} more in compare.json");
        }
    }
    text + "\n"
}

/// A row for each cell and kind of fault.
fn kinds(cells: &[Value]) -> String {
    let rows: Vec<Vec<String>> = cells
        .iter()
        .enumerate()
        .flat_map(|(index, cell)| {
            let kinds = cell["by_kind"].as_object().into_iter().flatten();
            kinds.map(move |(kind, cost)| {
                vec![
                    (index + 1).to_string(),
                    escaped(kind),
                    view::number(&cost["faults"]),
                    view::time(&cost["to_new_leader_ms_median"]),
                    view::time(&cost["to_first_ack_ms_median"]),
                    view::time(&cost["heal_to_full_isr_ms_median"]),
                    match cell["writes_measurable"] == true {
                        true => view::time(&cost["unavailable_ms_median"]),
                        false => "not measurable".to_owned(),
                    },
                    view::number(&cost["lost"]),
                ]
            })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        ">cell",
        "fault",
        ">n",
        ">to a new leader",
        ">to the first ack",
        ">heal to full ISR",
        ">no write meanwhile",
        ">lost",
    ];
    format!("### By kind of fault (medians)\n\n{}", drawn(&head, &rows))
}
