//! Objects against exhaustive oracles: every order that real time allows is tried.
//!
//! Small random histories (the number of cases from `PLIMSOLL_ORACLE_CASES`), with failed ops, ops
//! without an answer, and ops at the same time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod enumerated;
mod order;
mod queue;
mod versioned_register;

use plimsoll_checkers::history::{History, Op, OpType, Process, Value};
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use plimsoll_checkers::{Validity, models};
use serde_json::Value as Json;

/// One op as it is recorded: begin and end as moments, all distinct.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub begin: u32,
    pub end: u32,
    pub f: &'static str,
    pub asked: Json,
    pub kind: OpType,
    pub got: Json,
}

pub fn history(ops: &[Recorded]) -> History {
    let mut lines: Vec<(u32, Op)> = Vec::new();
    for (which, op) in ops.iter().enumerate() {
        let value = |json: &Json| match json {
            Json::Null => Value::None,
            other => Value::Other(other.clone()),
        };
        let process = Process::Client(which as u64);
        let line = |kind, json| Op::new(process, kind, op.f, value(json));
        lines.push((op.begin, line(OpType::Invoke, &op.asked)));
        lines.push((op.end, line(op.kind, &op.got)));
    }
    lines.sort_by_key(|(moment, _)| *moment);
    for (index, (moment, op)) in lines.iter_mut().enumerate() {
        op.index = index as u64;
        op.time = u64::from(*moment);
    }
    History::new(None, lines.into_iter().map(|(_, op)| op).collect()).unwrap()
}

pub fn judged(ops: &[Recorded], model: Model) -> models::ModelVerdict {
    judge_model(&history(ops), model, &ModelOptions::default()).unwrap()
}

pub fn cases() -> u32 {
    std::env::var("PLIMSOLL_ORACLE_CASES").map_or(20_000, |n| n.parse().unwrap_or(20_000))
}

/// The verdict must be the oracle's, and never unknown.
pub fn agrees(verdict: &models::ModelVerdict, fits: bool) -> bool {
    match fits {
        true => verdict.valid == Validity::Valid,
        false => verdict.valid == Validity::Invalid,
    }
}
