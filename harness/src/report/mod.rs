//! What a person and a script get to see of a run: verdict.json, report.html
//! and the text on the terminal.
//!
//! Everything is derived from the history, the verdict and a few facts about
//! the run (`RunMeta`), so that a stored history can be reported again. Nothing
//! here judges.

mod faults;
mod headline;
mod html;
mod lost;
mod meta;
mod numbers;
mod object;
mod scene;
mod terminal;
mod timeline;

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Context;
use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::History;

pub use html::{object_page, page};
pub use meta::RunMeta;
pub use object::{object, object_json};
pub use terminal::terminal;

/// The verdict as it goes to verdict.json and to stdout, without a newline.
pub fn verdict_json(verdict: &Verdict, meta: &RunMeta) -> String {
    serde_json::to_string_pretty(&named(verdict, meta)).unwrap_or_else(|error| {
        // Plain data with string keys always serializes; should that change,
        // a script had better get an error than half a verdict.
        serde_json::json!({"valid": "unknown", "reason": error.to_string()}).to_string()
    })
}

/// Writes verdict.json and report.html into the run's folder.
pub fn write(
    folder: &Path,
    history: &History,
    verdict: &Verdict,
    meta: &RunMeta,
) -> anyhow::Result<()> {
    let verdict = named(verdict, meta);
    let json = verdict_json(&verdict, meta) + "\n";
    save(&folder.join("verdict.json"), &json)?;
    save(&folder.join("report.html"), &page(history, &verdict, meta))
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
