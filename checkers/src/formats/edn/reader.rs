//! A file of EDN, as a history.
//!
//! The last form of ops that stand one after another may be torn, when it
//! stands on one line, as in JSON lines. A vector that does not end is an error,
//! since nothing tells how much of it is missing.

use super::HEADER_MARK;
use super::cut::{Around, Cut, Cutter};
use super::parse::{Fault, parse_op};
use crate::formats::carrier::Carrier;
use crate::history::{History, HistoryError};

/// A pure parser: bytes go in, a validated history comes out.
#[derive(Debug)]
pub struct EdnReader {
    cutter: Cutter,
    carrier: Carrier,
}

impl Default for EdnReader {
    fn default() -> Self {
        Self::new()
    }
}

impl EdnReader {
    /// A reader that has seen nothing.
    pub fn new() -> Self {
        Self {
            cutter: Cutter::new(),
            carrier: Carrier::default(),
        }
    }

    /// Takes bytes as they come; forms may span calls.
    pub fn push_bytes(&mut self, mut bytes: &[u8]) -> Result<(), HistoryError> {
        loop {
            let line = self.cutter.line;
            let at_line = |reason| HistoryError::new(line, reason);
            let run = self.cutter.take_run(bytes).map_err(at_line)?;
            bytes = &bytes[run..];
            let Some((&byte, rest)) = bytes.split_first() else {
                return Ok(());
            };
            bytes = rest;
            match self.cutter.take(byte).map_err(at_line)? {
                Cut::More => {}
                Cut::Form => self.read_form()?,
                Cut::Comment => self.read_comment(line)?,
                Cut::End => self.expect_nothing()?,
            }
        }
    }

    /// Ends the history.
    pub fn finish(mut self) -> Result<History, HistoryError> {
        if let Around::Open { line, .. } = self.cutter.around {
            let reason = "the vector that begins here does not end; the file is cut off, so restore it or close the vector after its last whole op";
            return Err(HistoryError::new(line, reason));
        }
        if !self.is_torn() {
            if self.cutter.is_open() {
                let reason = "the form that begins here does not end";
                return Err(HistoryError::new(self.cutter.form_line, reason));
            }
            self.expect_nothing()?;
        }
        self.carrier.finish()
    }

    /// Whether what is left is a last line that was cut off.
    fn is_torn(&self) -> bool {
        let left = &self.cutter.form;
        self.cutter.around == Around::Nothing && !left.contains(&b'\n')
    }

    /// Reads the form whose brackets are balanced. Before it may stand what
    /// changes its meaning, such as `#_`; then the next form counts too.
    fn read_form(&mut self) -> Result<(), HistoryError> {
        let op = match parse_op(self.text()?) {
            Ok(op) => op,
            Err(fault) if fault.incomplete => return Ok(()),
            Err(fault) => return Err(self.at(&fault)),
        };
        if let Some((from, op)) = op {
            let line = self.line_at(from);
            if self.cutter.around == Around::Closed {
                let reason = "an op after the end of the vector of ops";
                return Err(HistoryError::new(line, reason));
            }
            self.cutter.begun = true;
            self.carrier.push(line, op.to_string().as_bytes())?;
        }
        self.cutter.next_form();
        Ok(())
    }

    /// What is left must be nothing but what is discarded.
    fn expect_nothing(&mut self) -> Result<(), HistoryError> {
        match parse_op(self.text()?) {
            Ok(None) => {
                self.cutter.next_form();
                Ok(())
            }
            // A whole op was read when its last bracket came.
            Ok(Some((from, _))) => {
                let reason = "an op that does not stand alone";
                Err(HistoryError::new(self.line_at(from), reason))
            }
            Err(fault) => Err(self.at(&fault)),
        }
    }

    /// A header stands in the first comment, before all ops.
    fn read_comment(&mut self, line: u64) -> Result<(), HistoryError> {
        let comment = std::mem::take(&mut self.cutter.comment);
        let is_header = self.carrier.is_empty() && comment.starts_with(HEADER_MARK.as_bytes());
        match is_header {
            true => self.carrier.push(line, &comment[HEADER_MARK.len() - 1..]),
            false => Ok(()),
        }
    }

    fn text(&self) -> Result<&str, HistoryError> {
        std::str::from_utf8(&self.cutter.form).map_err(|error| {
            let line = self.line_at(error.valid_up_to());
            HistoryError::new(line, format!("not UTF-8: {error}"))
        })
    }

    fn at(&self, fault: &Fault) -> HistoryError {
        HistoryError::new(self.line_at(fault.at), fault.reason.clone())
    }

    /// The line of a byte of the form.
    fn line_at(&self, byte: usize) -> u64 {
        let before = self.cutter.form.iter().take(byte);
        let newlines = before.filter(|&&byte| byte == b'\n').count();
        self.cutter.form_line + newlines as u64
    }
}
