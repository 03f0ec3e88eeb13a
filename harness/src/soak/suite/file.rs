//! A suite's file, read and checked. An unknown key or a bad value is an
//! error that names the file, the line and the field: an option that was
//! misspelt must not quietly be left out for a whole night.

use std::collections::BTreeMap;
use std::str::FromStr;

use plimsoll_broker::core::bugs::Bug;
use serde::Deserialize;
use toml::Spanned;

use super::options::{CELLS_MAX, Options, combinations, invocation_limit, words};
use super::{Canary, Cell, Every, Suite};
use crate::cli::parse_duration;

const WEIGHT_MAX: u32 = 1000;
const TRIALS_MAX: u32 = 100;
const EVERY_DEFAULT: u64 = 20;

/// A suite that cannot be used: where and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(pub String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(default)]
    title: String,
    /// Options of every run, unless it has its own.
    #[serde(default)]
    test: Options,
    #[serde(default)]
    run: Vec<RawRun>,
    #[serde(default)]
    canaries: RawCanaries,
    #[serde(default)]
    canary: Vec<RawCanary>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    name: Spanned<String>,
    #[serde(default)]
    weight: Option<Spanned<u32>>,
    #[serde(default)]
    test: Options,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawCanaries {
    #[serde(default)]
    every: Option<Spanned<toml::Value>>,
    #[serde(default)]
    at_start: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCanary {
    bug: Spanned<String>,
    expect: Spanned<Expect>,
    #[serde(default)]
    trials: Option<Spanned<u32>>,
    #[serde(default)]
    test: Options,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expect {
    One(String),
    Any(Vec<String>),
}

/// Where in the file something stands, for errors.
struct Place<'a> {
    name: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(&self, at: usize, field: &str, why: &str) -> SuiteError {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        SuiteError(format!("suite {}, line {line}: {field}: {why}", self.name))
    }
}

pub(super) fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
    let raw: Raw = toml::from_str(text).map_err(|e| SuiteError(format!("suite {name}: {e}")))?;
    let place = Place { name, text };
    if raw.run.is_empty() {
        return Err(SuiteError(format!(
            "suite {name}: there is no [[run]]; a suite needs one at least"
        )));
    }
    let mut cells: Vec<Cell> = Vec::new();
    for run in &raw.run {
        let made = cells_of(&place, &raw.test, run)?;
        let taken = made
            .iter()
            .find(|new| cells.iter().any(|cell| cell.name == new.name));
        if let Some(taken) = taken {
            let why = format!("a second run is called \"{}\"", taken.name);
            return Err(place.error(run.name.span().start, "[[run]] name", &why));
        }
        cells.extend(made);
        if cells.len() > CELLS_MAX {
            let why = format!(
                "with this run there are {} cells, which is too many; shorten the lists that multiply, {CELLS_MAX} cells are the most",
                cells.len()
            );
            return Err(place.error(run.name.span().start, "[[run]]", &why));
        }
    }
    let canaries = raw
        .canary
        .iter()
        .map(|canary| canary_of(&place, &raw.test, canary));
    Ok(Suite {
        title: raw.title.clone(),
        cells,
        canaries: canaries.collect::<Result<_, _>>()?,
        every: every_of(&place, raw.canaries.every.as_ref())?,
        at_start: raw.canaries.at_start.unwrap_or(true),
    })
}

fn cells_of(place: &Place<'_>, all: &Options, run: &RawRun) -> Result<Vec<Cell>, SuiteError> {
    let name = run.name.get_ref();
    let at = run.name.span().start;
    if name.trim().is_empty() {
        return Err(place.error(at, "[[run]] name", "it is empty"));
    }
    let weight = bounded(place, run.weight.as_ref(), 1, WEIGHT_MAX, "[[run]] weight")?;
    let what = format!("[[run]] \"{name}\"");
    let named = |(at, option, why): (usize, String, String)| {
        place.error(at, &format!("{what}, test.{option}"), &why)
    };
    let mut cells = Vec::new();
    for chosen in combinations(all, &run.test).map_err(named)? {
        let words = words(&chosen.values).map_err(named)?;
        let limit = invocation_limit(&words).map_err(|why| place.error(at, &what, &why))?;
        let name = match chosen.varied.is_empty() {
            true => name.clone(),
            false => format!("{name} [{}]", chosen.varied.join(" ")),
        };
        cells.push(Cell {
            name,
            weight,
            words,
            limit,
        });
    }
    Ok(cells)
}

fn canary_of(place: &Place<'_>, all: &Options, raw: &RawCanary) -> Result<Canary, SuiteError> {
    let (bug, at) = (raw.bug.get_ref(), raw.bug.span().start);
    Bug::from_str(bug).map_err(|why| place.error(at, "[[canary]] bug", &why))?;
    let what = format!("[[canary]] \"{bug}\"");
    let expect = match raw.expect.get_ref() {
        Expect::One(anomaly) => vec![anomaly.clone()],
        Expect::Any(anomalies) => anomalies.clone(),
    };
    let known = plimsoll_checkers::anomaly_names();
    let unknown = expect.iter().find(|name| !known.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        let why = format!(
            "no anomaly is called \"{unknown}\"; there are: {}",
            known.join(", ")
        );
        return Err(place.error(raw.expect.span().start, &format!("{what}, expect"), &why));
    }
    if expect.is_empty() {
        let why = "name an anomaly at least";
        return Err(place.error(raw.expect.span().start, &format!("{what}, expect"), why));
    }
    let trials = bounded(
        place,
        raw.trials.as_ref(),
        3,
        TRIALS_MAX,
        "[[canary]] trials",
    )?;
    let named = |(at, option, why): (usize, String, String)| {
        place.error(at, &format!("{what}, test.{option}"), &why)
    };
    let mut chosen = combinations(all, &raw.test).map_err(named)?;
    if chosen.len() != 1 {
        return Err(place.error(
            at,
            &what,
            "a canary has one value for each option, no lists",
        ));
    }
    let mut words = words(&chosen.remove(0).values).map_err(named)?;
    words.push(format!("--bug={bug}"));
    let limit = invocation_limit(&words).map_err(|why| place.error(at, &what, &why))?;
    Ok(Canary {
        bug: bug.clone(),
        expect,
        trials,
        words,
        limit,
    })
}

fn bounded(
    place: &Place<'_>,
    given: Option<&Spanned<u32>>,
    default: u32,
    most: u32,
    field: &str,
) -> Result<u32, SuiteError> {
    let Some(given) = given else {
        return Ok(default);
    };
    let value = *given.get_ref();
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    let why = format!("{value} is not from 1 to {most}");
    Err(place.error(given.span().start, field, &why))
}

fn every_of(place: &Place<'_>, raw: Option<&Spanned<toml::Value>>) -> Result<Every, SuiteError> {
    let Some(raw) = raw else {
        return Ok(Every::Runs(EVERY_DEFAULT));
    };
    let broken = |why: &str| place.error(raw.span().start, "canaries.every", why);
    match raw.get_ref() {
        toml::Value::Integer(runs) => match u64::try_from(*runs) {
            Ok(runs @ 1..) => Ok(Every::Runs(runs)),
            _ => Err(broken("a number of runs is 1 or more")),
        },
        toml::Value::String(text) => {
            let every = parse_duration(text).map_err(|why| broken(&why))?;
            match every.ms {
                0..1000 => Err(broken("less than a second")),
                ms => Ok(Every::Time(std::time::Duration::from_millis(ms))),
            }
        }
        _ => Err(broken(
            "write a number of runs, such as 20, or a time, such as \"30m\"",
        )),
    }
}

/// What a table of options holds, by name.
pub(super) type Table = BTreeMap<String, Spanned<toml::Value>>;
