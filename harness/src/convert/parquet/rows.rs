//! The rows of one group, column by column.

use std::io::{self, Write};

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use plimsoll_checkers::history::{History, Mop, Op, OpType, Process, Value, words};
use serde::Serialize;

use super::columns::Column;

type Text = Column<ByteArray>;
type Number = Column<i64>;

/// How much of the path to an entry of `records` is there: no list, a list without entries, an
/// entry, and an entry with a value in an optional field.
const NO_LIST: i16 = 0;
const EMPTY: i16 = 1;
const ENTRY: i16 = 2;
const FIELD: i16 = 3;

/// One column each, in the order of the schema.
#[derive(Default)]
pub(super) struct Rows {
    index: Number,
    time_ns: Number,
    process: Number,
    kind: Text,
    f: Text,
    key: Text,
    offset: Number,
    sent: Number,
    value: Text,
    records: Records,
    outcome: Text,
    duration_ns: Number,
    other_index: Number,
    error: Text,
    node: Text,
    client: Text,
    acks: Column<i32>,
    reads: Text,
    attempts: Text,
    extra: Text,
    text_bytes: usize,
}

/// The leaves of `records`.
#[derive(Default)]
struct Records {
    mop: Text,
    key: Text,
    offset: Number,
    value: Number,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Bytes of JSON and of records, which make up nearly all that a group holds.
    pub(super) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    pub(super) fn push(&mut self, history: &History, position: usize) -> io::Result<()> {
        let op = &history.ops()[position];
        let other = history.partner(position).map(|other| &history.ops()[other]);
        self.index.push(signed("index", op.index)?);
        self.time_ns.push(signed("time", op.time)?);
        self.process.push_optional(match op.process {
            Process::Client(number) => Some(signed("process", number)?),
            Process::Nemesis => None,
        });
        self.kind.push(text(name(op.kind)));
        self.f.push(text(&op.f));
        self.push_place(op);
        self.push_records(&op.value);
        self.push_ends(op, other)?;
        self.error.push_optional(op.error.as_deref().map(text));
        self.node.push_optional(op.node.as_deref().map(text));
        self.client.push_optional(op.client.as_deref().map(text));
        self.acks.push_optional(op.acks.map(i32::from));
        let json = [
            json(&op.reads, op.reads.is_empty())?,
            json(&op.attempts, op.attempts.is_none())?,
            json(&op.extra, op.extra.is_empty())?,
            json(&op.value, op.value == Value::None)?,
        ];
        let lengths = json.iter().flatten().map(ByteArray::len);
        self.text_bytes += lengths.sum::<usize>();
        let [reads, attempts, extra, value] = json;
        self.reads.push_optional(reads);
        self.attempts.push_optional(attempts);
        self.extra.push_optional(extra);
        self.value.push_optional(value);
        Ok(())
    }

    /// Key, offset and value of an op that concerns one.
    fn push_place(&mut self, op: &Op) {
        let named = op.extra.get("key").map(|key| match key {
            serde_json::Value::String(key) => key.clone(),
            other => other.to_string(),
        });
        let polled = op.value.polled().filter(|records| records.len() == 1);
        let polled = polled.and_then(|records| records.keys().next().cloned());
        let (key, offset, sent) = match (op.value.sends(), polled) {
            ([send], None) => (Some(send.key.clone()), send.offset, number(send.value)),
            ([], polled) => (polled.or(named), None, None),
            _ => (None, None, None),
        };
        self.key.push_optional(key.as_deref().map(text));
        self.offset.push_optional(offset);
        self.sent.push_optional(sent);
    }

    fn push_records(&mut self, value: &Value) {
        let mut entries = 0;
        match value {
            Value::Send(sends) => {
                for send in sends {
                    let record = (send.offset, send.value);
                    entries = self.records.push("send", &send.key, record, entries);
                }
            }
            Value::Poll(Some(polled)) => entries = self.records.push_polled(polled, entries),
            Value::Txn(txn) => {
                for mop in txn.mops() {
                    entries = match mop {
                        Mop::Send(send) => {
                            let record = (send.offset, send.value);
                            self.records.push("send", &send.key, record, entries)
                        }
                        Mop::Poll(Some(polled)) => self.records.push_polled(polled, entries),
                        Mop::Poll(None) => entries,
                    };
                }
            }
            Value::Poll(None) | Value::None | Value::Other(_) => {
                self.records.push_none(NO_LIST);
                return;
            }
        }
        if entries == 0 {
            self.records.push_none(EMPTY);
        }
        self.text_bytes += entries * size_of::<(ByteArray, ByteArray, i64, i64)>();
    }

    /// The other end of the op, on both of its rows, so that either tells the whole story.
    fn push_ends(&mut self, op: &Op, other: Option<&Op>) -> io::Result<()> {
        let outcome = match (op.process, op.kind) {
            (Process::Nemesis, _) => None,
            (_, OpType::Invoke) => other.map(|completion| completion.kind),
            (_, kind) => Some(kind),
        };
        self.outcome
            .push_optional(outcome.map(|kind| text(name(kind))));
        let lasted = other.map(|other| other.time.abs_diff(op.time));
        let lasted = lasted
            .map(|lasted| signed("duration", lasted))
            .transpose()?;
        self.duration_ns.push_optional(lasted);
        let index = other.map(|other| signed("index", other.index));
        self.other_index.push_optional(index.transpose()?);
        Ok(())
    }

    /// Writes all columns, in the order of the schema.
    pub(super) fn write<W: Write + Send>(
        self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        self.index.write::<Int64Type, W>(group)?;
        self.time_ns.write::<Int64Type, W>(group)?;
        self.process.write::<Int64Type, W>(group)?;
        self.kind.write::<ByteArrayType, W>(group)?;
        self.f.write::<ByteArrayType, W>(group)?;
        self.key.write::<ByteArrayType, W>(group)?;
        self.offset.write::<Int64Type, W>(group)?;
        self.sent.write::<Int64Type, W>(group)?;
        self.value.write::<ByteArrayType, W>(group)?;
        self.records.mop.write::<ByteArrayType, W>(group)?;
        self.records.key.write::<ByteArrayType, W>(group)?;
        self.records.offset.write::<Int64Type, W>(group)?;
        self.records.value.write::<Int64Type, W>(group)?;
        self.outcome.write::<ByteArrayType, W>(group)?;
        self.duration_ns.write::<Int64Type, W>(group)?;
        self.other_index.write::<Int64Type, W>(group)?;
        self.error.write::<ByteArrayType, W>(group)?;
        self.node.write::<ByteArrayType, W>(group)?;
        self.client.write::<ByteArrayType, W>(group)?;
        self.acks.write::<Int32Type, W>(group)?;
        self.reads.write::<ByteArrayType, W>(group)?;
        self.attempts.write::<ByteArrayType, W>(group)?;
        self.extra.write::<ByteArrayType, W>(group)
    }
}

impl Records {
    /// Adds a record as the row's entry after `entries` others, and says how many there are now.
    fn push(&mut self, mop: &str, key: &str, record: (Option<i64>, i64), entries: usize) -> usize {
        let repetition = i16::from(entries > 0);
        let (offset, value) = (record.0, number(record.1));
        let level = |there: bool| if there { FIELD } else { ENTRY };
        self.mop.push_entry(Some(text(mop)), ENTRY, repetition);
        self.key.push_entry(Some(text(key)), ENTRY, repetition);
        self.offset
            .push_entry(offset, level(offset.is_some()), repetition);
        self.value
            .push_entry(value, level(value.is_some()), repetition);
        entries + 1
    }

    fn push_polled(
        &mut self,
        polled: &plimsoll_checkers::history::Records,
        mut entries: usize,
    ) -> usize {
        for (key, list) in polled {
            for (offset, value) in list {
                entries = self.push("poll", key, (Some(*offset), *value), entries);
            }
        }
        entries
    }

    fn push_none(&mut self, level: i16) {
        self.mop.push_entry(None, level, 0);
        self.key.push_entry(None, level, 0);
        self.offset.push_entry(None, level, 0);
        self.value.push_entry(None, level, 0);
    }
}

fn text(text: &str) -> ByteArray {
    ByteArray::from(text)
}

fn name(kind: OpType) -> &'static str {
    match kind {
        OpType::Invoke => "invoke",
        OpType::Ok => "ok",
        OpType::Fail => "fail",
        OpType::Info => "info",
    }
}

/// A record's value where it is a number; words stand in `value` only.
fn number(value: i64) -> Option<i64> {
    (!words::is_word(value)).then_some(value)
}

fn json(value: &impl Serialize, is_empty: bool) -> io::Result<Option<ByteArray>> {
    match is_empty {
        true => Ok(None),
        false => Ok(Some(ByteArray::from(serde_json::to_vec(value)?))),
    }
}

/// Parquet's readers take unsigned numbers badly, so they are signed in the table.
fn signed(what: &str, number: u64) -> io::Result<i64> {
    i64::try_from(number).map_err(|_| {
        let reason = format!("{what} {number} does not fit into a signed 64-bit column");
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}
