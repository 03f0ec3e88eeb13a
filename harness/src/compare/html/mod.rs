//! compare.html: the matrix of cells, then every number, the pairs and the ways out of each kind of
//! fault. One file without external resources; verdicts in colour, shape and word.

mod matrix;
mod tables;

use std::fmt::Write;

use super::view::Fate;
use super::{Compared, view};
use crate::report::numbers::counted;
use crate::report::parts::{Outcome, class, document, escaped};

pub fn page(compared: &Compared) -> String {
    let sections = [
        banner(compared),
        matrix::matrix(compared),
        tables::numbers(compared),
        tables::kinds(compared),
        tables::pairs(compared),
        tables::questions(compared),
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

fn footer(compared: &Compared) -> String {
    format!(
        "<footer>plimsoll {}. compare.json, compare.csv and runs.jsonl beside this page hold the same numbers; \
         the runs are in runs/.</footer>",
        escaped(&compared.plan.plimsoll)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::folder::Plan;
    use super::super::statistics::aggregate;
    use super::*;

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
