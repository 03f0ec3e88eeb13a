//! What was recorded: operations in one total order, and a constructor that
//! refuses histories which no recorder can have written.
//!
//! A [`History`] exists only through [`History::new`], so whoever holds one may
//! rely on: at most one open op a process, every completion answers the open op
//! of its process, indices rise and times never fall. Nothing here judges.

mod error;
mod header;
mod lines;
mod op;
mod process;
mod read_info;
mod reader;
mod validate;
mod value;
pub mod words;

pub use error::HistoryError;
pub use header::{Header, TopicInfo};
pub(crate) use lines::Lines;
pub use lines::MAX_LINE_BYTES;
pub use op::{Attempt, Op, OpType, Outcome};
pub use process::Process;
pub use read_info::ReadInfo;
pub use reader::HistoryReader;
pub(crate) use reader::{looks_like_header, read_header, read_op};
pub use value::{Mop, Records, SendMop, Txn, Value};

/// The other end of an op: the completion of an invoke, the invoke of a
/// completion. `NONE` stands for an op without one.
const NONE: u32 = u32::MAX;

/// A validated sequence of operations with what is known about the run.
#[derive(Debug, Clone)]
pub struct History {
    header: Option<Header>,
    ops: Vec<Op>,
    partner: Vec<u32>,
    /// Lines of the ops in a file of another format; empty for JSON lines.
    lines: Vec<u32>,
}

impl History {
    /// Validates `ops` (see the module) and pairs invokes with completions.
    /// With a header the rules of our own runner hold; without one, those that
    /// foreign recorders keep.
    pub fn new(header: Option<Header>, ops: Vec<Op>) -> Result<Self, HistoryError> {
        let partner = validate::pair(header.is_some(), &ops)?;
        Ok(Self {
            header,
            ops,
            partner,
            lines: Vec::new(),
        })
    }

    /// The same history, whose op at each position stands at that of `lines`.
    pub(crate) fn at_lines(mut self, lines: Vec<u32>) -> Self {
        self.lines = lines;
        self
    }

    /// What the recorder said about the run, if it said anything.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// All operations in recorded order.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The line of the op at `position` in its file, from 1; in one of JSON
    /// lines where nothing else is known.
    pub fn line_of(&self, position: usize) -> u64 {
        if let Some(line) = self.lines.get(position) {
            return u64::from(*line);
        }
        1 + u64::from(self.header.is_some()) + position as u64
    }

    /// Position of the completion of the invoke at `position`, or of the invoke
    /// of the completion there.
    pub fn partner(&self, position: usize) -> Option<usize> {
        match self.partner.get(position) {
            Some(&other) if other != NONE => Some(other as usize),
            _ => None,
        }
    }
}
