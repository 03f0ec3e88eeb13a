//! Feeds a stream from JSON lines.
//!
//! Lines in the shape that our recorder writes are scanned in place; any other goes the long way, so
//! that both ways say the same of every file.

use super::scan::{self, Scanned};
use super::{LogStream, Streamed, at_line};
use crate::history::{HistoryError, Lines, looks_like_header, read_header, read_op};

/// A pure reader: bytes go in, an answer comes out.
#[derive(Default)]
pub struct StreamReader {
    lines: Lines,
    feed: Feed,
}

#[derive(Default)]
struct Feed {
    stream: Option<LogStream>,
    records: Vec<(i64, i64)>,
    ops: u64,
}

impl StreamReader {
    /// A reader that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes as they come; lines may span calls.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        let feed = &mut self.feed;
        self.lines
            .push_bytes(bytes, |number, line| feed.line(number, line))
    }

    /// The stream so far, once it has begun.
    pub fn stream(&self) -> Option<&LogStream> {
        self.feed.stream.as_ref()
    }

    /// Ops (ends of ops) so far.
    pub fn ops(&self) -> u64 {
        self.feed.ops
    }

    /// Ends the history; a torn last line is forgiven.
    pub fn finish(mut self) -> Streamed {
        let rest = self.lines.take_rest();
        if !rest.is_empty() {
            let feed = &mut self.feed;
            let _torn = self
                .lines
                .push_line(&rest, &mut |number, line: &[u8]| feed.line(number, line));
        }
        let stream = self.feed.stream.unwrap_or_else(|| LogStream::new(None));
        stream.finish()
    }
}

impl Feed {
    fn line(&mut self, number: u64, line: &[u8]) -> Result<(), HistoryError> {
        if let Some(stream) = self
            .stream
            .as_mut()
            .filter(|stream| stream.header.is_some())
        {
            self.ops += 1;
            if let Some(scanned) = scan::line(line, &mut self.records) {
                return feed(stream, &scanned, &self.records).map_err(at_line(number));
            }
        }
        self.long_way(number, line)
    }

    #[cold]
    fn long_way(&mut self, number: u64, line: &[u8]) -> Result<(), HistoryError> {
        let text = std::str::from_utf8(line)
            .map_err(|error| HistoryError::new(number, format!("not UTF-8: {error}")))?;
        if self.stream.is_none() && looks_like_header(text) {
            self.stream = Some(LogStream::new(Some(read_header(number, text)?)));
            return Ok(());
        }
        let stream = self.stream.get_or_insert_with(|| LogStream::new(None));
        if stream.header.is_none() {
            // Foreign recorders keep other rules; the whole of such a history must be judged.
            return Ok(());
        }
        let op = read_op(number, text, stream.last())?;
        stream.push(&op).map_err(at_line(number))
    }
}

#[inline]
fn feed(
    stream: &mut LogStream,
    scanned: &Scanned<'_>,
    records: &[(i64, i64)],
) -> Result<(), String> {
    stream.order(scanned.index, scanned.event.time)?;
    let mut event = scanned.event;
    if let Some(key) = scanned.key {
        event.partition = stream.partition(key);
    }
    match &scanned.answer {
        Some(answer) => stream.step_read(&event, scanned.index, answer, records),
        None => stream.step(&event, scanned.index),
    }
}
