//! Histories that no recorder wrote: whatever the bytes, an error or a verdict,
//! never a panic.

use std::path::Path;

use plimsoll_checkers::history::HistoryReader;
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{check, judge};

/// The same numbers everywhere, for ever.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.max(1) as u64) as usize
    }
}

/// Numbers at which arithmetic goes wrong.
const NUMBERS: [&str; 8] = [
    "-9223372036854775808",
    "9223372036854775807",
    "18446744073709551615",
    "-1",
    "0",
    "4294967295",
    "1e308",
    "99999999999999999999999999",
];

fn judged(bytes: &[u8]) -> bool {
    let mut reader = HistoryReader::new();
    if reader.push_bytes(bytes).is_err() {
        return false;
    }
    let Ok(history) = reader.finish() else {
        return false;
    };
    let promise = history
        .header()
        .map_or_else(Promise::unstated, |header| header.promise.clone());
    let verdict = judge(check(&history), &promise);
    serde_json::to_string(&verdict).is_ok()
}

/// Puts a nasty number in place of one that stands there.
fn with_number(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let begin = chance.below(text.len());
    let Some(at) = text[begin..].iter().position(u8::is_ascii_digit) else {
        return text.to_vec();
    };
    let at = begin + at;
    let length = text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let number = NUMBERS[chance.below(NUMBERS.len())];
    [&text[..at], number.as_bytes(), &text[at + length..]].concat()
}

/// Drops, repeats or swaps a line.
fn with_lines_moved(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    match chance.below(3) {
        0 => _ = lines.remove(one),
        1 => lines.insert(one, lines[other]),
        _ => lines.swap(one, other),
    }
    lines.concat()
}

#[test]
fn mutated_histories_end_in_an_error_or_a_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut chance = Chance(7);
    let (mut verdicts, mut errors) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let original = std::fs::read(&path).unwrap();
        for _ in 0..40 {
            let mut text = original.clone();
            for _ in 0..1 + chance.below(3) {
                text = match chance.below(4) {
                    0 => with_lines_moved(&text, &mut chance),
                    1 => {
                        let at = chance.below(text.len());
                        text[at] = chance.below(256) as u8;
                        text
                    }
                    _ => with_number(&text, &mut chance),
                };
            }
            match judged(&text) {
                true => verdicts += 1,
                false => errors += 1,
            }
        }
    }
    assert!(
        verdicts > 500 && errors > 500,
        "{verdicts} verdicts, {errors} errors"
    );
}
