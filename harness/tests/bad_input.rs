//! Histories that no recorder wrote, through the real program: an error with
//! line and reason and the exit code 64, in every format.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::process::Output;

use assert_cmd::Command;

fn check(bytes: &[u8], options: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    std::fs::write(&file, bytes).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("check").arg(file).args(options);
    command.output().unwrap()
}

fn refused(bytes: &[u8], line: u64, reason: &str, options: &[&str]) {
    let output = check(bytes, options);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
    assert_eq!(output.status.code(), Some(64), "{shown}: {text}");
    assert!(text.contains(&format!("line {line}:")), "{shown}: {text}");
    assert!(text.contains(reason), "{shown}: {text}");
    assert!(text.len() < 2000, "a message of {} bytes", text.len());
}

/// The same two ops in each format, and one op of another process.
struct Sample {
    good: &'static str,
    op: fn(process: &str, kind: &str, f: &str, value: &str, time: u64) -> String,
}

const SAMPLES: [Sample; 3] = [
    Sample {
        good: "{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":3,\"time\":5}\n{\"process\":0,\"type\":\"ok\",\"f\":\"write\",\"value\":3,\"time\":5}\n",
        op: |process, kind, f, value, time| {
            format!(
                "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value},\"time\":{time}}}\n"
            )
        },
    },
    Sample {
        good: "{:process 0, :type :invoke, :f :write, :value 3, :time 5}\n{:process 0, :type :ok, :f :write, :value 3, :time 5}\n",
        op: |process, kind, f, value, time| {
            format!(
                "{{:process {process}, :type :{kind}, :f :{f}, :value {value}, :time {time}}}\n"
            )
        },
    },
    Sample {
        good: "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:ok\t:write\t3\n",
        op: |process, kind, f, value, _| {
            format!("INFO  jepsen.util - {process}\t:{kind}\t:{f}\t{value}\n")
        },
    },
];

const REGISTER: [&str; 2] = ["--model", "register"];

#[test]
fn ops_that_no_recorder_can_have_seen_are_refused_in_every_format() {
    for sample in &SAMPLES {
        let op = |process, kind, f, value| (sample.op)(process, kind, f, value, 5);
        let cases = [
            ("nonsense\n".to_owned(), ""),
            (op("1", "ok", "write", "3"), "not begun"),
            (op("1", "begin", "write", "3"), "begin"),
            (op("0", "ok", "write", "3"), "not begun"),
            (op("-1", "invoke", "write", "3"), "process"),
            (
                op("99999999999999999999999", "invoke", "write", "3"),
                "process",
            ),
        ];
        for (bad, reason) in cases {
            let text = format!("{}{bad}{}", sample.good, op("7", "invoke", "write", "1"));
            refused(text.as_bytes(), 3, reason, &REGISTER);
        }
        let twice = op("1", "invoke", "write", "3");
        let text = format!("{}{twice}{twice}", sample.good);
        refused(text.as_bytes(), 4, "another of its ops is open", &REGISTER);
        let other = op("1", "ok", "read", "3");
        let text = format!("{}{twice}{other}", sample.good);
        refused(text.as_bytes(), 4, "completes \"read\"", &REGISTER);
    }
}

#[test]
fn times_that_go_backwards_are_refused() {
    for sample in &SAMPLES[..2] {
        let early = (sample.op)("1", "invoke", "write", "3", 4);
        let text = format!("{}{early}", sample.good);
        refused(text.as_bytes(), 3, "time 4 lies before", &REGISTER);
    }
}

#[test]
fn the_nemesis_needs_no_invocation() {
    for (sample, nemesis) in SAMPLES.iter().zip(["\"nemesis\"", ":nemesis", ":nemesis"]) {
        let fault = (sample.op)(nemesis, "info", "start", "1", 5);
        let text = format!("{}{fault}{fault}", sample.good);
        let output = check(text.as_bytes(), &REGISTER);
        assert_ne!(output.status.code(), Some(64), "{text}");
    }
}

#[test]
fn deep_nesting_is_refused_in_every_format() {
    for sample in &SAMPLES {
        for depth in [200, 100_000] {
            let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let bad = (sample.op)("1", "invoke", "write", &deep, 5);
            refused(format!("{}{bad}", sample.good).as_bytes(), 3, "", &REGISTER);
        }
    }
}

#[test]
fn a_line_of_ten_megabytes_is_refused_in_every_format() {
    for sample in &SAMPLES {
        let long = format!("\"{}\"", "x".repeat(10 << 20));
        let bad = (sample.op)("1", "invoke", "write", &long, 5);
        let text = format!("{}{bad}", sample.good);
        refused(text.as_bytes(), 3, "longer than", &REGISTER);
        let packed = zstd::stream::encode_all(text.as_bytes(), 1).unwrap();
        refused(&packed, 3, "longer than", &REGISTER);
    }
}

#[test]
fn a_torn_last_line_is_no_error_in_every_format() {
    for sample in &SAMPLES {
        let whole = (sample.op)("1", "invoke", "write", "[1 2]", 5);
        for length in 1..whole.trim_end().len() {
            let text = format!("{}{}", sample.good, &whole[..length]);
            let output = check(text.as_bytes(), &REGISTER);
            assert_ne!(output.status.code(), Some(64), "{text}");
        }
        let packed = zstd::stream::encode_all(sample.good.as_bytes(), 1).unwrap();
        let output = check(&packed[..packed.len() - 3], &REGISTER);
        assert_ne!(output.status.code(), Some(64));
    }
}

#[test]
fn a_torn_vector_is_refused_at_its_beginning() {
    let text = format!("; ops\n[{}", SAMPLES[1].good);
    refused(text.as_bytes(), 2, "does not end", &REGISTER);
}

#[test]
fn an_f_that_the_model_does_not_know_is_refused_in_every_format() {
    for sample in &SAMPLES {
        let odd = (sample.op)("1", "invoke", "frobnicate", "3", 5);
        let text = format!("{}{odd}", sample.good);
        refused(text.as_bytes(), 3, "frobnicate", &REGISTER);
    }
}
