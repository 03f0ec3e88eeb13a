//! The report on a terminal: the verdict in plain words first, then one table
//! of numbers, what was lost, how faults were got over, what was found, and how to repeat the run.
//!
//! Fits 100 columns and is readable at 80. Colour only where asked for.

mod costs;
mod findings;
mod layout;
mod lost;
mod numbers;

use plimsoll_checkers::Verdict;

use super::RunMeta;
use super::headline::{Outcome, headline};
use super::losses::LossReport;

pub(super) use layout::{fitted, wrapped};

/// How many lost records and findings are shown; the report has the rest.
const SHOWN: usize = 5;

/// The whole report as text that ends with a newline.
pub fn terminal(verdict: &Verdict, meta: &RunMeta, losses: &LossReport, colour: bool) -> String {
    let mut text = first_line(verdict, colour);
    text.push_str(&scenario(meta));
    text.push_str(&numbers::numbers(verdict, losses));
    text.push_str(&lost::records(verdict, losses));
    text.push_str(&costs::faults(losses));
    text.push_str(&costs::sides(verdict, losses));
    text.push_str(&costs::disks(losses));
    text.push_str(&findings::findings(verdict));
    text.push_str(&where_to_look(verdict, meta));
    text
}

fn first_line(verdict: &Verdict, colour: bool) -> String {
    let headline = headline(verdict);
    let tag = headline.tag.to_uppercase();
    let (on, off) = match (colour, headline.outcome) {
        (false, _) => ("", ""),
        (true, Outcome::Kept) => ("\x1b[1;32m", "\x1b[0m"),
        (true, Outcome::Permitted | Outcome::Unknown) => ("\x1b[1;33m", "\x1b[0m"),
        (true, Outcome::Broken) => ("\x1b[1;31m", "\x1b[0m"),
    };
    let mut text = format!("{on}{tag}{off}: {}\n", headline.text());
    if !headline.why.is_empty() {
        text.push_str(&wrapped(&headline.why, ""));
    }
    // An unknown verdict's reason is in its headline.
    if let Some(reason) = verdict
        .reason
        .as_ref()
        .filter(|_| headline.outcome == Outcome::Broken)
    {
        text.push_str(&wrapped(&format!("Beside that: {reason}."), ""));
    }
    text
}

/// What was staged, and what it was to show.
fn scenario(meta: &RunMeta) -> String {
    meta.scenario.as_ref().map_or(String::new(), |scenario| {
        let title = scenario.title.trim_end_matches('.');
        let expect = wrapped(&format!("Expected: {}", scenario.expect), "");
        format!("\n{}{expect}", wrapped(&format!("Scenario: {title}."), ""))
    })
}

fn where_to_look(verdict: &Verdict, meta: &RunMeta) -> String {
    let mut text = String::from("\n");
    if let Some(run) = meta.run.as_ref().or(verdict.run.as_ref()) {
        text.push_str(&format!("Report:  {run}/report.html\n"));
    }
    if let Some(replay) = meta.replay.as_ref().or(verdict.replay.as_ref()) {
        text.push_str(&format!("Repeat:  {replay}\n"));
    }
    text
}
