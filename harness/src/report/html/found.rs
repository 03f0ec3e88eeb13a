//! What was found, with its proof, and what was looked for and not found.

use std::fmt::Write;

use plimsoll_checkers::history::History;
use plimsoll_checkers::{FaultWindow, Judged, LookedFor, Verdict};

use super::cases::{Case, Cases};
use super::escape::escaped;
use super::marks::mark;
use super::scene::{LEGEND, LOG_LEGEND};
use crate::report::headline::Outcome;
use crate::report::numbers::count;
use crate::report::scene::Focus;

pub fn section(history: &History, windows: &[FaultWindow], verdict: &Verdict) -> String {
    let cases = Cases::new(
        history,
        windows,
        verdict.anomalies.iter().map(|judged| case(verdict, judged)),
    );
    let legend = match cases.is_empty() {
        true => String::new(),
        false => format!("{LEGEND}{LOG_LEGEND}"),
    };
    let mut kinds: Vec<&LookedFor> = verdict.looked_for.iter().collect();
    kinds.retain(|one| one.found > 0);
    // The sort is stable: among violations the order of the checkers stays.
    kinds.sort_by_key(|one| one.violations == 0);
    let found: String = kinds
        .into_iter()
        .map(|one| anomaly(verdict, one, &cases))
        .collect();
    let found = match found.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"found\">{found}</ul>"),
    };
    format!(
        "<section aria-labelledby=h-found><h2 id=h-found>What was looked for</h2>{legend}{found}{}{}</section>",
        doubts(verdict),
        not_found(verdict),
    )
}

fn case<'a>(verdict: &Verdict, judged: &'a Judged) -> Case<'a> {
    // Where all of a kind are permitted, its heading says so.
    let among_violations = verdict.violations.contains(&judged.finding.anomaly);
    let finding = &judged.finding;
    Case {
        kind: finding.anomaly,
        sentence: &finding.sentence,
        ops: &finding.ops,
        focus: Focus {
            key: (!finding.key.is_empty()).then_some(&finding.key),
            offset: finding.offset,
            values: &finding.values,
        },
        note: match judged.permitted && among_violations {
            true => "Permitted.",
            false => "",
        },
    }
}

fn anomaly(verdict: &Verdict, one: &LookedFor, cases: &Cases<'_>) -> String {
    let unknown = one.anomaly == "not-recovered";
    let (outcome, word) = match (one.violations > 0, unknown) {
        (true, _) => (Outcome::Broken, "violation"),
        (false, true) => (Outcome::Unknown, "leaves the verdict unknown"),
        (false, false) => (Outcome::Permitted, "permitted"),
    };
    let of = verdict.anomalies.iter();
    let mut of = of.filter(|judged| judged.finding.anomaly == one.anomaly);
    let because = of.find_map(|one| one.because.as_deref());
    let because = because.map_or(String::new(), |because| {
        format!(
            "<p class=\"cap\">Permitted because {}.</p>",
            escaped(because)
        )
    });
    format!(
        "<li><h3>{} {}: {} ({word})</h3><p>{}.</p>{because}{}</li>",
        mark(outcome),
        escaped(one.anomaly),
        count(one.found),
        escaped(&capitalised(one.definition)),
        cases.of(one.anomaly, one.found),
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
