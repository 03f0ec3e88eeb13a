//! The stream against the judgement of the whole, over every history that the tests make.
//!
//! Whatever the stream passes the whole must pass; and it must pass most of what is correct, or it
//! would be of no use. Both ways into it (ops, and lines of JSON) must say the same.

use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::promise::{Acks, Promise};
use plimsoll_checkers::stream::{LogStream, StreamReader, Streamed};
use plimsoll_checkers::{Findings, Validity, check, judge};

use crate::model::Model;

fn lines(history: &History) -> Vec<u8> {
    let mut lines = Vec::new();
    if let Some(header) = history.header() {
        lines.extend(serde_json::to_vec(header).unwrap());
        lines.push(b'\n');
    }
    for op in history.ops() {
        op.write_json_line(&mut lines);
    }
    lines
}

fn streamed(history: &History) -> Streamed {
    let mut reader = StreamReader::new();
    for piece in lines(history).chunks(777) {
        reader.push_bytes(piece).unwrap();
    }
    let by_lines = reader.finish();
    let mut stream = LogStream::new(history.header().cloned());
    for op in history.ops() {
        stream.push(op).unwrap();
    }
    let by_ops = stream.finish();
    assert_eq!(by_lines.suspicions, by_ops.suspicions);
    assert_eq!(by_lines.measures, by_ops.measures);
    by_lines
}

/// Findings and doubts that the stream must not pass.
fn is_clean(findings: &Findings) -> bool {
    findings.findings.is_empty() && findings.doubts.is_empty()
}

fn compare(name: &str, history: &History) -> (bool, bool) {
    let findings = check(history);
    let streamed = streamed(history);
    let passed = streamed.suspicions.is_empty();
    let clean = is_clean(&findings);
    if passed {
        let sentences: Vec<_> = findings.findings.iter().map(|one| &one.sentence).collect();
        assert!(
            clean,
            "{name}: passed, but {sentences:?} {:?}",
            findings.doubts
        );
        let (whole, stream) = (&findings.measures, &streamed.measures);
        let of = |m: &plimsoll_checkers::Measures| {
            (
                [
                    m.attempted,
                    m.acked,
                    m.failed,
                    m.indeterminate,
                    m.unacknowledged,
                ],
                [
                    m.unacked_but_present,
                    m.late,
                    m.stale_reads,
                    m.reads,
                    m.faults,
                ],
                (m.missing_unacknowledged, m.settled),
            )
        };
        assert_eq!(of(whole), of(stream), "{name}");
        assert_eq!(
            findings.consistency.refutable_reads, streamed.refutable_reads,
            "{name}"
        );
        if streamed.level != plimsoll_checkers::models::Level::Unknown {
            assert_eq!(findings.consistency.level, streamed.level, "{name}");
        }
    }
    (passed, clean)
}

#[test]
fn what_the_stream_passes_the_whole_passes_and_it_passes_what_is_correct() {
    let (mut passed, mut clean) = (0, 0);
    let seeds = std::env::var("PLIMSOLL_ORACLE_CASES").map_or(100, |n| n.parse().unwrap_or(100));
    for seed in 0..seeds {
        for acks in [Acks::All, Acks::Leader] {
            for bug in [false, true] {
                let history = Model::new(seed, acks, bug).run(300);
                let name = format!("seed {seed} {acks:?} bug {bug}");
                let (one, other) = compare(&name, &history);
                passed += u32::from(one);
                clean += u32::from(other);
            }
        }
    }
    assert!(clean > 60, "only {clean} clean histories");
    assert_eq!(passed, clean, "the stream passes everything that is clean");
}

#[test]
fn no_golden_history_with_a_finding_passes_the_stream() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let mut reader = HistoryReader::new();
        reader.push_bytes(&std::fs::read(&path).unwrap()).unwrap();
        let history = reader.finish().unwrap();
        if history.header().is_some() {
            compare(&path.display().to_string(), &history);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn a_violation_is_told_while_the_run_goes_on() {
    let mut told = 0;
    for seed in 0..200 {
        let history = Model::new(seed, Acks::All, true).run(300);
        let promise = history.header().unwrap().promise.clone();
        if judge(check(&history), &promise).valid != Validity::Invalid {
            continue;
        }
        let mut stream = LogStream::new(history.header().cloned());
        let strict = Promise::unstated();
        for (count, op) in history.ops().iter().enumerate() {
            stream.push(op).unwrap();
            if stream.violation(&strict).is_some() {
                told += u32::from(count + 1 < history.ops().len());
                break;
            }
        }
    }
    assert!(told > 30, "told in {told} runs");
}
