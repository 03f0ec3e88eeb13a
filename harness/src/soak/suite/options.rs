//! Options of `plimsoll test` by their names, as a suite gives them: one value,
//! or a list of values that multiplies the cell.

use std::time::Duration;

use super::file::Table;
use crate::cli::{Invocation, option_word, test_command};
use crate::scenario::{self, option_text};

/// Options of `test` by name.
pub(super) type Options = Table;
/// Where an option stands, its name, and what is wrong with it.
pub(super) type OptionError = (usize, String, String);

/// Cells of a suite at most.
pub(super) const CELLS_MAX: usize = 2000;
/// What a soak gives each run itself.
const RESERVED: [&str; 3] = ["seed", "out", "format"];
/// Beside the time that the options permit: to start, to read everything, to judge.
const ALLOWANCE: Duration = Duration::from_secs(120);

/// One choice of values.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// Where it stands, name, value.
    pub values: Vec<(usize, String, String)>,
    /// `name=value` of the options that have a list.
    pub varied: Vec<String>,
}

/// Every combination of a run's own options with the suite's where the run has none. What the
/// run's scenario sets is closer to the run than what the suite sets for all.
pub(super) fn combinations(all: &Options, own: &Options) -> Result<Vec<Chosen>, OptionError> {
    let mut combined = Vec::new();
    for chosen in multiplied(vec![Chosen::default()], own.iter(), CELLS_MAX)? {
        let staged = chosen.scenario_options();
        let further = all
            .iter()
            .filter(|(name, _)| !own.contains_key(*name) && !staged.contains(*name));
        let room = CELLS_MAX.saturating_sub(combined.len());
        combined.extend(multiplied(vec![chosen], further, room)?);
    }
    Ok(combined)
}

/// There are at most as many as there is `room` for: lists multiply beyond all memory, so they
/// are counted before they do.
fn multiplied<'a>(
    mut all: Vec<Chosen>,
    options: impl Iterator<Item = (&'a String, &'a toml::Spanned<toml::Value>)>,
    room: usize,
) -> Result<Vec<Chosen>, OptionError> {
    for (name, given) in options {
        let at = given.span().start;
        let broken = |why: String| (at, name.clone(), why);
        let (values, listed) = match given.get_ref() {
            toml::Value::Array(values) => (values.clone(), true),
            one => (vec![one.clone()], false),
        };
        if values.is_empty() {
            return Err(broken("the list is empty".to_owned()));
        }
        let count = all.len().saturating_mul(values.len());
        if listed && count > room {
            let above = CELLS_MAX.saturating_sub(room).saturating_add(count);
            return Err(broken(format!(
                "with this list there are {above} cells or more, which is too many; shorten the lists that multiply, {CELLS_MAX} cells are the most"
            )));
        }
        let values = values
            .into_iter()
            .map(|value| option_text(name, value))
            .collect::<Result<Vec<_>, _>>()
            .map_err(broken)?;
        all = all
            .iter()
            .flat_map(|chosen| {
                values
                    .iter()
                    .map(|value| chosen.with(at, name, value, listed))
            })
            .collect();
    }
    Ok(all)
}

impl Chosen {
    /// The options that its scenario sets; one that cannot be read is found out later.
    fn scenario_options(&self) -> Vec<String> {
        let scenario = self.values.iter().find(|(_, name, _)| name == "scenario");
        scenario
            .and_then(|(_, _, value)| scenario::find(value.as_ref()).ok())
            .map(|found| found.options.into_iter().map(|(name, _)| name).collect())
            .unwrap_or_default()
    }

    fn with(&self, at: usize, name: &str, value: &str, listed: bool) -> Chosen {
        let mut chosen = self.clone();
        chosen.values.push((at, name.to_owned(), value.to_owned()));
        if listed {
            chosen.varied.push(format!("{name}={value}"));
        }
        chosen
    }
}

/// The options as words of the command line, each checked by itself.
pub(super) fn words(values: &[(usize, String, String)]) -> Result<Vec<String>, OptionError> {
    let command = test_command();
    let mut words = Vec::new();
    for (at, name, value) in values {
        let broken = |why: String| (*at, name.clone(), why);
        if RESERVED.contains(&name.as_str()) {
            return Err(broken("the soak sets this for each run".to_owned()));
        }
        if !command
            .get_arguments()
            .any(|arg| arg.get_long() == Some(name))
        {
            return Err(broken("`plimsoll test` has no such option".to_owned()));
        }
        let word = option_word(name, value);
        if let Some(word) = &word {
            let parsed = command.clone().try_get_matches_from([word]);
            parsed.map_err(|error| broken(sentence(&error)))?;
        }
        words.extend(word);
    }
    Ok(words)
}

/// How long a run with these options may take; or why they cannot be used together.
pub(super) fn invocation_limit(words: &[String]) -> Result<Duration, String> {
    let args = Invocation::parse(words)
        .map_err(|error| sentence(&error))?
        .args;
    let described = args.system.description().map_err(|e| e.to_string())?;
    let settle = args.settle_limit.unwrap_or(described.settle_limit).ms;
    let own = args.time_limit.ms.saturating_add(settle);
    let own = own.saturating_add(described.start_limit.ms);
    Ok(Duration::from_millis(own) + ALLOWANCE)
}

/// What a usage error says, without the usage.
fn sentence(error: &clap::Error) -> String {
    let text = error.to_string();
    let said = text.lines().take_while(|line| !line.trim().is_empty());
    let said: Vec<&str> = said.map(str::trim).collect();
    let said = said.join(" ");
    said.strip_prefix("error: ").unwrap_or(&said).to_owned()
}
