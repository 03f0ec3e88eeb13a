//! Mutates a kept corpus and holds a reader to what it promises: no panic, a
//! history that is the same wherever its bytes were cut, and that is the same
//! after it was written and read again.
//!
//! Chance is seeded; a run of so many rounds is the same everywhere. An input
//! whose outcome was not seen before is kept for further mutation.

pub mod chance;
pub mod mutate;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use chance::Chance;
use plimsoll_checkers::check;
use plimsoll_checkers::formats::{self, Format, FormatReader, edn};
use plimsoll_checkers::history::{History, HistoryError};
use plimsoll_checkers::stream::{LogStream, StreamReader};

/// Largest input; long lines have tests of their own.
const MAX_INPUT: usize = 1 << 14;
/// Inputs that are held for mutation at most.
const MAX_POOL: usize = 5_000;

/// The readers, each with its folder in `tests/corpus`.
pub const READERS: [(&str, Format); 4] = [
    ("jsonl", Format::JsonLines),
    ("edn", Format::Edn),
    ("kv", Format::Edn),
    ("etcd", Format::EtcdLog),
];

/// One reader under test.
pub struct Fuzz {
    format: Format,
    pool: Vec<Vec<u8>>,
    seen: BTreeSet<String>,
    chance: Chance,
}

impl Fuzz {
    /// Begins with the files in `folder`, which all keep the promises.
    pub fn new(format: Format, folder: &Path, seed: u64) -> Self {
        let mut fuzz = Self {
            format,
            pool: Vec::new(),
            seen: BTreeSet::new(),
            chance: Chance::new(seed),
        };
        let entries = std::fs::read_dir(folder).expect("a folder of the corpus");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        for path in paths {
            let bytes = std::fs::read(path).expect("a file of the corpus");
            let outcome = outcome(format, &bytes, &mut fuzz.chance);
            fuzz.seen.insert(outcome);
            fuzz.pool.push(bytes);
        }
        assert!(!fuzz.pool.is_empty(), "an empty corpus");
        fuzz
    }

    /// One mutation; the input where its outcome is a new one.
    pub fn round(&mut self) -> Option<Vec<u8>> {
        let mut input = self.pool[self.chance.below(self.pool.len())].clone();
        let other = &self.pool[self.chance.below(self.pool.len())];
        for _ in 0..=self.chance.below(4) {
            input = mutate::mutate(&input, other, &mut self.chance);
            input.truncate(MAX_INPUT);
        }
        let chance = &mut self.chance;
        let judged = catch_unwind(AssertUnwindSafe(|| outcome(self.format, &input, chance)));
        let outcome = judged.unwrap_or_else(|panic| {
            let path = std::env::temp_dir().join("plimsoll-fuzz-failure");
            let saved = std::fs::write(&path, &input);
            eprintln!("the input is in {} ({saved:?})", path.display());
            resume_unwind(panic)
        });
        if !self.seen.insert(outcome) || self.pool.len() >= MAX_POOL {
            return None;
        }
        self.pool.push(input.clone());
        Some(input)
    }
}

/// What a reader made of `bytes`, in a form in which numbers are left out.
/// Panics where a promise is broken.
fn outcome(format: Format, bytes: &[u8], chance: &mut Chance) -> String {
    let whole = read(format, [bytes]);
    let middle = chance.below(bytes.len() + 1);
    let cut = read(format, [&bytes[..middle], &bytes[middle..]]);
    // What another format makes of it must be an end, too.
    let _any = formats::read(bytes);
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => {
            same(&whole, &cut, "cut");
            write_and_read(&whole);
            if format == Format::JsonLines {
                stream(bytes, &whole);
            }
            let has = |part: bool, name: &'static str| if part { name } else { "" };
            let ops = whole.ops();
            format!(
                "{} ops {}{}{}",
                ops.len().next_power_of_two(),
                has(whole.header().is_some(), "header "),
                has(ops.iter().any(|op| !op.extra.is_empty()), "extra "),
                has(ops.iter().any(|op| op.error.is_some()), "error "),
            )
        }
        (Err(whole), Err(cut)) => {
            assert_eq!(whole, cut, "the cut at {middle} shows");
            kind_of(&whole.reason)
        }
        (whole, cut) => panic!("whole {:?}, cut {:?}", whole.err(), cut.err()),
    }
}

/// A stream over the bytes, most lines of which are scanned in place, and one over the ops say the
/// same; and it passes nothing in which the whole finds something.
fn stream(bytes: &[u8], whole: &History) {
    let mut lines = StreamReader::new();
    let by_lines = match lines.push_bytes(bytes) {
        Ok(()) => lines.finish(),
        // Rules of foreign recorders that our own never needs.
        Err(_) => return,
    };
    let mut ops = LogStream::new(whole.header().cloned());
    if whole.header().is_some() {
        for op in whole.ops() {
            ops.push(op).expect("what the lines passed");
        }
        let by_ops = ops.finish();
        assert_eq!(by_lines.suspicions, by_ops.suspicions);
        assert_eq!(by_lines.measures, by_ops.measures);
    }
    if by_lines.suspicions.is_empty() {
        let findings = check(whole);
        assert!(findings.findings.is_empty(), "{:?}", findings.findings);
        assert!(findings.doubts.is_empty(), "{:?}", findings.doubts);
    }
}

/// How a reason begins and ends, without what it quotes from the input.
fn kind_of(reason: &str) -> String {
    let quotes = ['"', '`'];
    let before = reason.split(quotes).next().unwrap_or(reason);
    let after = match reason.ends_with("...") {
        true => "",
        false => reason.rsplit(quotes).next().unwrap_or(""),
    };
    let begins = before.split(' ').take(3);
    let ends = after.rsplit(' ').take(2);
    let letters = begins.chain(ends).flat_map(str::chars);
    letters.filter(char::is_ascii_alphabetic).take(48).collect()
}

fn read<const N: usize>(format: Format, pieces: [&[u8]; N]) -> Result<History, HistoryError> {
    let mut reader = FormatReader::new(format);
    for piece in pieces {
        reader.push_bytes(piece)?;
    }
    reader.finish()
}

fn write_and_read(history: &History) {
    let mut json = Vec::new();
    let mut text = String::new();
    if let Some(header) = history.header() {
        json.extend(serde_json::to_vec(header).expect("a header"));
        json.push(b'\n');
        edn::write_header(header, &mut text);
    }
    for op in history.ops() {
        op.write_json_line(&mut json);
        edn::write_op(op, &mut text);
    }
    let again = read(Format::JsonLines, [&json]);
    same(history, &again.expect("our own JSON lines"), "JSON lines");
    let again = read(Format::Edn, [text.as_bytes()]);
    same(history, &again.expect("our own EDN"), "EDN");
}

fn same(history: &History, again: &History, way: &str) {
    assert_eq!(history.header(), again.header(), "{way}");
    assert_eq!(history.ops(), again.ops(), "{way}");
}
