//! What a person and a script get to see of a run: verdict.json, report.html, report.md, junit.xml,
//! lost.csv and the text on the terminal.
//!
//! Everything is derived from the history, the verdict and a few facts about
//! the run (`RunMeta`), so that a stored history can be reported again. Nothing
//! here judges.

pub mod environment;
mod faults;
mod headline;
mod html;
mod junit;
mod losses;
mod lost;
pub mod markdown;
mod meta;
pub mod numbers;
mod object;
mod scene;
mod sides;
mod terminal;
mod timeline;

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Context;
use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::History;
use serde::Serialize;

use crate::evidence::DiskEvidence;

pub use html::{object_page, page};
pub use losses::{LossReport, csv_field};
pub use meta::{RunMeta, Staged};
pub use object::{object, object_json};
pub use terminal::terminal;

/// What other pages are made of.
pub mod parts {
    pub use super::headline::Outcome;
    pub use super::html::{class, document, escaped, mark};
}

/// verdict.json: the verdict, and the loss report beside it.
#[derive(Serialize)]
struct VerdictFile<'a> {
    #[serde(flatten)]
    verdict: &'a Verdict,
    loss_report: &'a LossReport,
}

/// The verdict as it goes to verdict.json and to stdout, without a newline.
pub fn verdict_json(verdict: &Verdict, meta: &RunMeta, losses: &LossReport) -> String {
    let file = VerdictFile {
        verdict: &named(verdict, meta),
        loss_report: losses,
    };
    serde_json::to_string_pretty(&file).unwrap_or_else(|error| {
        // Plain data with string keys always serializes; should that change,
        // a script had better get an error than half a verdict.
        serde_json::json!({"valid": "unknown", "reason": error.to_string()}).to_string()
    })
}

/// The loss report of a run whose folder may hold evidence of its nodes' disks.
pub fn losses(
    folder: Option<&Path>,
    history: &History,
    verdict: &Verdict,
) -> Result<LossReport, crate::evidence::EvidenceError> {
    let disk = folder.map(DiskEvidence::load).transpose()?.flatten();
    Ok(LossReport::new(history, verdict, disk.as_ref()))
}

/// Writes verdict.json, report.html, report.md, junit.xml and lost.csv into the run's folder.
pub fn write(
    folder: &Path,
    history: &History,
    verdict: &Verdict,
    meta: &RunMeta,
    losses: &LossReport,
) -> anyhow::Result<()> {
    let verdict = named(verdict, meta);
    let json = verdict_json(&verdict, meta, losses) + "\n";
    save(&folder.join("verdict.json"), &json)?;
    let files = [
        ("report.html", page(history, &verdict, meta, losses)),
        ("report.md", markdown::markdown(&verdict, meta, losses)),
        ("junit.xml", junit::junit(&verdict, meta)),
        ("lost.csv", losses::lost_csv(history, &verdict, losses)),
    ];
    for (name, text) in files {
        save(&folder.join(name), &text)?;
    }
    Ok(())
}

/// Whether a person at a terminal wants colour (no-color.org).
pub fn stderr_has_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text)
        .with_context(|| format!("cannot write {}; is the disk full?", path.display()))
}

/// The verdict with the run's folder and the command that repeats it.
fn named(verdict: &Verdict, meta: &RunMeta) -> Verdict {
    let mut verdict = verdict.clone();
    verdict.run = meta.run.clone().or(verdict.run);
    verdict.replay = meta.replay.clone().or(verdict.replay);
    verdict
}

#[cfg(test)]
mod tests;
