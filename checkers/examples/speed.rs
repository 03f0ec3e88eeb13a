//! How long judging takes: `cargo run --release -p plimsoll-checkers --example speed -- 100000`.
//!
//! Makes a history of so many sends, half as many consumer reads and the final
//! reads of three replicas, all correct, and prints what each step took.

use std::time::Instant;

use plimsoll_checkers::history::{
    History, HistoryReader, Op, OpType, Process, ReadInfo, SendMop, Value,
};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{check, judge};

const PARTITIONS: i64 = 4;

struct Recorder(Vec<Op>);

impl Recorder {
    fn push(&mut self, process: u64, kind: OpType, f: &str, value: Value) -> &mut Op {
        let mut op = Op::new(Process::Client(process), kind, f, value);
        op.index = self.0.len() as u64;
        op.time = op.index * 10_000;
        self.0.push(op);
        self.0.last_mut().expect("just pushed")
    }

    fn send(&mut self, f: &str, key: &str, offset: i64, value: i64) {
        let mops = |offset| {
            let key = key.to_owned();
            Value::Send(vec![SendMop { key, offset, value }])
        };
        self.push(1, OpType::Invoke, f, mops(None)).acks = Some(-1);
        self.push(1, OpType::Ok, f, mops(Some(offset))).acks = Some(-1);
    }

    fn poll(&mut self, key: &str, records: Vec<(i64, i64)>, replica: i32, is_final: bool) {
        let info = ReadInfo {
            from: records[0].0,
            hw: records[records.len() - 1].0 + 1,
            replica,
            is_final,
            ..ReadInfo::default()
        };
        self.push(2, OpType::Invoke, "poll", Value::Poll(None));
        let records = Value::Poll(Some([(key.to_owned(), records)].into()));
        let op = self.push(2, OpType::Ok, "poll", records);
        op.reads.insert(key.to_owned(), info);
    }
}

fn record(sends: i64) -> Vec<Op> {
    let mut recorder = Recorder(Vec::new());
    let keys: Vec<String> = (0..PARTITIONS).map(|p| format!("log-{p}")).collect();
    let value_at = |partition: i64, offset: i64| offset * PARTITIONS + partition;
    for value in 0..sends {
        let (partition, offset) = (value % PARTITIONS, value / PARTITIONS);
        let key = &keys[partition as usize];
        recorder.send("send", key, offset, value);
        if value % 2 == 0 {
            let from = (offset - 9).max(0);
            let records = (from..=offset)
                .map(|o| (o, value_at(partition, o)))
                .collect();
            recorder.poll(key, records, 1, false);
        }
    }
    for (partition, key) in (0..).zip(&keys) {
        let end = (sends - partition).div_euclid(PARTITIONS)
            + i64::from((sends - partition) % PARTITIONS != 0);
        recorder.send("barrier", key, end, -1 - partition);
        let mut log: Vec<(i64, i64)> = (0..end).map(|o| (o, value_at(partition, o))).collect();
        log.push((end, -1 - partition));
        for replica in 1..=3 {
            for chunk in log.chunks(500) {
                recorder.poll(key, chunk.to_vec(), replica, true);
            }
        }
    }
    recorder.0
}

fn main() {
    let words = std::env::args().nth(1);
    let sends: i64 = words.and_then(|word| word.parse().ok()).unwrap_or(100_000);
    let ops = record(sends);
    let mut lines = Vec::new();
    for op in &ops {
        op.write_json_line(&mut lines);
    }
    let begun = Instant::now();
    let mut reader = HistoryReader::new();
    reader.push_bytes(&lines).expect("well-formed lines");
    let parsed = reader.finish().expect("a well-formed history");
    let read_ms = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let history = History::new(None, ops).expect("a well-formed history");
    let built_ms = begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let findings = check(&history);
    let checked_ms = begun.elapsed().as_secs_f64() * 1e3;
    let verdict = judge(findings, &Promise::unstated());
    println!(
        "{} ops, {} MB: read {read_ms:.1} ms, validated {built_ms:.1} ms, checked {checked_ms:.1} ms, {:?}",
        parsed.ops().len(),
        lines.len() >> 20,
        verdict.valid,
    );
    for one in verdict.anomalies.iter().take(3) {
        println!("{}", one.finding.sentence);
    }
}
