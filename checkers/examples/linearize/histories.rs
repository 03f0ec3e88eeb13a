//! The benchmark's files as histories.

use plimsoll_checkers::formats;
use plimsoll_checkers::history::{History, Op, OpType, Process, ReadInfo, SendMop, Value};
use plimsoll_checkers::stream::{Answer, Event, Kind};

fn finish(mut ops: Vec<Op>) -> History {
    for (index, op) in (0..).zip(&mut ops) {
        op.index = index;
        op.time = index * 1_000;
    }
    History::new(None, ops).expect("a well-formed history")
}

fn kind(word: &str) -> OpType {
    match word.trim_start_matches(':') {
        "invoke" => OpType::Invoke,
        "ok" => OpType::Ok,
        "fail" => OpType::Fail,
        _ => OpType::Info,
    }
}

/// A file of the public data.
pub fn stored(text: &str) -> History {
    formats::read(text.as_bytes()).expect("a well-formed history")
}

/// The made logs: one partition under appends and reads of its tail.
pub fn log(text: &str) -> History {
    let key = "log-0";
    let op = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        let process = Process::Client(words[0].parse().ok()?);
        let numbers: Vec<i64> = words[3]
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let ends = words[1] == "ok";
        let mut op = if words[2] == "append" {
            let (offset, value) = match numbers.as_slice() {
                [offset, value] => (Some(*offset), *value),
                _ => (None, numbers[0]),
            };
            let key = key.to_owned();
            let sends = vec![SendMop { key, offset, value }];
            let mut op = Op::new(process, kind(words[1]), "send", Value::Send(sends));
            op.acks = Some(-1);
            op
        } else {
            let records = (numbers[0]..).zip(numbers[1..].iter().copied()).collect();
            let records = ends.then(|| [(key.to_owned(), records)].into());
            Op::new(process, kind(words[1]), "poll", Value::Poll(records))
        };
        if ends && words[2] == "read" {
            let info = ReadInfo {
                from: numbers[0],
                hw: numbers[0] + numbers.len() as i64 - 1,
                replica: 1,
                ..ReadInfo::default()
            };
            op.reads.insert(key.to_owned(), info);
        }
        Some(op)
    };
    finish(text.lines().filter_map(op).collect())
}

/// The made logs as a stream takes them: events, and answers with records of the ok reads. A barrier
/// and a final read of everything end them, so that the end is known.
#[derive(Default)]
pub struct Events {
    pub events: Vec<Event>,
    pub answers: Vec<(Answer, u32)>,
    pub records: Vec<(i64, i64)>,
}

impl Events {
    fn push(&mut self, process: u32, kind: Kind, value: i64, offset: i64) {
        self.events.push(Event {
            time: self.events.len() as u64,
            process,
            partition: 0,
            kind,
            acks: Some(-1),
            barrier: value < 0,
            attempts: 1,
            value,
            offset,
        });
    }

    fn answer(&mut self, process: u32, from: i64, records: &[(i64, i64)], is_final: bool) {
        self.push(process, Kind::ReadOk, 0, -1);
        self.records.extend(records);
        let answer = Answer {
            from,
            hw: from + records.len() as i64,
            replica: 1,
            incarnation: 1,
            leader_epoch: -1,
            is_final,
        };
        self.answers.push((answer, records.len() as u32));
    }
}

pub fn log_events(text: &str) -> Events {
    let mut all = Events::default();
    let mut log: Vec<(i64, i64)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let process = words[0].parse().expect("a process");
        let numbers: Vec<i64> = words[3]
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        match (words[2], words[1]) {
            ("append", "ok") => {
                all.push(process, Kind::SendOk, numbers[1], numbers[0]);
                log.push((numbers[0], numbers[1]));
            }
            ("append", _) => all.push(process, Kind::SendInvoked, numbers[0], -1),
            (_, "ok") => {
                let records: Vec<(i64, i64)> =
                    (numbers[0]..).zip(numbers[1..].iter().copied()).collect();
                all.answer(process, numbers[0], &records, false);
            }
            _ => all.push(process, Kind::ReadInvoked, 0, -1),
        }
    }
    log.sort_unstable();
    let end = log.len() as i64;
    all.push(1000, Kind::SendInvoked, -1, -1);
    all.push(1000, Kind::SendOk, -1, end);
    log.push((end, -1));
    all.push(1001, Kind::ReadInvoked, 0, -1);
    all.answer(1001, 0, &log, true);
    all
}
