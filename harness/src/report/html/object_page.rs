//! The page of a register, a queue, a set and so on: the verdict, the numbers, and each anomaly
//! with its timeline.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::History;
use plimsoll_checkers::models::{Anomaly, ModelVerdict};

use super::cases::{Case, Cases};
use super::document;
use super::escape::escaped;
use super::marks::{class, mark};
use super::scene::{LEGEND, OBJECT_LEGEND};
use crate::report::RunMeta;
use crate::report::faults::fault_windows;
use crate::report::headline::Outcome;
use crate::report::numbers::count;
use crate::report::object::{named_numbers, sentence};
use crate::report::scene::Focus;

/// The whole page.
pub fn object_page(history: &History, verdict: &ModelVerdict, meta: &RunMeta) -> String {
    let windows = fault_windows(history);
    let sections = [
        banner(verdict, meta),
        strip(history, verdict),
        found(history, &windows, verdict),
        format!(
            "<footer>plimsoll {}. --format json prints the whole verdict.</footer>",
            env!("CARGO_PKG_VERSION")
        ),
    ];
    let title = format!("{} as {}", tag(verdict.valid), verdict.model.name());
    document(&title, &sections.join("\n"), "")
}

fn tag(valid: Validity) -> &'static str {
    match valid {
        Validity::Valid => "VALID",
        Validity::Invalid => "INVALID",
        Validity::Unknown => "UNKNOWN",
    }
}

fn banner(verdict: &ModelVerdict, meta: &RunMeta) -> String {
    let outcome = match verdict.valid {
        Validity::Valid => Outcome::Kept,
        Validity::Invalid => Outcome::Broken,
        Validity::Unknown => Outcome::Unknown,
    };
    let sentence = sentence(verdict);
    let mut letters = sentence.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let command = meta.replay.as_deref().map_or(String::new(), |replay| {
        format!("<div class=\"cmd\"><pre>{}</pre></div>", escaped(replay))
    });
    format!(
        "<header class=\"verdict {}\"><div class=\"tag\"><b>{} {}</b><span>plimsoll, model {}</span></div>\n\
         <h1>{}{}</h1>\n{command}</header>",
        class(outcome),
        mark(outcome),
        tag(verdict.valid),
        verdict.model.name(),
        first.unwrap_or_default(),
        escaped(letters.as_str()),
    )
}

fn strip(history: &History, verdict: &ModelVerdict) -> String {
    let numbers = named_numbers(history, verdict).into_iter();
    let cells: Vec<String> = numbers
        .map(|(name, number)| {
            let (name, number) = (escaped(&name).into_owned(), escaped(&number).into_owned());
            format!("<div><dt>{name}</dt><dd>{number}</dd></div>")
        })
        .collect();
    format!(
        "<dl class=\"strip\" aria-label=\"Numbers\">\n{}</dl>",
        cells.join("\n")
    )
}

fn found(
    history: &History,
    windows: &[plimsoll_checkers::FaultWindow],
    verdict: &ModelVerdict,
) -> String {
    if verdict.anomalies.is_empty() {
        return String::new();
    }
    let cases = Cases::new(history, windows, verdict.anomalies.iter().map(case));
    let kinds = verdict.anomaly_counts.iter();
    let kinds: String = kinds
        .map(|(kind, number)| {
            format!(
                "<li><h3>{} {}: {}</h3>{}</li>",
                mark(Outcome::Broken),
                escaped(kind),
                count(*number),
                cases.of(kind, *number)
            )
        })
        .collect();
    format!(
        "<section aria-labelledby=h-found><h2 id=h-found>What was found</h2>{LEGEND}{OBJECT_LEGEND}\
         <ul class=\"found\">{kinds}</ul></section>"
    )
}

fn case(anomaly: &Anomaly) -> Case<'_> {
    Case {
        kind: anomaly.kind,
        sentence: &anomaly.message,
        ops: &anomaly.ops,
        focus: Focus {
            key: anomaly.key.as_deref(),
            ..Focus::default()
        },
        note: "",
    }
}
