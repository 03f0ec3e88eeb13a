//! Scenarios: faults at set times with the settings that make them telling, as
//! TOML. `[test]` holds options of the command line by their names; what the
//! user gives on the command line wins. Those of `harness/scenarios` are built
//! in and known by their names.

mod file;
mod fit;
pub mod isr_recovery;

pub use file::{Scenario, ScenarioError, option_text};
pub use fit::Stage;

use std::path::Path;

use anyhow::Context;
use plimsoll_broker::small_file;

use crate::cli::Invocation;
use crate::exit::Exit;
use crate::trial;

/// The scenarios that are built in, by name.
pub const BUILT_IN: [(&str, &str); 10] = [
    (
        "followers-cut-leader-lost",
        include_str!("../../scenarios/followers-cut-leader-lost.toml"),
    ),
    (
        "leader-alone-then-cut-off",
        include_str!("../../scenarios/leader-alone-then-cut-off.toml"),
    ),
    (
        "cut-five-seconds-kill",
        include_str!("../../scenarios/cut-five-seconds-kill.toml"),
    ),
    (
        "leader-cut-from-controller",
        include_str!("../../scenarios/leader-cut-from-controller.toml"),
    ),
    (
        "laggard-before-last-isr",
        include_str!("../../scenarios/laggard-before-last-isr.toml"),
    ),
    (
        "whole-cluster-restart",
        include_str!("../../scenarios/whole-cluster-restart.toml"),
    ),
    (
        "rolling-restart",
        include_str!("../../scenarios/rolling-restart.toml"),
    ),
    (
        "leader-isolated-beyond-lag",
        include_str!("../../scenarios/leader-isolated-beyond-lag.toml"),
    ),
    (
        "truncation-then-leader-lost",
        include_str!("../../scenarios/truncation-then-leader-lost.toml"),
    ),
    (
        "pause-beyond-session",
        include_str!("../../scenarios/pause-beyond-session.toml"),
    ),
];

/// Finds a scenario: a file by its path, or a built-in one by its name.
pub fn find(name: &Path) -> Result<Scenario, ScenarioError> {
    let shown = name.display().to_string();
    let read = match small_file::read(name) {
        Ok(text) => return Scenario::parse(&shown, &text),
        Err(error) => error,
    };
    let stem = name
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    match BUILT_IN.iter().find(|(known, _)| *known == stem) {
        Some((known, text)) => Scenario::parse(known, text),
        None => Err(ScenarioError(format!(
            "no scenario {shown}: {read}; built in are: {}, and as `plimsoll scenario` also {}",
            BUILT_IN.map(|(known, _)| known).join(", "),
            isr_recovery::NAME
        ))),
    }
}

/// Runs a scenario: a test with faults at set times, or one that is staged.
pub fn run(words: &[String]) -> anyhow::Result<Exit> {
    let (name, rest) = words.split_first().context("a scenario has a name")?;
    if name == isr_recovery::NAME {
        return isr_recovery::run(rest);
    }
    let words = [&["--scenario".to_owned(), name.clone()], rest].concat();
    trial::test(&Invocation::parse(&words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_scenario_parses_and_says_what_it_shows() {
        for (name, _) in BUILT_IN {
            let scenario = find(Path::new(name)).expect(name);
            assert!(
                !scenario.title.is_empty() && !scenario.expect.is_empty(),
                "{name}"
            );
            assert!(!scenario.faults.is_empty(), "{name}");
        }
    }

    #[test]
    fn an_unknown_scenario_is_answered_with_the_known_ones() {
        let error = find(Path::new("no-such.toml"))
            .expect_err("unknown")
            .to_string();
        assert!(error.contains("rolling-restart"), "{error}");
    }
}
