//! Reads JSON lines into a [`History`] without touching a file.
//!
//! Memory is bounded: a line longer than a limit and a history that
//! would fill more than [`MAX_HISTORY_BYTES`] are errors. A torn last line is
//! forgiven (the recorder was killed while writing it); any other malformed
//! line is an error with its number.

use std::collections::BTreeSet;

use super::lines::Lines;
use super::op::Line;
use super::{Header, History, HistoryError, Op, OpType, Process, Value};

/// Largest history that is kept, as estimated from its ops.
pub const MAX_HISTORY_BYTES: u64 = 8 << 30;

/// A pure parser: bytes or lines go in, a validated history comes out.
#[derive(Debug, Default)]
pub struct HistoryReader {
    header: Option<Header>,
    ops: Vec<Op>,
    lines: Lines,
    bytes_kept: u64,
    only: Option<Only>,
}

/// The partitions that are kept, and processes whose open op touches one.
#[derive(Debug)]
struct Only {
    keys: BTreeSet<String>,
    open: BTreeSet<Process>,
}

impl Only {
    fn keeps(&mut self, op: &Op) -> bool {
        if op.process == Process::Nemesis {
            return true;
        }
        if op.kind != OpType::Invoke {
            return self.open.remove(&op.process);
        }
        let mut sends = op.value.sends().iter();
        let mut reads = op.reads.keys();
        let keeps = sends.any(|send| self.keys.contains(&send.key))
            || reads.any(|key| self.keys.contains(key))
            || (op.value.polls() && op.reads.is_empty());
        if keeps {
            self.open.insert(op.process);
        }
        keeps
    }
}

impl HistoryReader {
    /// A reader that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader that keeps only ops which touch these partitions.
    pub fn only(keys: impl IntoIterator<Item = String>) -> Self {
        Self {
            only: Some(Only {
                keys: keys.into_iter().collect(),
                open: BTreeSet::new(),
            }),
            ..Self::default()
        }
    }

    /// Takes bytes as they come; lines may span calls.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        let mut lines = std::mem::take(&mut self.lines);
        let read = lines.push_bytes(bytes, |number, line| self.read_line(number, line));
        self.lines = lines;
        read
    }

    /// Takes one whole line, with or without its newline. Blank lines may only
    /// end a history.
    pub fn push_line(&mut self, line: &[u8]) -> Result<(), HistoryError> {
        let mut lines = std::mem::take(&mut self.lines);
        let read = lines.push_line(line, &mut |number, line: &[u8]| {
            self.read_line(number, line)
        });
        self.lines = lines;
        read
    }

    /// Ends the history. What is left without a newline is read when it is a
    /// whole line and dropped when it is torn.
    pub fn finish(mut self) -> Result<History, HistoryError> {
        let rest = self.lines.take_rest();
        if !rest.is_empty() {
            let _torn = self.push_line(&rest);
        }
        History::new(self.header, self.ops)
    }

    fn read_line(&mut self, number: u64, line: &[u8]) -> Result<(), HistoryError> {
        let text = std::str::from_utf8(line)
            .map_err(|error| HistoryError::new(number, format!("not UTF-8: {error}")))?;
        if self.ops.is_empty() && self.header.is_none() && looks_like_header(text) {
            self.header = Some(read_header(number, text)?);
            return Ok(());
        }
        let previous = self.ops.last().map(|op| (op.index, op.time));
        let op = read_op(number, text, previous)?;
        if self.only.as_mut().is_some_and(|only| !only.keeps(&op)) {
            return Ok(());
        }
        self.bytes_kept += estimated_size(&op);
        if self.bytes_kept > MAX_HISTORY_BYTES {
            return Err(HistoryError::new(
                number,
                format!(
                    "the history needs more than {MAX_HISTORY_BYTES} bytes of memory; split it by partition"
                ),
            ));
        }
        self.ops.push(op);
        Ok(())
    }
}

/// Reads a header's line.
pub(crate) fn read_header(number: u64, text: &str) -> Result<Header, HistoryError> {
    let header: Header = serde_json::from_str(text)
        .map_err(|error| HistoryError::new(number, format!("malformed header: {error}")))?;
    if header.plimsoll == 1 {
        return Ok(header);
    }
    Err(HistoryError::new(
        number,
        format!("format version {} is not known, only 1", header.plimsoll),
    ))
}

/// Reads an op's line; index and time may be left to those of the op before.
pub(crate) fn read_op(
    number: u64,
    text: &str,
    previous: Option<(u64, u64)>,
) -> Result<Op, HistoryError> {
    let line: Line = serde_json::from_str(text)
        .map_err(|error| HistoryError::new(number, format!("malformed op: {error}")))?;
    let mut op = line.op;
    op.index = line
        .index
        .unwrap_or_else(|| previous.map_or(0, |(index, _)| index.saturating_add(1)));
    op.time = line
        .time
        .unwrap_or_else(|| previous.map_or(0, |(_, time)| time));
    Ok(op)
}

/// The header is the only line with this field.
pub(crate) fn looks_like_header(text: &str) -> bool {
    text.get(..256.min(text.len()))
        .unwrap_or(text)
        .contains("\"plimsoll\"")
}

fn estimated_size(op: &Op) -> u64 {
    let payload = match &op.value {
        Value::None => 0,
        Value::Send(mops) => mops.iter().map(|mop| 48 + mop.key.len()).sum(),
        Value::Poll(None) => 0,
        Value::Poll(Some(records)) => records
            .iter()
            .map(|(key, list)| 96 + key.len() + 16 * list.len())
            .sum(),
        Value::Txn(_) => {
            // Micro-ops are kept twice: in their order, and by kind.
            let sends = op.value.sends().iter().map(|mop| 48 + mop.key.len());
            let polled = op.value.polled().into_iter().flatten();
            let records = polled.map(|(key, list)| 96 + key.len() + 16 * list.len());
            2 * (sends.sum::<usize>() + records.sum::<usize>())
        }
        Value::Other(value) => estimated_json_size(value),
    };
    let reads = 160 * op.reads.len();
    let attempts = 96 * op.attempts.as_ref().map_or(0, Vec::len);
    let extra: usize = op.extra.values().map(estimated_json_size).sum();
    (size_of::<Op>() + op.f.len() + payload + reads + attempts + extra) as u64
}

fn estimated_json_size(value: &serde_json::Value) -> usize {
    use serde_json::Value as Json;
    let inner: usize = match value {
        Json::String(text) => text.len(),
        Json::Array(list) => list.iter().map(estimated_json_size).sum(),
        Json::Object(map) => map
            .iter()
            .map(|(name, value)| 48 + name.len() + estimated_json_size(value))
            .sum(),
        _ => 0,
    };
    size_of::<Json>() + inner
}
