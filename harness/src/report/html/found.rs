//! What was found, with its proof, and what was looked for and not found.

use std::fmt::Write;

use plimsoll_checkers::{Judged, LookedFor, Verdict};

use super::escape::escaped;
use super::marks::mark;
use crate::report::headline::Outcome;
use crate::report::numbers::count;

/// Findings of one anomaly that are shown.
const SHOWN: usize = 10;

pub fn section(verdict: &Verdict) -> String {
    let found: String = verdict
        .looked_for
        .iter()
        .filter(|one| one.found > 0)
        .map(|one| anomaly(verdict, one))
        .collect();
    let found = match found.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"found\">{found}</ul>"),
    };
    format!(
        "<section aria-labelledby=h-found><h2 id=h-found>What was looked for</h2>{found}{}{}</section>",
        doubts(verdict),
        not_found(verdict),
    )
}

fn anomaly(verdict: &Verdict, one: &LookedFor) -> String {
    let unknown = one.anomaly == "not-recovered";
    let (outcome, word) = match (one.violations > 0, unknown) {
        (true, _) => (Outcome::Broken, "violation"),
        (false, true) => (Outcome::Unknown, "leaves the verdict unknown"),
        (false, false) => (Outcome::Permitted, "permitted"),
    };
    let of = |judged: &&Judged| judged.finding.anomaly == one.anomaly;
    let mut items = String::new();
    for judged in verdict.anomalies.iter().filter(of).take(SHOWN) {
        let ops: Vec<String> = judged.finding.ops.iter().map(u64::to_string).collect();
        let _ = write!(
            items,
            "<li>{} <span class=\"cap\">ops {}{}</span></li>",
            escaped(&judged.finding.sentence),
            ops.join(", "),
            if judged.permitted && one.violations > 0 {
                ", permitted"
            } else {
                ""
            },
        );
    }
    let more = one.found.saturating_sub(SHOWN as u64);
    if more > 0 {
        let _ = write!(
            items,
            "<li class=\"cap\">and {} more in verdict.json</li>",
            count(more)
        );
    }
    let because = verdict
        .anomalies
        .iter()
        .filter(of)
        .find_map(|one| one.because.as_deref());
    let because = because.map_or(String::new(), |because| {
        format!(
            "<p class=\"cap\">Permitted because {}.</p>",
            escaped(because)
        )
    });
    format!(
        "<li><h3>{} {}: {} ({word})</h3><p>{}.</p>{because}<ul>{items}</ul></li>",
        mark(outcome),
        escaped(one.anomaly),
        count(one.found),
        escaped(&capitalised(one.definition)),
    )
}

fn doubts(verdict: &Verdict) -> String {
    match &verdict.reason {
        None => String::new(),
        Some(reason) => format!(
            "<p class=\"cap\">What cannot be told: {}.</p>",
            escaped(reason)
        ),
    }
}

fn not_found(verdict: &Verdict) -> String {
    let mut items = String::new();
    for one in verdict.looked_for.iter().filter(|one| one.found == 0) {
        let _ = write!(
            items,
            "<li title=\"{}\">{}<span><b>{}</b>: {}</span></li>",
            escaped(one.anomaly),
            mark(Outcome::Kept),
            escaped(one.anomaly),
            escaped(one.definition),
        );
    }
    format!(
        "<h3 style=\"margin-top:22px\">Looked for and not found</h3><ul class=\"neg\">{items}</ul>"
    )
}

fn capitalised(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
