//! `plimsoll compare`: the same workload, faults and seeds over several
//! settings. Each run is a process of its own in a lab of its own, so several
//! can go on at a time; what is compared is their verdicts.

mod cells;
mod runs;
mod statistics;
mod table;

use std::collections::BTreeMap;
use std::io::Write;

use crate::cli::{Format, Invocation};
use crate::exit::Exit;

use self::cells::{Cell, Comparison};
use self::runs::RunResult;

/// Runs every cell and prints one table.
pub fn compare(words: &[String]) -> anyhow::Result<Exit> {
    let comparison = Comparison::parse(words)?;
    let format = comparison
        .cells
        .first()
        .map_or(Format::Human, |cell| cell.args.format);
    let results = runs::run_all(&comparison)?;
    let cells: Vec<serde_json::Value> = comparison
        .cells
        .iter()
        .zip(0..)
        .map(|(cell, index)| summary(cell, &of_cell(&results, index)))
        .collect();
    let failed = results
        .values()
        .filter(|result| result.failure.is_some())
        .count();
    eprintln!("{}", table::render(&cells, &comparison.axes));
    for result in results
        .values()
        .filter_map(|result| result.failure.as_deref())
    {
        eprintln!("a run failed: {result}");
    }
    if format == Format::Json {
        let text = serde_json::to_string_pretty(&serde_json::json!({ "cells": cells }))?;
        writeln!(std::io::stdout(), "{text}")?;
    }
    Ok(exit_of(&cells, failed))
}

fn of_cell(results: &BTreeMap<(usize, usize), RunResult>, cell: usize) -> Vec<&RunResult> {
    results
        .range((cell, 0)..(cell + 1, 0))
        .map(|(_, result)| result)
        .collect()
}

/// A comparison finds out; only a violation or a failed test bed is bad news.
fn exit_of(cells: &[serde_json::Value], failed: usize) -> Exit {
    let sum = |name: &str| {
        cells
            .iter()
            .filter_map(|cell| cell[name].as_u64())
            .sum::<u64>()
    };
    match (failed, sum("invalid"), sum("unknown")) {
        (0, 0, 0) => Exit::Valid,
        (0, 0, _) => Exit::Unknown,
        (0, _, _) => Exit::Violation,
        _ => Exit::TestBed,
    }
}

/// One cell's settings with its numbers over all of its runs.
fn summary(cell: &Cell, results: &[&RunResult]) -> serde_json::Value {
    let verdicts: Vec<&serde_json::Value> = results
        .iter()
        .filter_map(|result| result.verdict.as_ref())
        .collect();
    let mut object = cell.settings();
    object.extend(statistics::aggregate(&verdicts));
    serde_json::Value::Object(object)
}

/// The options that a cell's runs are given.
fn words_of(cell: &Invocation, seed: u64) -> Vec<String> {
    let mut words = cell.words.clone();
    words.push(format!("--seed={seed}"));
    words.push("--format=json".to_owned());
    words
}
