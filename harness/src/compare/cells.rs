//! Cells: an option that is given more than once varies, and every combination
//! of such options is a cell. A comma makes a set of faults, so it cannot
//! separate cells.

use std::ops::Deref;

use clap::Command;
use serde_json::{Map, Value, json};

use super::options::HELP;
use crate::cli::{Acks, Invocation, TestArgs, test_command, usage};

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
        map.insert("time_limit_ms".to_owned(), json!(args.time_limit.ms));
        map.insert(
            "replication_factor".to_owned(),
            json!(args.replication_factor),
        );
        map.insert("client".to_owned(), json!(args.client.to_string()));
        map.insert("idempotent".to_owned(), json!(args.idempotent));
        map.insert("clients".to_owned(), json!(self.clients()));
        map.insert("fault_schedule".to_owned(), json!(self.fault_schedule()));
        map
    }

    fn clients(&self) -> String {
        let args: &TestArgs = &self.invocation.args;
        format!("{} {:?}", args.concurrency, args.clients).to_lowercase()
    }

    /// The scenario's title, or the kinds of fault that are drawn.
    fn fault_schedule(&self) -> String {
        let args: &TestArgs = &self.invocation.args;
        let kinds: Vec<&str> = args.faults.0.iter().map(|kind| kind.name()).collect();
        match (&self.invocation.scenario, kinds.is_empty()) {
            (Some(scenario), _) => scenario.title.clone(),
            (None, true) => "none".to_owned(),
            (None, false) => format!("{} at {}", kinds.join(", "), args.fault_target.aim()),
        }
    }

    /// The cell in words: its values of the axes, or what it is where nothing varies.
    pub fn label(&self, axes: &[String]) -> String {
        let args: &TestArgs = &self.invocation.args;
        if axes.is_empty() {
            let acks = match args.acks {
                Acks::None => "0",
                Acks::Leader => "1",
                Acks::All => "all",
            };
            return format!("acks={acks}, min-insync={}", args.min_insync());
        }
        let pairs: Vec<String> = axes
            .iter()
            .zip(&self.values)
            .map(|(axis, value)| format!("{axis}={value}"))
            .collect();
        pairs.join(", ")
    }
}

/// What is to be run.
#[derive(Debug)]
pub struct Comparison {
    pub cells: Vec<Cell>,
    /// The names of the options that vary.
    pub axes: Vec<String>,
    pub seeds: Vec<u64>,
}

impl Comparison {
    /// The cells of these options of `test`, with so many seeds.
    pub fn parse(words: &[String], runs: usize) -> Result<Comparison, clap::Error> {
        let options = tokenize(&test_command(), words)?;
        let axes: Vec<(String, Vec<String>)> = axes(&options);
        let fixed: Vec<String> = options
            .iter()
            .filter(|o| !o.varies(&axes))
            .map(|o| o.word.clone())
            .collect();
        let count = axes.iter().fold(1_usize, |count, (_, values)| {
            count.saturating_mul(values.len())
        });
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
        let runs = u64::try_from(runs).unwrap_or(u64::MAX);
        let seeds = (first..first.saturating_add(runs)).collect();
        let axes = axes.into_iter().map(|(name, _)| name).collect();
        Ok(Comparison { cells, axes, seeds })
    }
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
            .find(|arg| arg.get_long() == Some(name))
            .ok_or_else(|| {
                usage(&format!(
                    "--{name} is no option; `plimsoll compare --help` has all of them"
                ))
            })?;
        let separate = known.get_action().takes_values() && !known.is_require_equals_set();
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
    let command = test_command().name("plimsoll compare").after_help(HELP);
    match command.try_get_matches_from(["--help"]) {
        Err(help) => help,
        Ok(_) => usage(HELP),
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
        Comparison::parse(&words, 4)
    }

    #[test]
    fn repeated_options_make_cells_and_others_are_fixed() {
        let line = "--acks 1 --acks all --unclean-elections --unclean-elections=false \
                    --faults kill,pause --seed 10";
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
    fn more_cells_than_can_be_counted_are_too_many() {
        let flags = test_command();
        let names = flags.get_arguments().filter_map(clap::Arg::get_long);
        let names: Vec<&str> = names.filter(|name| *name != "help").collect();
        let each = |name: &&str| (0..9).map(|n| format!("--{name}={n}")).collect::<Vec<_>>();
        let words: Vec<String> = names.iter().flat_map(each).collect();
        let error = Comparison::parse(&words, 4).expect_err("9^30").to_string();
        assert!(error.contains("cells are too many"), "{error}");
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
        let error = parse("--no-such 1").expect_err("unknown").to_string();
        assert!(error.contains("--no-such is no option"), "{error}");
    }
}
