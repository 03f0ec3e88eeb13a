//! Registers in the etcd logs' format.

use plimsoll_checkers::search::register::{NEVER, NONE, RegisterOp};

/// Ops with values as numbers, and the first value, nil.
pub fn parse(text: &str) -> (Vec<RegisterOp>, u32) {
    let mut ops: Vec<RegisterOp> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut dropped = Vec::new();
    let value = |word: &str| word.parse::<u32>().map_or(0, |number| number + 1);
    for (at, line) in (0..).zip(text.lines()) {
        let Some((_, line)) = line.split_once("jepsen.util - ") else {
            continue;
        };
        let words: Vec<&str> = line.split('\t').collect();
        let [process, kind, f, argument] = words.as_slice() else {
            continue;
        };
        let Ok(process) = process.parse::<usize>() else {
            continue;
        };
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
            ops.push(RegisterOp {
                inv: at,
                ret: NEVER,
                from,
                to,
            });
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
