//! Registers in the etcd logs' format.

use std::time::Instant;

use plimsoll_checkers::search::register::{Decision, Meter, NEVER, NONE, RegisterOp, decide};

/// Ops with values as numbers, and the first value, nil.
pub fn parse(text: &str) -> (Vec<RegisterOp>, u32) {
    let mut ops: Vec<RegisterOp> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut dropped = Vec::new();
    let value = |word: &str| word.parse::<u32>().map_or(0, |number| number + 1);
    for (at, line) in (0..).zip(text.lines()) {
        let Some((_, line)) = line.split_once("jepsen.util - ") else { continue };
        let words: Vec<&str> = line.split('\t').collect();
        let [process, kind, f, argument] = words.as_slice() else { continue };
        let Ok(process) = process.parse::<usize>() else { continue };
        if open.len() <= process {
            open.resize(process + 1, None);
        }
        if *kind == ":invoke" {
            let (from, to) = match *f {
                ":read" => (0, NONE),
                ":write" => (NONE, value(argument)),
                _ => {
                    let inner = argument.trim_matches(['[', ']']);
                    let (from, to) = inner.split_once(' ').expect("two values");
                    (value(from), value(to))
                }
            };
            open[process] = Some(ops.len());
            ops.push(RegisterOp { inv: at, ret: NEVER, from, to });
            continue;
        }
        let op = open[process].take().expect("an open op");
        match *kind {
            ":ok" => {
                ops[op].ret = at;
                if *f == ":read" {
                    ops[op].from = value(argument);
                }
            }
            ":fail" => dropped.push(op),
            _ => {}
        }
    }
    let mut at = 0;
    ops.retain(|op| {
        let keep = !(dropped.contains(&at) || op.ret == NEVER && op.to == NONE);
        at += 1;
        keep
    });
    (ops, 0)
}

/// Judges each file and prints the sum of the medians.
pub fn judge(files: &[&str]) {
    let mut total = 0.0;
    let mut verdicts = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a file");
        let (ops, initial) = parse(&text);
        let mut times = Vec::new();
        let mut last = (Decision::OutOfBudget, 0);
        let begun = Instant::now();
        while times.is_empty() || (times.len() < 101 && begun.elapsed().as_secs_f64() < 0.5) {
            let begun = Instant::now();
            let mut meter = Meter::new(1 << 40, 1 << 33);
            let decision = decide(&ops, initial, &mut meter);
            times.push(begun.elapsed().as_secs_f64());
            last = (decision, meter.steps);
        }
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        total += median;
        if files.len() < 10 {
            eprintln!("{file}: {} ops, {:?}, {} steps, {:.6} s", ops.len(), last.0, last.1, median);
        }
        verdicts.push(last.0 == Decision::Linearizable);
    }
    println!("{{\"seconds\": {total}, \"verdicts\": {verdicts:?}}}");
}
