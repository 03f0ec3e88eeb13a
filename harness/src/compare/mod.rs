//! `plimsoll compare`: the same workload, faults and seeds over several
//! settings. Each run is a process of its own in a lab of its own, so several
//! can go on at a time; what is compared is their verdicts.

mod advice;
mod cells;
mod csv;
mod folder;
mod html;
mod intervals;
mod markdown;
mod options;
mod runs;
mod schedule;
mod statistics;
mod summary;
mod table;
mod view;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::child_run::interrupted;
use crate::cli::{Format, Invocation, usage};
use crate::exit::Exit;

use self::cells::Comparison;
use self::folder::{Folder, Line, Plan};
use self::options::Own;
use self::schedule::{Limits, Schedule};

/// Everything that the files of a comparison are made of.
pub struct Compared {
    pub plan: Plan,
    pub axes: Vec<String>,
    pub cells: Vec<Value>,
    pub recommendation: String,
    pub pairs: Vec<advice::Pair>,
    pub questions: Vec<(&'static str, String)>,
    pub failures: Vec<String>,
    /// The command that makes it again.
    pub replay: String,
}

/// Runs every cell, prints one table and leaves a folder.
pub fn compare(words: &[String]) -> anyhow::Result<Exit> {
    let (own, rest) = options::split(words)?;
    let Begun {
        comparison,
        folder,
        plan,
    } = begin(&own, &rest)?;
    let format = comparison
        .cells
        .first()
        .map_or(Format::Human, |cell| cell.args.format);
    let limits = Limits {
        runs: comparison.seeds.len(),
        min_runs: own.min_runs,
        precision: own.precision,
        budget: own.budget,
    };
    let time_limits = comparison.cells.iter().map(time_limit_ms);
    let mut schedule = Schedule::new(limits, time_limits);
    let (lines, log) = folder.lines()?;
    let mut folders = take_up(lines, &comparison, &mut schedule)?;
    say!("compare: {}", folder.path().display());
    let stopped = interrupted("compare")?;
    let failures = runs::run_all(&comparison, &folder, log, &mut schedule, own.jobs, &stopped)?;
    let stopped = stopped.load(Ordering::Relaxed);
    if stopped {
        folder.drop_unfinished();
    }
    for line in folder.lines()?.0 {
        folders.insert((line.cell, line.run), line.folder);
    }
    let compared = compared(&comparison, plan, &schedule, &folders, failures);
    write_files(&folder, &compared)?;
    tell(&folder, &compared, format)?;
    if stopped {
        let path = folder.path().display();
        say!("Stopped; go on with it by: plimsoll compare --resume {path}");
    }
    Ok(exit_of(&compared.cells, compared.failures.len()))
}

struct Begun {
    comparison: Comparison,
    folder: Folder,
    plan: Plan,
}

/// A new comparison, or one that goes on.
fn begin(own: &Own, rest: &[String]) -> anyhow::Result<Begun> {
    let Some(path) = &own.resume else {
        let comparison = Comparison::parse(rest, own.runs)?;
        let (folder, plan) = Folder::create(own.out.as_deref(), rest, own.runs)?;
        return Ok(Begun {
            comparison,
            folder,
            plan,
        });
    };
    if let Some(word) = rest.first() {
        return Err(usage(&format!(
            "{word} cannot be given with --resume: a comparison keeps the options it was begun with; \
             only --runs, --min-runs, --precision, --budget and --jobs may be given anew"
        ))
        .into());
    }
    if own.out.is_some() {
        return Err(usage("--out cannot be given with --resume, which names the folder").into());
    }
    let (folder, mut plan) = Folder::resume(path)?;
    if own.runs_given {
        plan.runs = own.runs;
        folder.write_plan(&plan)?;
    }
    Ok(Begun {
        comparison: Comparison::parse(&plan.words, plan.runs)?,
        folder,
        plan,
    })
}

type Folders = BTreeMap<(usize, usize), Option<String>>;

/// Runs that were made before a comparison was cut short.
fn take_up(
    lines: Vec<Line>,
    comparison: &Comparison,
    schedule: &mut Schedule,
) -> anyhow::Result<Folders> {
    let mut folders = Folders::new();
    for line in lines {
        let cell = comparison.cells.get(line.cell);
        if cell.is_none_or(|cell| cell.label(&comparison.axes) != line.settings) {
            anyhow::bail!(
                "runs.jsonl holds a run of \"{}\", which plan.json does not ask for; \
                 they belong to different comparisons",
                line.settings
            );
        }
        // Fewer runs may be asked for than were made.
        if line.run < comparison.seeds.len() {
            folders.insert((line.cell, line.run), line.folder);
            schedule.finished(line.cell, line.run, line.verdict);
        }
    }
    Ok(folders)
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a run")]
fn time_limit_ms(cell: &cells::Cell) -> f64 {
    cell.args.time_limit.ms as f64
}

fn compared(
    comparison: &Comparison,
    plan: Plan,
    schedule: &Schedule,
    folders: &Folders,
    failures: Vec<String>,
) -> Compared {
    let cell = |(index, cell): (usize, &cells::Cell)| {
        let verdicts = schedule.verdicts(index);
        let runs = verdicts.keys();
        let links: Vec<&Option<String>> =
            runs.filter_map(|run| folders.get(&(index, *run))).collect();
        let mut object = cell.settings();
        object.insert("label".to_owned(), json!(cell.label(&comparison.axes)));
        let verdicts: Vec<&Value> = verdicts.values().copied().collect();
        object.extend(statistics::aggregate(&verdicts, time_limit_ms(cell)));
        object.insert("stopped".to_owned(), json!(schedule.stopped(index).name()));
        object.insert("folders".to_owned(), json!(links));
        Value::Object(object)
    };
    let cells: Vec<Value> = comparison.cells.iter().enumerate().map(cell).collect();
    Compared {
        recommendation: advice::recommendation(&cells),
        pairs: advice::pairs(&cells, &comparison.axes),
        questions: advice::questions(&cells),
        axes: comparison.axes.clone(),
        replay: replay(&plan),
        plan,
        cells,
        failures,
    }
}

fn replay(plan: &Plan) -> String {
    format!(
        "plimsoll compare {} --runs {}",
        plan.words.join(" "),
        plan.runs
    )
}

fn write_files(folder: &Folder, compared: &Compared) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(&as_json(compared))? + "\n";
    folder.write("compare.json", &json)?;
    folder.write("compare.md", &markdown::markdown(compared))?;
    folder.write("compare.csv", &csv::csv(compared))?;
    folder.write("compare.html", &html::page(compared))
}

fn as_json(compared: &Compared) -> Value {
    json!({
        "plimsoll": compared.plan.plimsoll,
        "started_utc": compared.plan.started_utc,
        "axes": compared.axes,
        "cells": compared.cells,
        "recommendation": compared.recommendation,
        "pairs": compared.pairs.iter().map(advice::Pair::json).collect::<Vec<_>>(),
        "questions": compared.questions.iter()
            .map(|(question, answer)| json!({"question": question, "answer": answer}))
            .collect::<Vec<_>>(),
        "failures": compared.failures,
        "replay": compared.replay,
    })
}

/// People read stderr, scripts read stdout.
fn tell(folder: &Folder, compared: &Compared, format: Format) -> anyhow::Result<()> {
    say!("{}", table::render(&compared.cells, &compared.axes));
    say!("{}", compared.recommendation);
    for pair in compared.pairs.iter().take(advice::PAIRS_SHOWN) {
        say!("- {}", pair.sentence);
    }
    for failure in &compared.failures {
        say!("a run failed: {failure}");
    }
    say!("Report:  {}/compare.html", folder.path().display());
    if format == Format::Json {
        let text = serde_json::to_string_pretty(&as_json(compared))?;
        writeln!(std::io::stdout(), "{text}")?;
    }
    Ok(())
}

/// A comparison finds out; only a violation or a failed test bed is bad news.
fn exit_of(cells: &[Value], failed: usize) -> Exit {
    let sum = |name: &str| {
        cells
            .iter()
            .filter_map(|cell| cell[name].as_u64())
            .sum::<u64>()
    };
    // A cell without runs, for want of time, tells nothing.
    let untried = cells.iter().any(|cell| cell["runs"] == 0);
    match (failed, sum("invalid"), sum("unknown")) {
        (0, 0, 0) if !untried => Exit::Valid,
        (0, 0, _) => Exit::Unknown,
        (0, _, _) => Exit::Violation,
        _ => Exit::TestBed,
    }
}

/// The options that a cell's runs are given.
fn words_of(cell: &Invocation, seed: u64, out: &Path) -> Vec<String> {
    let mut words = cell.words.clone();
    words.push(format!("--seed={seed}"));
    words.push(format!("--out={}", out.display()));
    words.push("--format=json".to_owned());
    words
}
