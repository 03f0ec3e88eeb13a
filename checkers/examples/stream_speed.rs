//! What the stream takes: `cargo run --release -p plimsoll-checkers --example stream_speed -- 10000000 [FILE]`.
//!
//! Makes a correct log of so many ops in memory (six sends to four reads by consumers, four
//! partitions, 24 clients at once) and the final reads of three replicas, and times the stream over
//! it. With a file it writes the same as JSON lines instead, for `plimsoll check`.

use std::io::Write;
use std::time::Instant;

use plimsoll_checkers::history::{Header, TopicInfo};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::stream::{Answer, Event, Kind, LogStream};

const PARTITIONS: usize = 4;
const PRODUCERS: u32 = 16;
const CONSUMERS: u32 = 8;

/// The input: events in order, answers and records of ok reads in theirs.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    answers: Vec<(Answer, u32)>,
    records: Vec<(i64, i64)>,
}

struct Maker {
    log: Log,
    logs: Vec<Vec<i64>>,
    positions: Vec<[usize; PARTITIONS]>,
    /// What each producer has sent and not been told yet.
    waiting: Vec<Option<(usize, i64)>>,
    next_value: i64,
    chance: u64,
}

impl Maker {
    fn below(&mut self, limit: usize) -> usize {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.chance >> 33) % limit as u64) as usize
    }

    fn event(&mut self, process: u32, partition: usize, kind: Kind, value: i64, offset: i64) {
        let time = self.log.events.len() as u64 * 10_000;
        self.log.events.push(Event {
            time,
            process,
            partition: partition as u32,
            kind,
            acks: Some(-1),
            barrier: value < 0,
            attempts: 1,
            value,
            offset,
        });
    }

    fn send(&mut self) {
        let producer = self.below(PRODUCERS as usize);
        if let Some((partition, value)) = self.waiting[producer].take() {
            let offset = self.logs[partition].len() as i64;
            self.logs[partition].push(value);
            self.event(producer as u32, partition, Kind::SendOk, value, offset);
        }
        let partition = self.below(PARTITIONS);
        let value = self.next_value;
        self.next_value += 1;
        self.waiting[producer] = Some((partition, value));
        self.event(producer as u32, partition, Kind::SendInvoked, value, -1);
    }

    fn read(
        &mut self,
        process: u32,
        partition: usize,
        from: usize,
        most: usize,
        replica: Option<i32>,
    ) -> usize {
        self.event(process, partition, Kind::ReadInvoked, 0, -1);
        let log = &self.logs[partition];
        let end = log.len().min(from + most);
        let before = self.log.records.len();
        self.log
            .records
            .extend((from..end).map(|at| (at as i64, log[at])));
        let answer = Answer {
            from: from as i64,
            hw: log.len() as i64,
            replica: replica.unwrap_or(1),
            incarnation: 1,
            leader_epoch: 0,
            is_final: replica.is_some(),
        };
        let count = (self.log.records.len() - before) as u32;
        self.log.answers.push((answer, count));
        self.event(process, partition, Kind::ReadOk, 0, -1);
        end
    }

    fn consume(&mut self) {
        let consumer = self.below(CONSUMERS as usize);
        // Two consumers a partition, so that each record is consumed twice.
        let partition = consumer % PARTITIONS;
        let from = self.positions[consumer][partition];
        let process = PRODUCERS + consumer as u32;
        self.positions[consumer][partition] = self.read(process, partition, from, 20, None);
    }

    fn end(&mut self) {
        for producer in 0..PRODUCERS as usize {
            if let Some((partition, value)) = self.waiting[producer].take() {
                let offset = self.logs[partition].len() as i64;
                self.logs[partition].push(value);
                self.event(producer as u32, partition, Kind::SendOk, value, offset);
            }
        }
        for partition in 0..PARTITIONS {
            let barrier = -1 - partition as i64;
            let offset = self.logs[partition].len() as i64;
            self.event(0, partition, Kind::SendInvoked, barrier, -1);
            self.logs[partition].push(barrier);
            self.event(0, partition, Kind::SendOk, barrier, offset);
            for replica in 1..=3 {
                let mut from = 0;
                while from < self.logs[partition].len() {
                    let process = 100 + replica as u32;
                    from = self.read(process, partition, from, 1000, Some(replica));
                }
            }
        }
    }
}

fn make(ops: usize) -> Log {
    let mut maker = Maker {
        log: Log::default(),
        logs: vec![Vec::new(); PARTITIONS],
        positions: vec![[0; PARTITIONS]; CONSUMERS as usize],
        waiting: vec![None; PRODUCERS as usize],
        next_value: 0,
        chance: 7,
    };
    for _ in 0..ops {
        match maker.below(10) < 6 {
            true => maker.send(),
            false => maker.consume(),
        }
    }
    maker.end();
    maker.log
}

fn header() -> Header {
    let topic = || TopicInfo {
        replication_factor: 3,
        ..TopicInfo::default()
    };
    Header {
        plimsoll: 1,
        promise: Promise::unstated(),
        topics: (0..PARTITIONS)
            .map(|p| (format!("log-{p}"), topic()))
            .collect(),
        clients: Default::default(),
        system: "made".to_owned(),
        seed: 7,
        extra: Default::default(),
    }
}

fn judge(log: &Log) {
    let mut stream = LogStream::new(Some(header()));
    for partition in 0..PARTITIONS {
        stream.partition(&format!("log-{partition}"));
    }
    let begun = Instant::now();
    let (mut answers, mut records) = (log.answers.iter(), &log.records[..]);
    for (index, event) in log.events.iter().enumerate() {
        if event.kind == Kind::ReadOk {
            let (answer, count) = answers.next().expect("one a read");
            let (shown, rest) = records.split_at(*count as usize);
            records = rest;
            stream
                .step_read(event, index as u64, answer, shown)
                .expect("well-formed");
        } else {
            stream.step(event, index as u64).expect("well-formed");
        }
    }
    let streamed = stream.finish();
    let took = begun.elapsed().as_secs_f64();
    let ops = log.events.len() as f64 / 2.0;
    println!(
        "{} ops, {} records shown: {:.3} s, {:.1} million ops/s, {} suspicions, level {:?}, peak {} MB",
        ops,
        log.records.len(),
        took,
        ops / took / 1e6,
        streamed.suspicions.len(),
        streamed.level,
        peak_mb(),
    );
    for one in &streamed.suspicions {
        println!("{}: {}", one.op, one.sentence);
    }
}

fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

fn write(log: &Log, path: &str) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    serde_json::to_writer(&mut out, &header())?;
    out.write_all(b"\n")?;
    let (mut answers, mut records) = (log.answers.iter(), &log.records[..]);
    for (index, event) in log.events.iter().enumerate() {
        let (time, process, key) = (event.time, event.process, event.partition);
        let line = |kind: &str, f: &str, value: &str, rest: &str| {
            format!(
                "{{\"index\":{index},\"time\":{time},\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value},\"client\":\"c{process}\"{rest}}}\n"
            )
        };
        let f = if event.barrier { "barrier" } else { "send" };
        let (value, offset) = (event.value, event.offset);
        let text = match event.kind {
            Kind::SendInvoked => line(
                "invoke",
                f,
                &format!("[[\"send\",\"log-{key}\",{value}]]"),
                ",\"acks\":-1",
            ),
            Kind::ReadInvoked => line(
                "invoke",
                "poll",
                "[[\"poll\"]]",
                &format!(
                    ",\"reads\":{{\"log-{key}\":{{\"from\":0,\"hw\":-1,\"log_start\":-1,\"replica\":-1,\"incarnation\":0,\"leader_epoch\":-1,\"final\":false}}}}"
                ),
            ),
            Kind::ReadOk => {
                let (answer, count) = answers.next().expect("one a read");
                let (shown, rest) = records.split_at(*count as usize);
                records = rest;
                let shown: Vec<String> = shown
                    .iter()
                    .map(|(at, value)| format!("[{at},{value}]"))
                    .collect();
                let Answer {
                    from,
                    hw,
                    replica,
                    is_final,
                    ..
                } = answer;
                line(
                    "ok",
                    "poll",
                    &format!("[[\"poll\",{{\"log-{key}\":[{}]}}]]", shown.join(",")),
                    &format!(
                        ",\"reads\":{{\"log-{key}\":{{\"from\":{from},\"hw\":{hw},\"log_start\":0,\"replica\":{replica},\"incarnation\":1,\"leader_epoch\":0,\"final\":{is_final}}}}}"
                    ),
                )
            }
            _ => line(
                "ok",
                f,
                &format!("[[\"send\",\"log-{key}\",[{offset},{value}]]]"),
                ",\"acks\":-1",
            ),
        };
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let ops = words
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(10_000_000);
    let log = make(ops);
    if let Some(path) = words.next() {
        return write(&log, &path);
    }
    println!(
        "input: {} MB",
        (log.events.len() * size_of::<Event>()
            + log.records.len() * 16
            + log.answers.len() * size_of::<(Answer, u32)>())
            >> 20
    );
    for _ in 0..3 {
        judge(&log);
    }
    Ok(())
}
