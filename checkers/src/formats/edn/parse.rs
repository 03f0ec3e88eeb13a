//! One form of EDN, as JSON.
//!
//! Recursive descent over a slice that is known to be balanced; nesting,
//! discards, tags and metadata all count against one limit of depth.

use serde_json::{Map, Value as Json};

use super::MAX_DEPTH;
use super::atom::{self, number, shown, special};

/// Why a form could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Byte at which reading stopped.
    pub at: usize,
    /// What is wrong there.
    pub reason: String,
    /// Whether more text could mend it.
    pub incomplete: bool,
}

/// An op's map with the byte at which it begins, `None` where all of `text` is
/// discarded.
pub(super) fn parse_op(text: &str) -> Result<Option<(usize, Json)>, Fault> {
    let mut parser = Parser { text, at: 0 };
    parser.skip(0)?;
    let from = parser.at;
    if parser.peek().is_none() {
        return Ok(None);
    }
    let form = parser.form(0)?;
    if !form.is_object() {
        parser.at = from;
        return Err(parser.fault("an op is a map, and this is none"));
    }
    parser.end().map(|()| Some((from, form)))
}

/// A value that stands alone, as in a log's line.
pub(in crate::formats) fn parse_value(text: &str) -> Result<Json, String> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.form(0);
    let value = value.and_then(|value| parser.end().map(|()| value));
    value.map_err(|fault| fault.reason)
}

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub at: usize,
}

impl<'t> Parser<'t> {
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn fault(&self, reason: impl Into<String>) -> Fault {
        Fault {
            at: self.at,
            reason: reason.into(),
            incomplete: false,
        }
    }

    pub fn ended(&self) -> Fault {
        Fault {
            at: self.at,
            reason: "the form does not end".to_owned(),
            incomplete: true,
        }
    }

    /// Nothing but what is discarded may follow.
    fn end(&mut self) -> Result<(), Fault> {
        self.skip(0)?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("a second form where one was expected")),
        }
    }

    /// Passes over white space, comments and discarded forms.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        loop {
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(byte) if byte.is_ascii_whitespace() || byte == 0x0b => self.at += 1,
                Some(b';') => self.skip_line(),
                Some(b'#') if self.text.as_bytes().get(self.at + 1) == Some(&b'_') => {
                    self.at += 2;
                    self.form(depth + 1)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    fn form(&mut self, depth: usize) -> Result<Json, Fault> {
        if depth > MAX_DEPTH {
            return Err(self.fault(format!("forms nest deeper than {MAX_DEPTH}")));
        }
        self.skip(depth)?;
        let Some(byte) = self.peek() else {
            return Err(self.ended());
        };
        match byte {
            b'(' => self.list(b')', depth),
            b'[' => self.list(b']', depth),
            b'{' => self.map(None, depth).map(Json::Object),
            b'"' => self.string().map(Json::String),
            b'\\' => self.character().map(Json::String),
            b'#' => self.dispatch(depth),
            b'^' => self.with_metadata(1, depth),
            b')' | b']' | b'}' => {
                Err(self.fault(format!("\"{}\" closes nothing", char::from(byte))))
            }
            _ => self.atom(),
        }
    }

    fn list(&mut self, close: u8, depth: usize) -> Result<Json, Fault> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            self.skip(depth)?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(Json::Array(list));
            }
            list.push(self.form(depth + 1)?);
        }
    }

    /// A map; keys without a namespace get that of `#:name{...}`.
    fn map(&mut self, namespace: Option<&str>, depth: usize) -> Result<Map<String, Json>, Fault> {
        self.at += 1;
        let mut map = Map::new();
        loop {
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(map);
            }
            let at = self.at;
            let qualifies = self.peek() == Some(b':');
            let mut key = key_text(self.form(depth + 1)?);
            if let Some(namespace) = namespace.filter(|_| qualifies && !key.contains('/')) {
                key = format!("{namespace}/{key}");
            }
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                return Err(self.fault(format!("the key {} has no value", shown(&key))));
            }
            let value = self.form(depth + 1)?;
            if map.contains_key(&key) {
                self.at = at;
                return Err(self.fault(format!("the key {} stands twice in one map", shown(&key))));
            }
            map.insert(key, value);
        }
    }

    /// What begins with a `#`.
    fn dispatch(&mut self, depth: usize) -> Result<Json, Fault> {
        match self.text.as_bytes().get(self.at + 1) {
            None => Err(self.ended()),
            Some(b'{') => {
                self.at += 1;
                self.list(b'}', depth)
            }
            Some(b'"') => {
                self.at += 1;
                self.pattern().map(Json::String)
            }
            Some(b'^') => self.with_metadata(2, depth),
            Some(b'#') => {
                let from = self.at;
                self.at += 2;
                let name = self.token();
                match special(name) {
                    true => Ok(Json::from(&self.text[from..self.at])),
                    false => Err(self.fault("after ## only Inf, -Inf and NaN are known")),
                }
            }
            Some(b':') => self.namespaced_map(depth),
            Some(byte) if byte.is_ascii_alphabetic() => {
                self.at += 1;
                self.token();
                self.form(depth + 1)
            }
            Some(_) => Err(self.fault("this use of # is code, not data")),
        }
    }

    fn namespaced_map(&mut self, depth: usize) -> Result<Json, Fault> {
        self.at += 2;
        let namespace = self.token().trim_start_matches(':');
        self.skip(depth)?;
        match self.peek() {
            Some(b'{') => self.map(Some(namespace), depth).map(Json::Object),
            Some(_) => Err(self.fault("a namespace that no map follows")),
            None => Err(self.ended()),
        }
    }

    fn with_metadata(&mut self, mark: usize, depth: usize) -> Result<Json, Fault> {
        self.at += mark;
        self.form(depth + 1)?;
        self.form(depth + 1)
    }

    fn atom(&mut self) -> Result<Json, Fault> {
        let from = self.at;
        let token = self.token();
        let read = match token.as_bytes() {
            [] => Err("a character that begins no form".to_owned()),
            [b':', ..] => atom::keyword(token).map(Json::from),
            [b'0'..=b'9', ..] | [b'+' | b'-', b'0'..=b'9', ..] => number(token),
            _ => atom::symbol(token),
        };
        read.map_err(|reason| Fault {
            at: from,
            reason,
            incomplete: false,
        })
    }

    /// The characters up to the next delimiter.
    fn token(&mut self) -> &'t str {
        let text: &'t str = self.text;
        let rest = &text[self.at..];
        let end = rest.find(atom::delimits).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

fn key_text(key: Json) -> String {
    match key {
        Json::String(text) => text,
        Json::Null => "nil".to_owned(),
        other => other.to_string(),
    }
}
