//! Strings and characters of EDN.

use super::atom::delimits;
use super::parse::{Fault, Parser};

impl Parser<'_> {
    /// A string; the cursor stands on its opening quote.
    pub(super) fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(['"', '\\']) else {
                return Err(self.ended());
            };
            text.push_str(&rest[..end]);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(text);
            }
            text.push(self.escape()?);
        }
    }

    /// A regular expression, as it was written.
    pub(super) fn pattern(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let from = self.at;
        let mut escaped = false;
        let end = self.text[from..].find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let end = end.ok_or_else(|| self.ended())?;
        self.at = from + end + 1;
        Ok(self.text[from..from + end].to_owned())
    }

    /// What follows a backslash in a string.
    fn escape(&mut self) -> Result<char, Fault> {
        let Some(byte) = self.peek() else {
            return Err(self.ended());
        };
        let plain = match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' => char::from(byte),
            b'u' => return self.unicode(),
            _ => return Err(self.fault("an unknown escape in a string")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `uXXXX`; two of them where a character needs a pair.
    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.hex4()?;
        let code = match high {
            0xd800..0xdc00 if self.text[self.at..].starts_with("\\u") => {
                self.at += 1;
                match self.hex4()? {
                    low @ 0xdc00..0xe000 => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
                    _ => high,
                }
            }
            _ => high,
        };
        char::from_u32(code).ok_or_else(|| self.fault("half a pair of code units"))
    }

    fn hex4(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.fault("\\u needs four hexadecimal digits"))?;
        self.at += 5;
        Ok(code)
    }

    /// A character; the cursor stands on its backslash.
    pub(super) fn character(&mut self) -> Result<String, Fault> {
        let rest = &self.text[self.at + 1..];
        let Some(first) = rest.chars().next() else {
            return Err(self.ended());
        };
        let after = &rest[first.len_utf8()..];
        let more = after.find(delimits).unwrap_or(after.len());
        let name = &rest[..first.len_utf8() + more];
        let read = match name {
            "newline" => Some('\n'),
            "space" => Some(' '),
            "tab" => Some('\t'),
            "return" => Some('\r'),
            "backspace" => Some('\u{8}'),
            "formfeed" => Some('\u{c}'),
            _ if more == 0 => Some(first),
            _ => match name.strip_prefix('u') {
                Some(hex) if hex.len() == 4 => {
                    u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
                }
                _ => None,
            },
        };
        match read {
            Some(c) => {
                self.at += 1 + name.len();
                Ok(c.to_string())
            }
            None => Err(self.fault("an unknown character")),
        }
    }
}
