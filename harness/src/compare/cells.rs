//! Cells: an option that is given more than once varies, and every combination
//! of such options is a cell. A comma makes a set of faults, so it cannot
//! separate cells.

use std::ops::Deref;

use clap::Command;
use serde_json::{Map, Value, json};

use crate::cli::{Acks, Invocation, TestArgs, test_command, usage};

const RUNS_DEFAULT: usize = 3;
const CELLS_MAX: usize = 200;

/// One combination of settings.
#[derive(Clone, Debug)]
pub struct Cell {
    invocation: Invocation,
    /// The values of the options that vary, in the order of the axes.
    pub values: Vec<String>,
}

impl Deref for Cell {
    type Target = Invocation;

    fn deref(&self) -> &Invocation {
        &self.invocation
    }
}

impl Cell {
    /// The settings that a reader compares by.
    pub fn settings(&self) -> Map<String, Value> {
        let args: &TestArgs = &self.invocation.args;
        let acks = match args.acks {
            Acks::None => json!(0),
            Acks::Leader => json!(1),
            Acks::All => json!("all"),
        };
        let mut map = Map::new();
        map.insert("acks".to_owned(), acks);
        map.insert("min_insync".to_owned(), json!(args.min_insync()));
        map.insert(
            "unclean_elections".to_owned(),
            json!(args.unclean_elections),
        );
        map.insert("varied".to_owned(), json!(self.values));
        map
    }
}

/// What is to be run.
#[derive(Debug)]
pub struct Comparison {
    pub cells: Vec<Cell>,
    /// The names of the options that vary.
    pub axes: Vec<String>,
    pub seeds: Vec<u64>,
    pub jobs: usize,
}

impl Comparison {
    pub fn parse(words: &[String]) -> Result<Comparison, clap::Error> {
        let (own, rest) = split_own(words)?;
        let options = tokenize(&test_command(), &rest)?;
        let axes: Vec<(String, Vec<String>)> = axes(&options);
        let fixed: Vec<String> = options
            .iter()
            .filter(|o| !o.varies(&axes))
            .map(|o| o.word.clone())
            .collect();
        let count: usize = axes.iter().map(|(_, values)| values.len()).product();
        if count > CELLS_MAX {
            return Err(usage(&format!(
                "{count} cells are too many; repeat fewer options"
            )));
        }
        let cells = combinations(&axes)
            .into_iter()
            .map(|chosen| cell(&fixed, &axes, &chosen))
            .collect::<Result<Vec<_>, _>>()?;
        let first = cells.first().and_then(|cell| cell.args.seed).unwrap_or(1);
        let runs = u64::try_from(own.runs).unwrap_or(u64::MAX);
        let seeds = (first..first.saturating_add(runs)).collect();
        let axes = axes.into_iter().map(|(name, _)| name).collect();
        Ok(Comparison {
            cells,
            axes,
            seeds,
            jobs: own.jobs,
        })
    }
}

struct Own {
    runs: usize,
    jobs: usize,
}

/// Takes the options of `compare` itself out.
fn split_own(words: &[String]) -> Result<(Own, Vec<String>), clap::Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut own, mut rest) = (
        Own {
            runs: RUNS_DEFAULT,
            jobs: cores,
        },
        Vec::new(),
    );
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let slot = match name {
            "--runs" => &mut own.runs,
            "--jobs" => &mut own.jobs,
            _ => {
                rest.push(word.clone());
                continue;
            }
        };
        let value = attached
            .or_else(|| words.next().cloned())
            .unwrap_or_default();
        *slot = value
            .parse()
            .ok()
            .filter(|n| (1..=1000).contains(n))
            .ok_or_else(|| usage(&format!("{name} needs a number from 1 to 1000")))?;
    }
    Ok((own, rest))
}

/// One option as one word.
struct Given {
    name: String,
    value: String,
    word: String,
}

impl Given {
    fn varies(&self, axes: &[(String, Vec<String>)]) -> bool {
        axes.iter().any(|(name, _)| *name == self.name)
    }
}

fn tokenize(command: &Command, words: &[String]) -> Result<Vec<Given>, clap::Error> {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--help" || word == "-h" {
            return Err(help());
        }
        let Some(body) = word.strip_prefix("--") else {
            return Err(usage(&format!(
                "\"{word}\" is no option; options start with --"
            )));
        };
        let (name, attached) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (body, None),
        };
        let known = command
            .get_arguments()
            .find(|arg| arg.get_long() == Some(name));
        let separate = known
            .is_some_and(|arg| arg.get_action().takes_values() && !arg.is_require_equals_set());
        let value = match (attached, separate) {
            (Some(value), _) => value,
            (None, true) => words
                .next()
                .cloned()
                .ok_or_else(|| usage(&format!("--{name} needs a value")))?,
            (None, false) => {
                let (name, word) = (name.to_owned(), word.clone());
                options.push(Given {
                    name,
                    value: "true".to_owned(),
                    word,
                });
                continue;
            }
        };
        let word = format!("--{name}={value}");
        options.push(Given {
            name: name.to_owned(),
            value,
            word,
        });
    }
    Ok(options)
}

fn help() -> clap::Error {
    let text = "Options of `plimsoll test`, each of which may be repeated to make a cell for each \
                value, and:\n      --runs <N>  Runs a cell, with the same seeds in each \
                [default: 3]\n      --jobs <N>  Labs at a time [default: the number of cores]\n";
    let command = test_command().name("plimsoll compare").after_help(text);
    match command.try_get_matches_from(["--help"]) {
        Err(help) => help,
        Ok(_) => usage(text),
    }
}

/// Options given more than once, with their distinct values in order.
fn axes(options: &[Given]) -> Vec<(String, Vec<String>)> {
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    for option in options {
        match axes.iter_mut().find(|(name, _)| *name == option.name) {
            Some((_, values)) if !values.contains(&option.value) => {
                values.push(option.value.clone());
            }
            Some(_) => {}
            None => axes.push((option.name.clone(), vec![option.value.clone()])),
        }
    }
    axes.retain(|(_, values)| values.len() > 1);
    axes
}

fn combinations(axes: &[(String, Vec<String>)]) -> Vec<Vec<String>> {
    axes.iter().fold(vec![Vec::new()], |so_far, (_, values)| {
        let extended = |chosen: &Vec<String>, value: &String| {
            let mut chosen = chosen.clone();
            chosen.push(value.clone());
            chosen
        };
        so_far
            .iter()
            .flat_map(|chosen| values.iter().map(move |v| extended(chosen, v)))
            .collect()
    })
}

fn cell(
    fixed: &[String],
    axes: &[(String, Vec<String>)],
    chosen: &[String],
) -> Result<Cell, clap::Error> {
    let mut words = fixed.to_vec();
    words.extend(
        axes.iter()
            .zip(chosen)
            .map(|((name, _), value)| format!("--{name}={value}")),
    );
    Ok(Cell {
        invocation: Invocation::parse(&words)?,
        values: chosen.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Comparison, clap::Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Comparison::parse(&words)
    }

    #[test]
    fn repeated_options_make_cells_and_others_are_fixed() {
        let line = "--acks 1 --acks all --unclean-elections --unclean-elections=false \
                    --faults kill,pause --runs 4 --seed 10";
        let comparison = parse(line).expect("sound");
        assert_eq!(comparison.axes, ["acks", "unclean-elections"]);
        assert_eq!(comparison.cells.len(), 4);
        assert_eq!(comparison.seeds, [10, 11, 12, 13]);
        assert!(
            comparison
                .cells
                .iter()
                .all(|cell| cell.args.faults.0.len() == 2)
        );
    }

    #[test]
    fn without_repeats_there_is_one_cell() {
        assert_eq!(parse("--acks 1").expect("sound").cells.len(), 1);
    }

    #[test]
    fn a_cell_that_cannot_be_is_a_usage_error() {
        let error = parse("--min-insync 1 --min-insync 4")
            .expect_err("4 of 3")
            .to_string();
        assert!(error.contains("--min-insync 4"), "{error}");
        assert!(parse("--runs nine").is_err());
        assert!(parse("--no-such 1").is_err());
    }
}
