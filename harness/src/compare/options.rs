//! The options of `compare` itself, taken out from among those of `test`.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::{parse_duration, usage};

const RUNS_DEFAULT: usize = 3;
const MIN_RUNS_DEFAULT: usize = 3;

/// How much is run, and where it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// Runs a cell at most.
    pub runs: usize,
    /// Runs a cell before its precision may end it.
    pub min_runs: usize,
    pub jobs: usize,
    /// Width of the intervals that is narrow enough, as a share.
    pub precision: Option<f64>,
    /// After this no further run begins.
    pub budget: Option<Duration>,
    pub out: Option<PathBuf>,
    pub resume: Option<PathBuf>,
    /// Whether the number of runs was given.
    pub runs_given: bool,
}

/// What `--help` says of them.
pub const HELP: &str = "Options of `plimsoll test`, each of which may be repeated to make a cell for \
each value, and:
      --runs <N>           Runs a cell at most, with the same seeds in each [default: 3]
      --min-runs <N>       Runs a cell before its precision may end it [default: 3]
      --precision <SHARE>  End a cell once the intervals of its lost share, and of its outage as a
                           share of the time limit, are narrower than this, such as 2%
      --budget <TIME>      Begin no further run after this, such as 15m
      --jobs <N>           Labs at a time [default: the number of cores]
      --out <FOLDER>       Where the comparison and its runs are kept [default: results/<utc>-compare]
      --resume <FOLDER>    Go on with a comparison that was cut short; its options are its own
";

/// Takes the options of `compare` itself out; gives those of `test` back.
pub fn split(words: &[String]) -> Result<(Own, Vec<String>), clap::Error> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut own = Own {
        runs: RUNS_DEFAULT,
        min_runs: MIN_RUNS_DEFAULT,
        jobs: cores,
        precision: None,
        budget: None,
        out: None,
        resume: None,
        runs_given: false,
    };
    let mut rest = Vec::new();
    let mut min_runs_given = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if !OWN.contains(&name) {
            rest.push(word.clone());
            continue;
        }
        let value = attached
            .or_else(|| words.next().cloned())
            .filter(|value| !value.is_empty())
            .ok_or_else(|| usage(&format!("{name} needs a value")))?;
        own.set(name, &value)?;
        min_runs_given |= name == "--min-runs";
    }
    // A comparison that goes on may have more runs than are given here.
    let runs_are_known = own.runs_given || own.resume.is_none();
    if min_runs_given && runs_are_known && own.min_runs > own.runs {
        return Err(usage(&format!(
            "--min-runs {} is more than --runs {}, so it is never reached; lower the one or raise the other",
            own.min_runs, own.runs
        )));
    }
    Ok((own, rest))
}

const OWN: [&str; 7] = [
    "--runs",
    "--min-runs",
    "--jobs",
    "--precision",
    "--budget",
    "--out",
    "--resume",
];

impl Own {
    fn set(&mut self, name: &str, value: &str) -> Result<(), clap::Error> {
        match name {
            "--runs" => {
                self.runs = number(name, value)?;
                self.runs_given = true;
            }
            "--min-runs" => self.min_runs = number(name, value)?,
            "--jobs" => self.jobs = number(name, value)?,
            "--precision" => self.precision = Some(share(value)?),
            "--budget" => {
                let budget = parse_duration(value)
                    .map_err(|error| usage(&format!("--budget {value}: {error}")))?;
                self.budget = Some(Duration::from_millis(budget.ms));
            }
            "--out" => self.out = Some(PathBuf::from(value)),
            _ => self.resume = Some(PathBuf::from(value)),
        }
        Ok(())
    }
}

fn number(name: &str, value: &str) -> Result<usize, clap::Error> {
    let number = value.parse().ok().filter(|n| (1..=1000).contains(n));
    number.ok_or_else(|| usage(&format!("{name} needs a number from 1 to 1000")))
}

/// "0.02" or "2%".
fn share(value: &str) -> Result<f64, clap::Error> {
    let number = match value.strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => value.parse(),
    };
    number
        .ok()
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| usage("--precision needs a share above 0 and at most 1, such as 0.02 or 2%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(Own, Vec<String>), clap::Error> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        split(&words)
    }

    #[test]
    fn options_of_the_comparison_are_told_from_those_of_its_runs() {
        let line =
            "--acks 1 --runs 9 --precision=2% --budget 15m --out here --min-runs 4 --acks all";
        let (own, rest) = parse(line).expect("sound");
        assert_eq!((own.runs, own.min_runs), (9, 4));
        assert_eq!(own.precision, Some(0.02));
        assert_eq!(own.budget, Some(Duration::from_secs(900)));
        assert_eq!(own.out, Some(PathBuf::from("here")));
        assert_eq!(rest, ["--acks", "1", "--acks", "all"]);
    }

    #[test]
    fn values_that_cannot_be_are_usage_errors() {
        for line in [
            "--runs 0",
            "--runs nine",
            "--jobs",
            "--precision 0",
            "--precision 200%",
            "--precision NaN",
            "--budget soon",
            "--min-runs 5 --runs 2",
            "--min-runs 5",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
