//! What a finding is about, and ops in words that are cut to it: a read of a thousand records is
//! shown at the offset in question.

use std::io::{self, Write};

use plimsoll_checkers::history::{Mop, Op, OpType, Records, SendMop, Value, words};
use serde_json::Value as Json;

/// Records that are shown on either side of one in question.
const AROUND: usize = 2;
/// Records of one key that are shown at most.
const RECORDS: usize = 12;

/// The key, the offset and the values in question.
#[derive(Debug, Clone, Copy, Default)]
pub struct Focus<'a> {
    pub key: Option<&'a str>,
    pub offset: Option<i64>,
    pub values: &'a [i64],
}

impl Focus<'_> {
    /// Whether an op concerns the key in question; all do where there is none.
    pub fn touches(&self, op: &Op) -> bool {
        let Some(key) = self.key else { return true };
        let named = |json: &Json| match json {
            Json::String(text) => text == key,
            Json::Null => false,
            other => {
                let text = other.to_string();
                text == key
            }
        };
        match &op.value {
            Value::Other(Json::Array(parts)) if parts.first().is_some_and(named) => true,
            value => {
                value.sends().iter().any(|send| send.key == key)
                    || value
                        .polled()
                        .is_some_and(|records| records.contains_key(key))
                    || op.extra.get("key").is_some_and(named)
            }
        }
    }

    fn asks_for(&self, offset: i64, value: i64) -> bool {
        self.offset == Some(offset) || self.values.contains(&value)
    }
}

/// An op in a few words, for its bar: what was asked and what came of it.
pub fn label(invoke: &Op, completion: Option<&Op>, focus: Focus<'_>, chars: usize) -> String {
    let done = completion.filter(|op| op.kind == OpType::Ok);
    let text = match (&invoke.value, done.map(|op| &op.value)) {
        (Value::Send(sends), done) => {
            send_label(&invoke.f, done.map_or(sends, Value::sends), focus)
        }
        (Value::Poll(_), Some(Value::Poll(Some(records)))) => {
            format!("{} {}", invoke.f, poll_label(records, focus))
        }
        (Value::Poll(_), _) => invoke.f.clone(),
        (Value::Txn(asked), got) => match got {
            Some(Value::Txn(got)) => txn_label(got.mops(), focus),
            _ => txn_label(asked.mops(), focus),
        },
        (asked, got) => other_label(&invoke.f, asked, got, chars),
    };
    cut(&text, chars)
}

fn send_label(f: &str, sends: &[SendMop], focus: Focus<'_>) -> String {
    let in_question = |send: &&SendMop| {
        focus.key.is_none_or(|key| key == send.key) && focus.values.contains(&send.value)
    };
    let Some(send) = sends.iter().find(in_question).or(sends.first()) else {
        return f.to_owned();
    };
    let place = match (focus.key, send.offset) {
        (Some(key), _) if key != send.key => format!(" in {}", send.key),
        (_, Some(offset)) => format!(" at {offset}"),
        (_, None) => String::new(),
    };
    let more = match sends.len() {
        0 | 1 => String::new(),
        several => format!(" +{}", several - 1),
    };
    format!("{f} {}{place}{more}", words::shown(send.value))
}

fn poll_label(records: &Records, focus: Focus<'_>) -> String {
    let mut lists = records.iter();
    let own = lists.find(|(key, _)| focus.key.is_none_or(|wanted| wanted == *key));
    let Some((_, list)) = own else {
        let keys: Vec<&str> = records.keys().map(String::as_str).collect();
        return match keys.is_empty() {
            true => "nothing".to_owned(),
            false => format!("of {}", keys.join(", ")),
        };
    };
    list_label(list, focus)
}

/// The record in question as "offset: value", or the range that was read.
fn list_label(list: &[(i64, i64)], focus: Focus<'_>) -> String {
    let asked = list.iter().find(|(at, value)| focus.asks_for(*at, *value));
    let only = if list.len() == 1 { list.first() } else { None };
    match (asked.or(only), list.first(), list.last()) {
        (Some((at, value)), ..) => format!("{at}: {}", words::shown(*value)),
        (None, Some((first, _)), Some((last, _))) => format!("{first} to {last}"),
        _ => "nothing".to_owned(),
    }
}

/// A transaction as its micro-ops, each with its key.
fn txn_label(mops: &[Mop], focus: Focus<'_>) -> String {
    let one = |mop: &Mop| match mop {
        Mop::Send(send) => format!("send {} {}", send.key, words::shown(send.value)),
        Mop::Poll(None) => "poll".to_owned(),
        Mop::Poll(Some(records)) => {
            let lists = records.iter();
            let read = lists.map(|(key, list)| format!("{key} {}", list_label(list, focus)));
            format!("poll {}", read.collect::<Vec<_>>().join(", "))
        }
    };
    mops.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn other_label(f: &str, asked: &Value, got: Option<&Value>, chars: usize) -> String {
    let text = |value: &Value| match value {
        Value::None => None,
        value => Some(json_head(value, chars)),
    };
    match (text(asked), got.and_then(text)) {
        (Some(asked), Some(got)) if asked != got => format!("{f} {asked} \u{2192} {got}"),
        (_, Some(value)) | (Some(value), None) => format!("{f} {value}"),
        (None, None) => f.to_owned(),
    }
}

/// A value as it was recorded; long reads are cut to what is in question.
pub fn excerpt(value: &Value, focus: Focus<'_>, chars: usize) -> String {
    match value {
        Value::None => String::new(),
        Value::Poll(Some(records)) => cut(&records_in_question(records, focus), chars),
        value => json_head(value, chars),
    }
}

fn records_in_question(records: &Records, focus: Focus<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut others = 0;
    for (key, list) in records {
        match focus.key.is_none_or(|wanted| wanted == key) {
            true => parts.push(format!("{key}: {}", list_in_question(list, focus))),
            false => others += 1,
        }
    }
    if others > 0 {
        parts.push(format!("and {others} other keys"));
    }
    match parts.is_empty() {
        true => "nothing".to_owned(),
        false => parts.join("; "),
    }
}

fn list_in_question(list: &[(i64, i64)], focus: Focus<'_>) -> String {
    if list.is_empty() {
        return "nothing".to_owned();
    }
    let mut shown = vec![false; list.len()];
    for (position, (offset, value)) in list.iter().enumerate() {
        if focus.asks_for(*offset, *value) {
            show_around(&mut shown, position);
        }
    }
    // Where the offset in question is missing, its neighbours are the proof.
    if let Some(wanted) = focus.offset {
        let next = list.partition_point(|(offset, _)| *offset < wanted);
        show_around(&mut shown, next.min(list.len() - 1));
    }
    if shown.iter().all(|shown| !shown) {
        show_around(&mut shown, 0);
        show_around(&mut shown, list.len() - 1);
    }
    let mut text = String::new();
    let mut left_out = false;
    let mut written = 0;
    for ((offset, value), shown) in list.iter().zip(shown) {
        if !shown || written == RECORDS {
            left_out = true;
            continue;
        }
        if left_out {
            text.push_str("\u{2026} ");
        }
        left_out = false;
        written += 1;
        text.push_str(&format!("[{offset},{}] ", words::shown(*value)));
    }
    if left_out {
        text.push_str("\u{2026} ");
    }
    match list.len() > written {
        true => format!("{text}({} records)", list.len()),
        false => text.trim_end().to_owned(),
    }
}

fn show_around(shown: &mut [bool], at: usize) {
    let to = (at + AROUND + 1).min(shown.len());
    shown[at.saturating_sub(AROUND)..to].fill(true);
}

/// The beginning of a value's JSON. A read of a whole set has megabytes of it, of which no more is
/// written than is shown.
fn json_head(value: &Value, chars: usize) -> String {
    let mut head = Head {
        bytes: Vec::new(),
        most: 4 * chars + 4,
    };
    // It ends in an error exactly where there is more than is wanted.
    let _ = serde_json::to_writer(&mut head, value);
    cut(&String::from_utf8_lossy(&head.bytes), chars)
}

/// A writer that refuses to go on after its limit.
struct Head {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most - self.bytes.len();
        if room == 0 {
            return Err(io::Error::from(io::ErrorKind::WriteZero));
        }
        let written = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// At most so many characters, with a mark where something is missing.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some(_) => {
            let head: String = text.chars().take(chars.saturating_sub(1)).collect();
            format!("{head}\u{2026}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_read_is_shown_where_the_missing_record_should_be() {
        let list = (0..500).filter(|offset| *offset != 77).map(|at| (at, at));
        let value = Value::Poll(Some([("log-0".to_owned(), list.collect())].into()));
        let focus = Focus {
            key: Some("log-0"),
            offset: Some(77),
            values: &[1077],
        };
        let text = excerpt(&value, focus, 200);
        assert_eq!(
            text,
            "log-0: \u{2026} [75,75] [76,76] [78,78] [79,79] [80,80] \u{2026} (499 records)"
        );
    }

    #[test]
    fn of_a_huge_value_only_the_beginning_is_written() {
        let list = (0..1_000_000).map(Json::from).collect();
        let text = excerpt(&Value::Other(Json::Array(list)), Focus::default(), 12);
        assert_eq!(text, "[0,1,2,3,4,\u{2026}");
        let umlauts = Value::Other(Json::from("\u{e4}".repeat(100)));
        assert_eq!(
            excerpt(&umlauts, Focus::default(), 4),
            "\"\u{e4}\u{e4}\u{2026}"
        );
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("äöüß", 4), "äöüß");
        assert_eq!(cut("äöüß!", 4), "äöü\u{2026}");
    }
}
