//! A file of EDN, as a history.
//!
//! The last form of ops that stand one after another may be torn, when it does
//! not go beyond one line without an end, as in JSON lines. A vector that does not end is an
//! error, since nothing tells how much of it is missing.

use serde_json::Value as Json;

use super::HEADER_MARK;
use super::cut::{Around, Cut, Cutter};
use super::parse::{Fault, parse_one};
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
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        for &byte in bytes {
            let line = self.cutter.line;
            match self.cutter.take(byte) {
                Ok(Cut::More) => {}
                Ok(Cut::Form) => self.read_form()?,
                Ok(Cut::Comment) => self.read_comment(line)?,
                Ok(Cut::End) => self.expect_nothing()?,
                Err(reason) => return Err(HistoryError::new(line, reason)),
            }
        }
        Ok(())
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
        let form = match parse_one(self.text()?) {
            Ok(form) => form,
            Err(fault) if fault.incomplete => return Ok(()),
            Err(fault) => return Err(self.at(&fault)),
        };
        let line = self.op_line();
        if let Some(form) = form {
            let Json::Object(op) = form else {
                return Err(HistoryError::new(line, "an op is a map, and this is none"));
            };
            if self.cutter.around == Around::Closed {
                let reason = "an op after the end of the vector of ops";
                return Err(HistoryError::new(line, reason));
            }
            self.cutter.begun = true;
            self.carrier
                .push(line, Json::Object(op).to_string().as_bytes())?;
        }
        self.cutter.next_form();
        Ok(())
    }

    /// What is left must be nothing but what is discarded.
    fn expect_nothing(&mut self) -> Result<(), HistoryError> {
        match parse_one(self.text()?) {
            Ok(None) => {
                self.cutter.next_form();
                Ok(())
            }
            Ok(Some(_)) => {
                let reason = "an op is a map, and this is none";
                Err(HistoryError::new(self.op_line(), reason))
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
            let before = &self.cutter.form[..error.valid_up_to()];
            HistoryError::new(
                self.cutter.form_line + newlines(before),
                format!("not UTF-8: {error}"),
            )
        })
    }

    fn at(&self, fault: &Fault) -> HistoryError {
        let before = &self.cutter.form[..fault.at.min(self.cutter.form.len())];
        HistoryError::new(
            self.cutter.form_line + newlines(before),
            fault.reason.clone(),
        )
    }

    fn op_line(&self) -> u64 {
        self.cutter.form_line
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
