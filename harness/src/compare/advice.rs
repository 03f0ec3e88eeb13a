//! What the numbers bear out, in sentences: pairs of cells that differ in one setting, and which of the
//! cells that lost nothing stood still for the shortest time.
//!
//! Nothing is said beyond the intervals: where they do not tell two cells apart, that is what is said.

use serde_json::{Value, json};

use super::intervals::{Interval, paired};
use super::view::{self, Fate};
use crate::report::numbers::{count, counted, duration_ms};

/// Sentences about pairs that a person is shown; all are in the JSON.
pub const PAIRS_SHOWN: usize = 12;

/// Two cells that differ in one setting.
#[derive(Clone, Debug)]
pub struct Pair {
    pub axis: String,
    pub cells: (usize, usize),
    pub sentence: String,
    /// Whether the runs bear out a difference of the two.
    tells: bool,
}

impl Pair {
    pub fn json(&self) -> Value {
        json!({"differ_in": self.axis, "cells": [self.cells.0 + 1, self.cells.1 + 1],
            "sentence": self.sentence})
    }
}

/// The first sentence, from all cells.
pub fn recommendation(cells: &[Value]) -> String {
    let broken: Vec<&Value> = cells
        .iter()
        .filter(|one| Fate::of(one) == Fate::Broken)
        .collect();
    let mut sentences = Vec::new();
    if let Some(first) = broken.first() {
        let (who, all) = (label(first), cells.len());
        sentences.push(match (broken.len(), all) {
            (1, 1) => format!("The one cell, {who}, broke the promise{BUG}"),
            (1, _) => format!("1 of {all} cells broke the promise, {who}{BUG}"),
            (some, _) => format!("{some} of {all} cells broke the promise, {who} first{BUG}"),
        });
    }
    let safe: Vec<&Value> = cells
        .iter()
        .filter(|one| Fate::of(one) == Fate::Kept && one["writes_measurable"] == true)
        .collect();
    sentences.push(match safe.len() {
        0 => none_safe(cells),
        _ => best_of(cells, &promising(&safe)),
    });
    sentences.join(" ")
}

const BUG: &str = ": that is a bug of the system, and no setting to choose.";

/// Why no cell can be recommended.
fn none_safe(cells: &[Value]) -> String {
    let with = |keep: &dyn Fn(&Value) -> bool| cells.iter().filter(|one| keep(one)).count();
    let lost = with(&|one| one["runs_with_loss"].as_u64() > Some(0));
    match (lost == cells.len(), cells.len()) {
        (true, 1) => return "The one cell lost records.".to_owned(),
        (true, all) => return format!("Each of the {all} cells lost records."),
        _ => {}
    }
    let reasons = [
        (lost, "lost records"),
        (
            with(&|one| Fate::of(one) == Fate::Unknown),
            "could not be judged",
        ),
        (
            with(&|one| one["writes_measurable"] == false),
            "asked for no acknowledgement",
        ),
    ];
    let reasons = reasons.iter().filter(|(number, _)| *number > 0);
    let reasons: Vec<String> = reasons
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    format!(
        "Of the {}, none is known to have kept all that it acknowledged: {}.",
        counted(cells.len() as u64, "cell"),
        reasons.join(", ")
    )
}

/// Of cells that lost nothing, those whose settings promise as much, if there are any: what is permitted
/// and was not seen may still come.
fn promising<'c>(safe: &[&'c Value]) -> Vec<&'c Value> {
    let promised = |cell: &&&Value| cell["promised"] == "no acknowledged loss";
    let promised: Vec<&Value> = safe.iter().filter(promised).copied().collect();
    match promised.is_empty() {
        true => safe.to_vec(),
        false => promised,
    }
}

fn best_of(cells: &[Value], safe: &[&Value]) -> String {
    let mean = |cell: &Value| {
        cell["unavailable_ms_mean"]
            .as_f64()
            .unwrap_or(f64::INFINITY)
    };
    let mut ordered = safe.to_vec();
    ordered.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    let Some(best) = ordered.first() else {
        return String::new();
    };
    let lost = format!(
        "{} of {} lost nothing, and {} ({}).",
        safe.len(),
        counted(cells.len() as u64, "cell"),
        match (best["promised"] == "no acknowledged loss", safe.len()) {
            (true, 1) => "its settings permit none",
            (true, _) => "their settings permit none",
            (false, 1) => "its settings would have permitted it",
            (false, _) => "their settings would have permitted it",
        },
        view::at_most(best)
    );
    let alike: Vec<String> = ordered
        .iter()
        .skip(1)
        .filter(|other| !tells_apart(best, other, "unavailable_ms_each", outage))
        .map(|other| label(other))
        .collect();
    let stood = format!(
        "stood without a write for {} on its worst partition",
        view::outage(best)
    );
    let choice = format!("{} {stood}", label(best));
    match (ordered.len(), alike.len()) {
        (1, _) => format!("{lost} It is {}, and {stood}.", label(best)),
        (_, 0) => format!("{lost} Among them {choice}, the shortest."),
        _ => format!(
            "{lost} Among them {choice}; these runs do not tell its outage from that of {}.",
            listed(&alike)
        ),
    }
}

fn listed(names: &[String]) -> String {
    const NAMED: usize = 3;
    match names.len() {
        0..=NAMED => names.join("; "),
        more => format!("{}; and {} more", names[..NAMED].join("; "), more - NAMED),
    }
}

fn label(cell: &Value) -> String {
    view::text(&cell["label"])
}

/// All pairs that differ in one axis, neighbouring values only.
pub fn pairs(cells: &[Value], axes: &[String]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (axis, name) in axes.iter().enumerate() {
        for (first, one) in cells.iter().enumerate() {
            let follows = |other: &Value| differ_only_in(one, other, axis);
            let mut later = cells.iter().enumerate().skip(first + 1);
            if let Some((second, other)) = later.find(|(_, other)| follows(other)) {
                pairs.push(Pair {
                    axis: name.clone(),
                    cells: (first, second),
                    sentence: compared(one, other, axis, name),
                    tells: bears_out(one, other) != (false, false),
                });
            }
        }
    }
    // What the runs bear out comes first; the sort is stable.
    pairs.sort_by_key(|pair| !pair.tells);
    pairs
}

/// So many runs of the same seeds it takes to compare two cells run by run; two that happen to agree are
/// no proof of anything.
const PAIRED_RUNS: usize = 3;

fn differ_only_in(one: &Value, other: &Value, axis: usize) -> bool {
    let (Some(ours), Some(theirs)) = (one["varied"].as_array(), other["varied"].as_array()) else {
        return false;
    };
    let differ = |at: usize| ours.get(at) != theirs.get(at);
    (0..ours.len()).all(|at| differ(at) == (at == axis))
}

/// "acks=all, min-insync=1: with unclean-elections=false it lost nothing in 5 runs (...) and could not
/// write for 31 s; with unclean-elections=true it lost 0.4 % [...] and could not write for 2 s."
fn compared(one: &Value, other: &Value, axis: usize, name: &str) -> String {
    let value = |cell: &Value| view::text(&cell["varied"][axis]);
    let common: Vec<String> = label(one)
        .split(", ")
        .filter(|pair| !pair.starts_with(&format!("{name}=")))
        .map(str::to_owned)
        .collect();
    let common = match common.is_empty() {
        true => String::new(),
        false => format!("{}: ", common.join(", ")),
    };
    format!(
        "{common}with {name}={} it {}; with {name}={} it {}. {}",
        value(one),
        fared(one),
        value(other),
        fared(other),
        told(one, other)
    )
}

fn fared(cell: &Value) -> String {
    let runs = cell["runs"].as_u64().unwrap_or(0);
    if runs == 0 {
        return "was not run".to_owned();
    }
    let in_runs = counted(runs, "run");
    let lost = match cell["writes_measurable"] == true {
        true => "lost",
        false => "missed",
    };
    let loss = match cell["runs_with_loss"].as_u64().unwrap_or(0) {
        0 => format!("{lost} nothing in {in_runs} ({})", view::at_most(cell)),
        _ => format!("{lost} {}", view::lost_share(cell)),
    };
    let outage = match cell["unavailable_ms_mean"].as_f64() {
        None => "had no outage of writes that could be measured".to_owned(),
        Some(_) => format!("could not write for {}", view::outage(cell)),
    };
    format!("{loss} and {outage}")
}

/// Whether the runs bear out the difference in loss, and that in outage.
fn bears_out(one: &Value, other: &Value) -> (bool, bool) {
    let comparable = one["writes_measurable"] == other["writes_measurable"];
    let loss = comparable && tells_apart(one, other, "lost_share_each", loss);
    let outage = tells_apart(one, other, "unavailable_ms_each", outage);
    (loss, outage)
}

fn told(one: &Value, other: &Value) -> String {
    let told = match bears_out(one, other) {
        (true, true) => "The runs bear out both differences",
        (true, false) => "The runs bear out the difference in loss, not one in outage",
        (false, true) => "The runs bear out the difference in outage, not one in loss",
        (false, false) => "The runs bear out neither difference",
    };
    let runs = |cell: &Value| cell["runs"].as_u64().unwrap_or(0);
    let fewest = runs(one).min(runs(other));
    match fewest < PAIRED_RUNS as u64 && bears_out(one, other) != (true, true) {
        true => format!(
            "{told}: {} a cell {} too few, {PAIRED_RUNS} or more of the same seeds are needed.",
            counted(fewest, "run"),
            if fewest == 1 { "is" } else { "are" }
        ),
        false => format!("{told}."),
    }
}

fn loss(cell: &Value) -> Option<Interval> {
    let bound = |index: usize| cell["lost_share_interval"][index].as_f64();
    Some(Interval {
        low: bound(0)?,
        point: cell["lost_share"].as_f64()?,
        high: bound(1)?,
    })
}

fn outage(cell: &Value) -> Option<Interval> {
    let bound = |index: usize| cell["unavailable_ms_interval"][index].as_f64();
    Some(Interval {
        low: bound(0)?,
        point: cell["unavailable_ms_mean"].as_f64()?,
        high: bound(1)?,
    })
}

/// Either the intervals do not meet, or the differences between runs of one seed exclude nothing.
fn tells_apart(
    one: &Value,
    other: &Value,
    each: &str,
    interval: fn(&Value) -> Option<Interval>,
) -> bool {
    let (Some(ours), Some(theirs)) = (interval(one), interval(other)) else {
        return false;
    };
    if !ours.overlaps(&theirs) {
        return true;
    }
    let differences = differences(one, other, each);
    let enough = differences.len() >= PAIRED_RUNS;
    enough && paired(&differences).is_some_and(|all| all.low > 0.0 || all.high < 0.0)
}

/// Between the runs that both cells made with the same seed.
fn differences(one: &Value, other: &Value, each: &str) -> Vec<f64> {
    let by_seed = |cell: &Value| -> Vec<(u64, f64)> {
        let seeds = cell["seeds"].as_array().into_iter().flatten();
        let numbers = cell[each].as_array().into_iter().flatten();
        seeds
            .zip(numbers)
            .filter_map(|(seed, number)| Some((seed.as_u64()?, number.as_f64()?)))
            .collect()
    };
    let theirs = by_seed(other);
    let pair = |(seed, ours): (u64, f64)| {
        let their = theirs.iter().find(|(other, _)| *other == seed)?.1;
        Some(ours - their)
    };
    by_seed(one).into_iter().filter_map(pair).collect()
}

/// Answers to the questions that people ask, over all cells that bear on each.
pub fn questions(cells: &[Value]) -> Vec<(&'static str, String)> {
    let ran = |cell: &&Value| cell["runs"].as_u64().unwrap_or(0) > 0;
    let pick = |keep: &dyn Fn(&Value) -> bool| -> Vec<&Value> {
        cells.iter().filter(ran).filter(|cell| keep(cell)).collect()
    };
    let unclean = |cell: &Value| cell["unclean_elections"] == true;
    let all = |cell: &Value| cell["acks"] == "all";
    let asked: [(&'static str, Vec<&Value>); 5] = [
        (
            "Does acks=all mean all (clean elections)?",
            pick(&|cell| all(cell) && !unclean(cell)),
        ),
        (
            "Is min.insync.replicas=1 safe with three replicas (acks=all, clean elections)?",
            pick(&|cell| {
                all(cell)
                    && !unclean(cell)
                    && cell["min_insync"] == 1
                    && cell["replication_factor"].as_u64() >= Some(3)
            }),
        ),
        (
            "What does unclean election cost (acks=all)?",
            pick(&|cell| all(cell) && unclean(cell)),
        ),
        (
            "Does idempotence survive a fail-over?",
            pick(&|cell| cell["idempotent"] == true),
        ),
        (
            "A success callback, and yet missing (acks=1)?",
            pick(&|cell| cell["acks"] == 1),
        ),
    ];
    let answered = asked.into_iter().filter(|(_, cells)| !cells.is_empty());
    answered
        .map(|(question, cells)| (question, answer(&cells)))
        .collect()
}

fn answer(cells: &[&Value]) -> String {
    let sum = |name: &str| -> u64 { cells.iter().filter_map(|cell| cell[name].as_u64()).sum() };
    let isr = cells
        .iter()
        .filter_map(|cell| cell["smallest_isr"].as_u64())
        .min();
    let isr = isr.map_or(String::new(), |size| {
        format!(", in-sync sets seen down to {size}")
    });
    let outages: Vec<f64> = cells
        .iter()
        .filter_map(|cell| cell["unavailable_ms_mean"].as_f64())
        .collect();
    let outage = span_of(&outages).map_or(String::new(), |span| {
        format!("; without a write for {span}")
    });
    format!(
        "Lost {} of {} in {} of {}, {}{isr}{outage}.",
        count(sum("lost_acked")),
        counted(sum("acked"), "acknowledged record"),
        count(sum("runs_with_loss")),
        counted(sum("runs"), "run"),
        counted(sum("duplicates"), "duplicate"),
    )
}

/// "1.2 s to 8.7 s", or the one time that all are.
fn span_of(times_ms: &[f64]) -> Option<String> {
    let longest = duration_ms(times_ms.iter().copied().reduce(f64::max)?);
    let shortest = duration_ms(times_ms.iter().copied().reduce(f64::min)?);
    Some(match shortest == longest {
        true => longest,
        false => format!("{shortest} to {longest}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::statistics::aggregate;

    fn cell(unclean: bool, runs: &[(u64, u64)]) -> Value {
        let verdicts: Vec<Value> = runs
            .iter()
            .enumerate()
            .map(|(seed, (lost, outage))| {
                json!({"valid": true, "acked": 1000, "lost_acked": lost, "unacknowledged": 0,
                    "unavailable_ms": outage, "seed": seed, "promise": {"permitted": []}})
            })
            .collect();
        let verdicts: Vec<&Value> = verdicts.iter().collect();
        let mut cell = aggregate(&verdicts, 60_000.0);
        cell.insert("varied".to_owned(), json!([unclean.to_string()]));
        cell.insert("unclean_elections".to_owned(), json!(unclean));
        cell.insert("acks".to_owned(), json!("all"));
        let label = format!("unclean-elections={unclean}");
        cell.insert("label".to_owned(), json!(label));
        Value::Object(cell)
    }

    #[test]
    fn a_pair_says_both_sides_and_what_the_runs_bear_out() {
        let clean = cell(false, &[(0, 30_000), (0, 31_000), (0, 32_000), (0, 31_000)]);
        let unclean = cell(true, &[(4, 2000), (5, 2100), (3, 1900), (4, 2000)]);
        let axes = ["unclean-elections".to_owned()];
        let pairs = pairs(&[clean.clone(), unclean.clone()], &axes);
        assert_eq!(pairs.len(), 1);
        let said = &pairs[0].sentence;
        assert!(
            said.contains("unclean-elections=false it lost nothing in 4 runs (at most 53 %"),
            "{said}"
        );
        assert!(said.contains("could not write for 31.0 s"), "{said}");
        assert!(said.contains("it lost 0.40 % [0.2"), "{said}");
        assert!(said.ends_with("bear out both differences."), "{said}");
        let first = recommendation(&[clean, unclean]);
        assert!(
            first.contains("1 of 2 cells lost nothing, and its settings permit none")
                && first.contains("unclean-elections=false"),
            "{first}"
        );
    }

    #[test]
    fn what_the_intervals_do_not_tell_apart_is_not_claimed() {
        let one = cell(false, &[(0, 1000), (0, 9000), (0, 3000)]);
        let other = cell(true, &[(9, 2000), (0, 1000), (0, 8000)]);
        let pairs = pairs(&[one, other], &["unclean-elections".to_owned()]);
        assert!(
            pairs[0].sentence.ends_with("bear out neither difference."),
            "{}",
            pairs[0].sentence
        );
    }

    #[test]
    fn a_broken_promise_is_named_before_any_advice() {
        let mut bad = cell(false, &[(3, 0)]);
        bad["invalid"] = json!(1);
        let said = recommendation(&[bad]);
        assert!(
            said.starts_with("The one cell, unclean-elections=false, broke the promise: "),
            "{said}"
        );
        assert!(said.ends_with("The one cell lost records."), "{said}");
    }
    #[test]
    fn two_runs_are_said_to_be_too_few_where_they_tell_nothing() {
        let one = cell(false, &[(0, 30_000), (0, 31_000)]);
        let other = cell(true, &[(40, 2000), (50, 2100)]);
        let pairs = pairs(&[one, other], &["unclean-elections".to_owned()]);
        let said = &pairs[0].sentence;
        assert!(
            said.ends_with("2 runs a cell are too few, 3 or more of the same seeds are needed."),
            "{said}"
        );
    }

    #[test]
    fn numbers_in_answers_agree_and_one_time_is_no_span() {
        let one = cell(false, &[(0, 8700)]);
        let answers = questions(&[one]);
        assert_eq!(
            answers[0].1,
            "Lost 0 of 1,000 acknowledged records in 0 of 1 run, 0 duplicates; without a write for 8.7 s."
        );
        let two = [cell(false, &[(0, 1000)]), cell(false, &[(0, 8700)])];
        assert!(questions(&two)[0].1.ends_with("for 1.0 s to 8.7 s."));
        let lossy = [cell(true, &[(1, 0)]), cell(false, &[(1, 0)])];
        assert_eq!(recommendation(&lossy), "Each of the 2 cells lost records.");
        let mut unjudged = cell(false, &[(0, 0)]);
        unjudged["unknown"] = json!(1);
        assert_eq!(
            recommendation(&[unjudged, cell(true, &[(1, 0)])]),
            "Of the 2 cells, none is known to have kept all that it acknowledged: 1 lost records, \
             1 could not be judged."
        );
    }
}
