//! The log checkers against an exhaustive oracle.
//!
//! Small random histories of one partition, every op acknowledged or
//! unanswered. The oracle tries every order that real time allows and replays
//! it on a log with gaps (an append lands at or above the end; a read shows
//! every record from where it began up to its last). The checkers must accuse
//! exactly the histories that no order explains.

use plimsoll_checkers::check;
use plimsoll_checkers::history::{History, Op, OpType, Process, ReadInfo, SendMop, Value};
use proptest::prelude::*;

const KEY: &str = "log-0";

#[derive(Debug, Clone)]
enum Kind {
    /// Offset it got; answered or not.
    Append { offset: i64, answered: bool },
    /// Where it began, and the records it shows.
    Read { from: i64, records: Vec<(i64, i64)> },
}

#[derive(Debug, Clone)]
struct SmallOp {
    begin: u32,
    end: u32,
    kind: Kind,
}

/// Two to six ops at distinct moments; reads show some of what exists.
fn small_history() -> impl Strategy<Value = Vec<SmallOp>> {
    let op = (
        0..40_u32,
        1..12_u32,
        0..4_u8,
        0..6_i64,
        any::<u8>(),
        0..3_i64,
    );
    prop::collection::vec(op, 2..7).prop_map(|raw| {
        let appends: Vec<(i64, i64)> = raw
            .iter()
            .enumerate()
            .filter(|(_, op)| op.2 < 2)
            .map(|(value, op)| (op.3, value as i64))
            .collect();
        let build = |(value, op): (usize, &(u32, u32, u8, i64, u8, i64))| {
            let &(begin, length, kind, offset, mask, from) = op;
            let kind = match kind {
                0 | 1 => Kind::Append {
                    offset,
                    answered: kind == 0 || mask % 2 == 0,
                },
                _ => Kind::Read {
                    from,
                    records: shown(&appends, from, mask),
                },
            };
            SmallOp {
                begin: begin * 8 + value as u32,
                end: (begin + length) * 8 + value as u32,
                kind,
            }
        };
        raw.iter().enumerate().map(build).collect()
    })
}

fn shown(appends: &[(i64, i64)], from: i64, mask: u8) -> Vec<(i64, i64)> {
    let mut records: Vec<(i64, i64)> = appends
        .iter()
        .enumerate()
        .filter(|(which, append)| append.0 >= from && mask & (1 << which) != 0)
        .map(|(_, append)| *append)
        .collect();
    records.sort_unstable();
    records
}

fn is_observed(ops: &[SmallOp], value: i64) -> bool {
    ops.iter().any(|op| match &op.kind {
        Kind::Read { records, .. } => records.iter().any(|record| record.1 == value),
        Kind::Append { .. } => false,
    })
}

/// Whether some order that real time allows explains every op.
fn explained(ops: &[SmallOp]) -> bool {
    let must: Vec<usize> = (0..ops.len())
        .filter(|&which| match ops[which].kind {
            Kind::Append { answered, .. } => answered || is_observed(ops, which as i64),
            Kind::Read { .. } => true,
        })
        .collect();
    place(ops, &must, 0, &mut Vec::new())
}

fn place(ops: &[SmallOp], must: &[usize], used: u32, log: &mut Vec<(i64, i64)>) -> bool {
    if used.count_ones() as usize == must.len() {
        return true;
    }
    for (bit, &which) in must.iter().enumerate() {
        let free = used & (1 << bit) == 0;
        let blocked = must.iter().enumerate().any(|(other, &before)| {
            used & (1 << other) == 0 && ended(&ops[before]) < ops[which].begin && other != bit
        });
        if !free || blocked {
            continue;
        }
        match &ops[which].kind {
            Kind::Append { offset, .. } => {
                if log.last().is_none_or(|last| last.0 < *offset) {
                    log.push((*offset, which as i64));
                    if place(ops, must, used | 1 << bit, log) {
                        return true;
                    }
                    log.pop();
                }
            }
            Kind::Read { from, records } => {
                let above: Vec<(i64, i64)> = log
                    .iter()
                    .copied()
                    .filter(|record| record.0 >= *from)
                    .collect();
                if above.starts_with(records) && place(ops, must, used | 1 << bit, log) {
                    return true;
                }
            }
        }
    }
    false
}

/// An op without an answer may take effect at any time after it began.
fn ended(op: &SmallOp) -> u32 {
    match op.kind {
        Kind::Append {
            answered: false, ..
        } => u32::MAX,
        _ => op.end,
    }
}

fn recorded(ops: &[SmallOp]) -> History {
    let mut events: Vec<(u32, Op)> = Vec::new();
    for (which, op) in ops.iter().enumerate() {
        let process = Process::Client(which as u64);
        let (f, asked, kind, got, info) = halves(which, op);
        events.push((op.begin, Op::new(process, OpType::Invoke, f, asked)));
        let mut end = Op::new(process, kind, f, got);
        end.acks = Some(-1);
        end.reads.extend(info.map(|info| (KEY.to_owned(), info)));
        events.push((op.end, end));
    }
    events.sort_by_key(|event| event.0);
    let numbered = events
        .into_iter()
        .enumerate()
        .map(|(index, (time, mut op))| {
            op.index = index as u64;
            op.time = u64::from(time);
            op
        });
    History::new(None, numbered.collect()).expect("a well-formed history")
}

fn halves(which: usize, op: &SmallOp) -> (&'static str, Value, OpType, Value, Option<ReadInfo>) {
    let send = |offset| {
        let key = KEY.to_owned();
        let value = which as i64;
        Value::Send(vec![SendMop { key, offset, value }])
    };
    match &op.kind {
        Kind::Append {
            offset,
            answered: true,
        } => ("send", send(None), OpType::Ok, send(Some(*offset)), None),
        Kind::Append { .. } => ("send", send(None), OpType::Info, send(None), None),
        Kind::Read { from, records } => {
            let info = ReadInfo {
                from: *from,
                hw: -1,
                ..ReadInfo::default()
            };
            let got = Value::Poll(Some([(KEY.to_owned(), records.clone())].into()));
            ("poll", Value::Poll(None), OpType::Ok, got, Some(info))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("PLIMSOLL_ORACLE_CASES").map_or(20_000, |n| n.parse().unwrap_or(20_000))
    ))]

    #[test]
    fn accuses_exactly_the_histories_that_no_order_explains(ops in small_history()) {
        let found = check(&recorded(&ops));
        let sentences: Vec<_> = found.findings.iter().map(|f| (f.anomaly, &f.sentence)).collect();
        prop_assert_eq!(
            sentences.is_empty(),
            explained(&ops),
            "{:?}\n{:?}",
            sentences,
            ops
        );
        prop_assert!(!found.doubts.iter().any(|doubt| doubt.contains("bug")), "{:?}", found.doubts);
    }
}
