//! The objects' side of the benchmarks.
//!
//! `linearize generate FOLDER` writes the made histories; `linearize WORK FILE...` judges files and
//! prints one line of JSON: the sum of the files' median seconds, the peak memory, the verdicts.
//! Parsing is not timed. `benchmarks/run.sh` runs it beside another checker.

mod generate;
mod histories;
mod registers;

use std::time::Instant;

use plimsoll_checkers::check;
use plimsoll_checkers::history::{Header, TopicInfo};
use plimsoll_checkers::models::{Level, Model, ModelOptions, judge_model};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::search::register::{Decision, Meter, Unique, decide, unique};
use plimsoll_checkers::stream::{Kind, LogStream};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["generate", folder] => generate::all(folder),
        ["register", files @ ..] => judge(files, |text| {
            let (ops, initial) = registers::parse(text);
            move || match unique(&ops, initial) {
                Unique::Repeated => {
                    let mut meter = Meter::new(1 << 40, 1 << 33);
                    decide(&ops, initial, &mut meter) == Decision::Linearizable
                }
                found => matches!(found, Unique::Linearizable(_)),
            }
        }),
        ["register-explained", files @ ..] => judge(files, |text| {
            let history = histories::stored(text);
            move || valid(&history, Model::CasRegister)
        }),
        ["kv" | "kv-explained", files @ ..] => judge(files, |text| {
            let history = histories::stored(text);
            move || valid(&history, Model::Kv)
        }),
        ["log", files @ ..] => judge(files, |text| {
            let history = histories::log(text);
            move || check(&history).findings.is_empty()
        }),
        ["log-stream", files @ ..] => judge(files, |text| {
            let log = histories::log_events(text);
            move || streamed(&log)
        }),
        _ => {
            eprintln!(
                "usage: linearize generate FOLDER | linearize register|register-explained|kv|kv-explained|log|log-stream FILE..."
            );
            std::process::exit(64);
        }
    }
}

/// Every condition of a log, and linearizability.
fn streamed(log: &histories::Events) -> bool {
    let topic = TopicInfo {
        replication_factor: 1,
        ..TopicInfo::default()
    };
    let header = Header {
        plimsoll: 1,
        promise: Promise::unstated(),
        topics: [("log-0".to_owned(), topic)].into(),
        clients: Default::default(),
        system: String::new(),
        seed: 0,
        extra: Default::default(),
    };
    let mut stream = LogStream::new(Some(header));
    stream.partition("log-0");
    let (mut answers, mut records) = (log.answers.iter(), &log.records[..]);
    for (index, event) in (0_u64..).zip(&log.events) {
        if event.kind == Kind::ReadOk {
            let (answer, count) = answers.next().expect("one a read");
            let (shown, rest) = records.split_at(*count as usize);
            records = rest;
            stream
                .step_read(event, index, answer, shown)
                .expect("well-formed");
        } else {
            stream.step(event, index).expect("well-formed");
        }
    }
    let streamed = stream.finish();
    streamed.suspicions.is_empty() && streamed.level == Level::Linearizable
}

fn valid(history: &plimsoll_checkers::history::History, model: Model) -> bool {
    let verdict = judge_model(history, model, &ModelOptions::default()).expect("a history of its");
    assert_ne!(
        verdict.valid,
        plimsoll_checkers::Validity::Unknown,
        "{:?}",
        verdict.reason
    );
    verdict.valid == plimsoll_checkers::Validity::Valid
}

/// The median of as many runs as fit into half a second, at least one.
fn judge<F: Fn() -> bool>(files: &[&str], prepare: impl Fn(&str) -> F) {
    let mut seconds = 0.0;
    let mut verdicts = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a file that can be read");
        let run = prepare(&text);
        let mut times = Vec::new();
        let mut verdict = false;
        let begun = Instant::now();
        while times.is_empty() || (times.len() < 101 && begun.elapsed().as_secs_f64() < 0.5) {
            let begun = Instant::now();
            verdict = run();
            times.push(begun.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        seconds += times[times.len() / 2];
        verdicts.push(if verdict { "Ok" } else { "Illegal" });
    }
    let peak_mb = peak_mb();
    println!("{{\"seconds\":{seconds},\"peak_mb\":{peak_mb},\"verdicts\":{verdicts:?}}}");
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1024.0
}
