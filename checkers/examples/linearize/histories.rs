//! The benchmark's files as histories.

use plimsoll_checkers::history::{History, Op, OpType, Process, ReadInfo, SendMop, Value};
use serde_json::{Value as Json, json};

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

/// The etcd logs' format.
pub fn etcd(text: &str) -> History {
    let number = |word: &str| word.parse::<i64>().map_or(Json::Null, Json::from);
    let op = |line: &str| {
        let (_, line) = line.split_once("jepsen.util - ")?;
        let words: Vec<&str> = line.split('\t').collect();
        let process = Process::Client(words[0].parse().ok()?);
        let value = match words[3].strip_prefix('[') {
            Some(pair) => {
                let (from, to) = pair.trim_end_matches(']').split_once(' ')?;
                json!([number(from), number(to)])
            }
            None => number(words[3]),
        };
        let f = &words[2][1..];
        Some(Op::new(process, kind(words[1]), f, Value::Other(value)))
    };
    finish(text.lines().filter_map(op).collect())
}

/// The format of the public histories of keys.
pub fn kv(text: &str) -> History {
    let field = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!(":{name} "))?;
        let end = match rest.strip_prefix('"') {
            Some(quoted) => quoted.find('"')? + 2,
            None => rest.find([',', '}'])?,
        };
        Some(rest[..end].to_owned())
    };
    let op = |line: &str| {
        let process = Process::Client(field(line, "process")?.parse().ok()?);
        let value = field(line, "value")?;
        let value = match value.strip_prefix('"') {
            Some(text) => Value::Other(Json::from(text.trim_end_matches('"'))),
            None => Value::None,
        };
        let f = field(line, "f")?;
        let mut op = Op::new(process, kind(&field(line, "type")?), &f[1..], value);
        let key = field(line, "key")?;
        op.extra
            .insert("key".to_owned(), Json::from(key.trim_matches('"')));
        Some(op)
    };
    finish(text.lines().filter_map(op).collect())
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
