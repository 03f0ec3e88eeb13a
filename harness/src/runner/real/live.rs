//! Judges a run while it goes on, so that it can stop at its first violation.

use plimsoll_checkers::history::{Header, Op};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::stream::LogStream;

/// The stream checker beside the journal. It only decides when to stop: the verdict is that of the
/// whole history, as always.
pub struct Live {
    stream: Option<LogStream>,
    promise: Promise,
}

impl Live {
    pub fn new(header: &Header) -> Live {
        Live {
            stream: Some(LogStream::new(Some(header.clone()))),
            promise: header.promise.clone(),
        }
    }

    /// Takes a recorded line; the first violation comes back, once.
    pub fn see(&mut self, op: &Op) -> Option<String> {
        let stream = self.stream.as_mut()?;
        let known = stream.suspicions().len();
        if stream.push(op).is_err() {
            // What the recorder wrote is not what it promises to write; the judgement says so.
            self.stream = None;
            return None;
        }
        if stream.suspicions().len() == known {
            return None;
        }
        let violation = stream.violation(&self.promise)?;
        let sentence = format!("{} (op {})", violation.sentence, violation.op);
        self.stream = None;
        Some(sentence)
    }
}
