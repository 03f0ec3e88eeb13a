//! What a person and a script get to see of a register, a queue, a set and so
//! on: the verdict in a sentence, the numbers, and each anomaly with its ops.

use plimsoll_checkers::Validity;
use plimsoll_checkers::history::{History, Op, OpType};
use plimsoll_checkers::models::{Anomaly, Level, ModelVerdict};
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Modify, Style};

use super::numbers::{count, counted};
use super::terminal::{fitted, wrapped};

/// How many anomalies are shown, and how many ops of each; the JSON has the rest.
const SHOWN: usize = 5;
const OPS_SHOWN: usize = 12;
/// How much of a value is shown.
const VALUE_CHARS: usize = 56;

/// The verdict as one object, without a newline.
pub fn object_json(verdict: &ModelVerdict) -> String {
    serde_json::to_string_pretty(verdict).unwrap_or_else(|error| {
        // Plain data with string keys always serializes, as for a log.
        serde_json::json!({"valid": "unknown", "reason": error.to_string()}).to_string()
    })
}

/// The whole report as text that ends with a newline.
pub fn object(history: &History, verdict: &ModelVerdict, colour: bool) -> String {
    let mut text = first_line(verdict, colour);
    text.push_str(&numbers(history, verdict));
    for anomaly in verdict.anomalies.iter().take(SHOWN) {
        text.push_str(&shown(history, anomaly));
    }
    if let Some(more) = verdict
        .anomalies
        .len()
        .checked_sub(SHOWN)
        .filter(|more| *more > 0)
    {
        let more = count(more as u64);
        text.push_str(&format!("\n{more} more; --format json has all of them.\n"));
    }
    text
}

fn first_line(verdict: &ModelVerdict, colour: bool) -> String {
    let (tag, on) = match verdict.valid {
        Validity::Valid => ("VALID", "\x1b[1;32m"),
        Validity::Invalid => ("INVALID", "\x1b[1;31m"),
        Validity::Unknown => ("UNKNOWN", "\x1b[1;33m"),
    };
    let (on, off) = match colour {
        true => (on, "\x1b[0m"),
        false => ("", ""),
    };
    let line = wrapped(&format!("{tag}: {}", sentence(verdict)), "");
    format!("{on}{tag}{off}{}", line.trim_start_matches(tag))
}

/// The verdict in words.
pub(super) fn sentence(verdict: &ModelVerdict) -> String {
    let model = verdict.model.name();
    match verdict.valid {
        Validity::Valid => format!("judged as {model}, nothing is wrong."),
        Validity::Invalid => {
            let kinds: Vec<String> = verdict
                .anomaly_counts
                .iter()
                .map(|(name, number)| format!("{name} ({})", count(*number)))
                .collect();
            format!(
                "no correct {model} behaves like this: {}.",
                kinds.join(", ")
            )
        }
        Validity::Unknown => {
            let reason = verdict.reason.as_deref().unwrap_or("no reason is known");
            format!("judged as {model}, it cannot be told: {reason}.")
        }
    }
}

fn numbers(history: &History, verdict: &ModelVerdict) -> String {
    let numbers = named_numbers(history, verdict).into_iter();
    let rows: Vec<Vec<String>> = numbers.map(|(name, number)| vec![name, number]).collect();
    let mut table = fitted(&rows);
    table
        .with(Style::rounded().remove_horizontals())
        .with(Modify::new(Columns::one(1)).with(Alignment::right()));
    format!("\n{table}\n")
}

/// The numbers of a verdict with their names, as they are shown.
pub(super) fn named_numbers(history: &History, verdict: &ModelVerdict) -> Vec<(String, String)> {
    let ended = |kind| history.ops().iter().filter(|op| op.kind == kind).count() as u64;
    let mut numbers = vec![
        ("operations".to_owned(), count(ended(OpType::Invoke))),
        ("ended ok".to_owned(), count(ended(OpType::Ok))),
    ];
    if verdict.level != Level::Unknown
        && let Ok(serde_json::Value::String(level)) = serde_json::to_value(&verdict.level)
    {
        numbers.push(("strongest level not refuted".to_owned(), level));
        let reads = count(verdict.refutable_reads);
        numbers.push(("reads that could refute it".to_owned(), reads));
    }
    for (name, number) in &verdict.counts {
        let name = name.trim_end_matches("_count").replace('_', " ");
        numbers.push((name, count(*number)));
    }
    numbers
}

fn shown(history: &History, anomaly: &Anomaly) -> String {
    let key = match &anomaly.key {
        Some(key) => format!(" of key {key}"),
        None => String::new(),
    };
    let line = format!("{}{key}: {}", anomaly.kind, anomaly.message);
    let mut text = format!("\n{}", wrapped(&line, ""));
    if anomaly.ops.is_empty() {
        return text;
    }
    let head = ["index", "line", "process", "type", "f", "value"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for index in anomaly.ops.iter().take(OPS_SHOWN) {
        let found = history.ops().binary_search_by_key(index, |op| op.index);
        if let Ok(position) = found {
            let op = &history.ops()[position];
            rows.push(columns(op, history.line_of(position)).to_vec());
        }
    }
    let mut table = fitted(&rows);
    table
        .with(Style::rounded())
        .with(Modify::new(Columns::new(..3)).with(Alignment::right()));
    text.push_str(&format!("{table}\n"));
    if anomaly.ops.len() > OPS_SHOWN {
        let more = (anomaly.ops.len() - OPS_SHOWN) as u64;
        text.push_str(&format!("and {}.\n", counted(more, "further op")));
    }
    text
}

fn columns(op: &Op, line: u64) -> [String; 6] {
    let kind = match op.kind {
        OpType::Invoke => "invoke",
        OpType::Ok => "ok",
        OpType::Fail => "fail",
        OpType::Info => "info",
    };
    let value = serde_json::to_string(&op.value).unwrap_or_default();
    let value = match value.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}...", &value[..end]),
        None => value,
    };
    [
        op.index.to_string(),
        line.to_string(),
        op.process.to_string(),
        kind.to_owned(),
        op.f.clone(),
        value,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_checkers::formats;
    use plimsoll_checkers::models::Model;

    fn history() -> History {
        let text = "{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
{:process 1, :type :invoke, :f :read, :value nil}
{:process 1, :type :ok, :f :read, :value 4}";
        formats::read(text.as_bytes()).expect("a history")
    }

    fn verdict(valid: Validity) -> ModelVerdict {
        let anomaly = Anomaly {
            kind: "nonlinearizable",
            key: Some("x".to_owned()),
            ops: vec![1, 3],
            time_ns: 0,
            message: "4 was read, which nobody wrote ".repeat(6),
            details: [].into(),
        };
        ModelVerdict {
            valid,
            reason: (valid == Validity::Unknown).then(|| "the budget ran out".to_owned()),
            model: Model::Register,
            level: Level::Sessions(vec!["monotonic-reads"]),
            refutable_reads: 1,
            anomaly_counts: [("nonlinearizable", 7)].into(),
            anomalies: vec![anomaly; 7],
            counts: [("never_read_count", 12_345)].into(),
            details: [].into(),
        }
    }

    #[test]
    fn the_verdict_comes_first_then_the_numbers_then_the_ops() {
        let text = object(&history(), &verdict(Validity::Invalid), false);
        let first = text.lines().next().expect("a line");
        assert!(
            first.starts_with("INVALID: ") && first.contains("(7)"),
            "{text}"
        );
        for part in [
            "12,345",
            "never read",
            "monotonic-reads",
            "of key x",
            "2 more;",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let mut rows = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = [
            "│", "3", "│", "4", "│", "1", "│", "ok", "│", "read", "│", "4", "│",
        ];
        assert!(rows.any(|words| words == row), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn an_unknown_verdict_says_why_in_its_first_line() {
        let text = object(&history(), &verdict(Validity::Unknown), true);
        let first = text.lines().next().expect("a line");
        assert!(first.contains("the budget ran out"), "{text}");
        assert!(first.starts_with("\x1b[1;33mUNKNOWN\x1b[0m: "), "{text}");
    }

    #[test]
    fn the_json_has_every_field_of_the_verdict() {
        let json = object_json(&verdict(Validity::Invalid));
        let json: serde_json::Value = serde_json::from_str(&json).expect("one object");
        assert_eq!(json["valid"], false);
        assert_eq!(json["level"], "monotonic-reads");
        assert_eq!(json["anomalies"][0]["ops"], serde_json::json!([1, 3]));
        assert_eq!(json["counts"]["never_read_count"], 12_345);
    }
}
