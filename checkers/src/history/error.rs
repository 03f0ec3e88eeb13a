//! Why a history was refused: the line and the reason.

use thiserror::Error;

/// Longest reason, in characters: some quote what was read.
const MAX_REASON: usize = 600;

/// A malformed history. `line` counts from 1 and includes the header's line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct HistoryError {
    /// The line at which reading stopped.
    pub line: u64,
    /// What is wrong there, for a person.
    pub reason: String,
}

impl HistoryError {
    /// An error at `line`.
    pub fn new(line: u64, reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        if let Some((end, _)) = reason.char_indices().nth(MAX_REASON) {
            reason.truncate(end);
            reason.push_str("...");
        }
        Self { line, reason }
    }
}
