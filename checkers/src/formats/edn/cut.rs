//! Cuts bytes into top-level forms as they come, without reading them.
//!
//! Only brackets, strings, characters and comments matter here. A form ends
//! with the bracket that closes it; one vector or list around all ops is passed
//! over. What is held is one form, no longer than a line of ours may be.

use crate::history::MAX_LINE_BYTES;

use super::MAX_DEPTH;

/// Where the cutter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Plain,
    String,
    StringEscape,
    Character,
    Comment,
}

/// Whether one vector holds all ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Around {
    /// No, ops stand one after another.
    #[default]
    Nothing,
    /// It is open since this line.
    Open { line: u64, close: u8 },
    /// It was closed.
    Closed,
}

/// What a byte completed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nothing yet.
    More,
    /// Brackets of `form` are balanced.
    Form,
    /// The vector around all ops ended.
    End,
    /// A comment outside of forms ended; it is in `comment`.
    Comment,
}

/// The form so far, and where it began.
#[derive(Debug)]
pub(super) struct Cutter {
    state: State,
    depth: usize,
    pub around: Around,
    pub form: Vec<u8>,
    pub form_line: u64,
    pub comment: Vec<u8>,
    /// The line of the next byte, from 1.
    pub line: u64,
    /// Bytes since a form or a line ended, outside of forms.
    idle: usize,
    /// Whether an op or the vector around all of them has begun.
    pub begun: bool,
}

impl Cutter {
    pub fn new() -> Self {
        Self {
            state: State::Plain,
            depth: 0,
            around: Around::Nothing,
            form: Vec::new(),
            form_line: 1,
            comment: Vec::new(),
            line: 1,
            idle: 0,
            begun: false,
        }
    }

    /// Takes the bytes at the head of `bytes` that only lengthen the form, and
    /// says how many they were. Most bytes of a file are such.
    pub fn take_run(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let run = match self.state {
            State::String => bytes.iter().position(|byte| b"\"\\\n".contains(byte)),
            State::Plain if !self.form.is_empty() => {
                bytes.iter().position(|&byte| !lengthens(byte))
            }
            _ => return Ok(0),
        };
        let run = run.unwrap_or(bytes.len());
        self.form.extend_from_slice(&bytes[..run]);
        self.refuse_length().map(|()| run)
    }

    /// Takes one byte; an error stands at the current line.
    pub fn take(&mut self, byte: u8) -> Result<Cut, String> {
        self.refuse_length()?;
        let cut = match self.state {
            State::String => self.inside(byte, string_state(byte)),
            State::StringEscape => self.inside(byte, State::String),
            State::Character => self.inside(byte, State::Plain),
            State::Comment => self.comment(byte),
            State::Plain => self.plain(byte),
        };
        if byte == b'\n' {
            self.line += 1;
            self.idle = 0;
        }
        cut
    }

    /// Forgets the form, which was read.
    pub fn next_form(&mut self) {
        self.form.clear();
        self.idle = 0;
    }

    /// Whether the text ended in the middle of something.
    pub fn is_open(&self) -> bool {
        self.depth > 0 || !matches!(self.state, State::Plain | State::Comment)
    }

    fn refuse_length(&self) -> Result<(), String> {
        let longest = self.form.len().max(self.idle).max(self.comment.len());
        match longest >= MAX_LINE_BYTES {
            false => Ok(()),
            true => Err(format!(
                "an op, a comment or a line is longer than {MAX_LINE_BYTES} bytes; no recorder writes such"
            )),
        }
    }

    fn inside(&mut self, byte: u8, next: State) -> Result<Cut, String> {
        self.form.push(byte);
        self.state = next;
        Ok(Cut::More)
    }

    /// A comment inside of a form leaves only its line's end there.
    fn comment(&mut self, byte: u8) -> Result<Cut, String> {
        if byte != b'\n' {
            self.idle += 1;
            if self.form.is_empty() {
                self.comment.push(byte);
            }
            return Ok(Cut::More);
        }
        self.state = State::Plain;
        if self.form.is_empty() {
            return Ok(Cut::Comment);
        }
        self.form.push(byte);
        Ok(Cut::More)
    }

    fn plain(&mut self, byte: u8) -> Result<Cut, String> {
        match byte {
            b';' => {
                self.state = State::Comment;
                self.comment.clear();
                Ok(Cut::More)
            }
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            b',' | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                match self.form.is_empty() {
                    true => self.idle += 1,
                    false => self.form.push(byte),
                }
                Ok(Cut::More)
            }
            _ => {
                self.begin();
                self.inside(
                    byte,
                    match byte {
                        b'"' => State::String,
                        b'\\' => State::Character,
                        _ => State::Plain,
                    },
                )
            }
        }
    }

    fn begin(&mut self) {
        if self.form.is_empty() {
            self.form_line = self.line;
        }
    }

    fn open(&mut self, byte: u8) -> Result<Cut, String> {
        if byte != b'{' && self.depth == 0 && !self.begun && self.is_prefix() {
            let close = if byte == b'[' { b']' } else { b')' };
            self.around = Around::Open {
                line: self.line,
                close,
            };
            self.begun = true;
            self.next_form();
            return Ok(Cut::More);
        }
        self.begin();
        self.form.push(byte);
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(format!("forms nest deeper than {MAX_DEPTH}")),
            false => Ok(Cut::More),
        }
    }

    /// Nothing, or one tag, may stand before the vector around all ops.
    fn is_prefix(&self) -> bool {
        let before = self.form.trim_ascii();
        match before {
            [] => true,
            [b'#', first, rest @ ..] => {
                first.is_ascii_alphabetic() && !rest.iter().any(u8::is_ascii_whitespace)
            }
            _ => false,
        }
    }

    fn close(&mut self, byte: u8) -> Result<Cut, String> {
        if self.depth > 0 {
            self.form.push(byte);
            self.depth -= 1;
            return Ok(if self.depth == 0 {
                Cut::Form
            } else {
                Cut::More
            });
        }
        match self.around {
            Around::Open { close, .. } if close == byte => {
                self.around = Around::Closed;
                Ok(Cut::End)
            }
            _ => Err(format!("\"{}\" closes nothing", char::from(byte))),
        }
    }
}

/// Whether a byte outside of strings means nothing but itself, wherever it is.
fn lengthens(byte: u8) -> bool {
    !matches!(
        byte,
        b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'"' | b'\\' | b';' | b'\n'
    )
}

fn string_state(byte: u8) -> State {
    match byte {
        b'"' => State::Plain,
        b'\\' => State::StringEscape,
        _ => State::String,
    }
}
