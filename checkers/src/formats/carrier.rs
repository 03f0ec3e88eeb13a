//! Ops of a foreign file on their way through the reader of JSON lines.
//!
//! Every format ends in the same lines, so that limits, defaults of `index` and
//! `time`, the meaning of values and the rules of a history are those of our
//! own, once. What differs is where a line stands: errors and
//! [`History::line_of`] name the line of the foreign file.

use crate::history::{History, HistoryError, HistoryReader};

/// Takes one JSON object an op, with the line at which it began.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    reader: HistoryReader,
    /// Line in the foreign file of each line that was pushed.
    lines: Vec<u32>,
}

impl Carrier {
    /// Whether nothing was pushed so far.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes a header or an op that began at `line` of its file.
    pub fn push(&mut self, line: u64, json: &[u8]) -> Result<(), HistoryError> {
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        let pushed = self.reader.push_line(json);
        pushed.map_err(|error| at_source(&self.lines, error))
    }

    /// Validates what was pushed.
    pub fn finish(self) -> Result<History, HistoryError> {
        let Carrier { reader, mut lines } = self;
        let history = match reader.finish() {
            Ok(history) => history,
            Err(error) => return Err(at_source(&lines, error)),
        };
        if history.header().is_some() {
            lines.remove(0);
        }
        Ok(history.at_lines(lines))
    }
}

/// The same error where the reader of the file finds it.
fn at_source(lines: &[u32], error: HistoryError) -> HistoryError {
    let position = usize::try_from(error.line.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = lines.get(position).map_or(1, |line| u64::from(*line));
    // The column would be that of a line which nobody sees.
    let reason = match error.reason.rfind(" at line 1 column ") {
        Some(end) => error.reason[..end].to_owned(),
        None => error.reason,
    };
    HistoryError::new(line, reason)
}
