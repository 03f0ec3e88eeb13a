//! A suite: what a soak runs. Cells (one set of options of `plimsoll test`
//! each, with a weight) and canaries (a bug that must be caught).

mod file;
mod options;

pub use file::SuiteError;

use std::path::Path;
use std::time::Duration;

use plimsoll_broker::small_file;

/// The suite that is used when none is given.
pub const BUILT_IN: &str = include_str!("../../../suites/nightly.toml");
pub const BUILT_IN_NAME: &str = "nightly (built in)";

/// What is run.
#[derive(Clone, Debug)]
pub struct Suite {
    pub title: String,
    pub cells: Vec<Cell>,
    pub canaries: Vec<Canary>,
    /// When a canary is due after those at the start.
    pub every: Every,
    /// Whether every canary runs once before anything else.
    pub at_start: bool,
}

/// One set of options.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub name: String,
    pub weight: u32,
    /// Options of `plimsoll test`.
    pub words: Vec<String>,
    /// A run that is not over by then has failed.
    pub limit: Duration,
}

/// A run of the built-in broker with a known bug, which must be caught.
#[derive(Clone, Debug, PartialEq)]
pub struct Canary {
    pub bug: String,
    /// Any of these, as a violation, is the bug caught.
    pub expect: Vec<String>,
    /// Runs within which it must be caught.
    pub trials: u32,
    pub words: Vec<String>,
    pub limit: Duration,
}

/// How often a canary is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    Runs(u64),
    Time(Duration),
}

impl Suite {
    /// Reads a suite; `name` is for its errors.
    pub fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
        file::parse(name, text)
    }

    /// The suite of a file, or the built-in one; with its name and its text.
    pub fn load(path: Option<&Path>) -> Result<(Suite, String, String), SuiteError> {
        let (name, text) = match path {
            None => (BUILT_IN_NAME.to_owned(), BUILT_IN.to_owned()),
            Some(path) => {
                let name = path.display().to_string();
                let text =
                    small_file::read(path).map_err(|e| SuiteError(format!("suite {name}: {e}")))?;
                (name, text)
            }
        };
        let suite = Suite::parse(&name, &text)?;
        Ok((suite, name, text))
    }
}

#[cfg(test)]
mod tests;
