//! Logs in which Jepsen printed every op on a line:
//! `INFO  jepsen.util - PROCESS :type :f VALUE [ERROR]`, the fields separated by tabs.
//!
//! `:timed-out` or another reason in the place of the value is the error of an
//! op that failed or is unknown. Lines of other loggers are passed over; a line
//! that is neither is an error, but for a torn last one.

use serde_json::{Map, Value as Json};

use super::carrier::Carrier;
use super::edn::parse_value;
use crate::history::{History, HistoryError, MAX_LINE_BYTES};

/// What stands before every op.
const MARK: &str = "jepsen.util - ";

/// Words by which a line of another logger is known.
const LEVELS: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/// How far into a line a logger's level stands.
const LEVEL_WITHIN: usize = 64;

/// A pure parser: bytes go in, a validated history comes out.
#[derive(Debug, Default)]
pub struct EtcdReader {
    carrier: Carrier,
    lines: u64,
    rest: Vec<u8>,
}

impl EtcdReader {
    /// A reader that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes as they come; lines may span calls.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            if self.rest.len() + piece.len() > MAX_LINE_BYTES {
                let reason = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                return Err(HistoryError::new(self.lines + 1, reason));
            }
            self.rest.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                self.push_line(&line)?;
            }
        }
        Ok(())
    }

    /// Ends the history. What is left without a newline is read when it is a
    /// whole line and dropped when it is torn.
    pub fn finish(mut self) -> Result<History, HistoryError> {
        let rest = std::mem::take(&mut self.rest);
        if let Ok(Some(op)) = read_line(&rest) {
            self.carrier
                .push(self.lines + 1, op.to_string().as_bytes())?;
        }
        self.carrier.finish()
    }

    fn push_line(&mut self, line: &[u8]) -> Result<(), HistoryError> {
        self.lines += 1;
        match read_line(line) {
            Ok(Some(op)) => self.carrier.push(self.lines, op.to_string().as_bytes()),
            Ok(None) => Ok(()),
            Err(reason) => Err(HistoryError::new(self.lines, reason)),
        }
    }
}

/// The op of a line as JSON, `None` where it has none.
fn read_line(line: &[u8]) -> Result<Option<Json>, String> {
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8: {error}"))?;
    let text = text.trim_end();
    let Some((_, op)) = text.split_once(MARK) else {
        return match text.is_empty() || is_logged(text) {
            true => Ok(None),
            false => Err(format!(
                "neither an op (\"... {MARK}PROCESS :type :f VALUE\") nor a line of a log"
            )),
        };
    };
    match op.starts_with(|c: char| c == ':' || c == '-' || c.is_ascii_digit()) {
        true => read_op(op).map(Some),
        false => Err(format!("\"{MARK}\" is not followed by a process")),
    }
}

fn is_logged(text: &str) -> bool {
    let head: String = text.chars().take(LEVEL_WITHIN).collect();
    head.split_whitespace().any(|word| LEVELS.contains(&word))
}

fn read_op(text: &str) -> Result<Json, String> {
    let mut fields = text.split('\t').map(str::trim);
    let mut field = |name| fields.next().ok_or_else(|| format!("an op without {name}"));
    let process = parse_value(field("process")?)?;
    let kind = parse_value(field("type")?)?;
    let f = parse_value(field("f")?)?;
    let value = field("value")?;
    let said = fields.next();
    let mut op = Map::new();
    let failed = kind == "fail" || kind == "info";
    match parse_value(value) {
        Ok(Json::String(reason)) if failed && said.is_none() && value.starts_with(':') => {
            op.insert("error".to_owned(), Json::String(reason));
        }
        Ok(value) => {
            op.insert("value".to_owned(), value);
        }
        // The text of an exception is no EDN.
        Err(_) if failed && process != "nemesis" && said.is_none() => {
            op.insert("error".to_owned(), Json::from(value));
        }
        Err(reason) => return Err(format!("the value cannot be read: {reason}")),
    }
    if let Some(said) = said {
        op.insert("error".to_owned(), Json::from(said.trim_start_matches(':')));
    }
    op.insert("process".to_owned(), process);
    op.insert("type".to_owned(), kind);
    op.insert("f".to_owned(), f);
    Ok(Json::Object(op))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OpType, Process, Value};

    fn read(text: &str) -> Result<History, HistoryError> {
        let mut reader = EtcdReader::new();
        reader.push_bytes(text.as_bytes())?;
        reader.finish()
    }

    #[test]
    fn ops_are_read_and_other_loggers_passed_over() {
        let history = read(concat!(
            "2015-01-01 12:00:00 WARN  jepsen.core - hello\n",
            "INFO  jepsen.util - 0\t:invoke\t:cas\t[3 0]\n",
            "INFO  jepsen.util - :nemesis\t:info\t:start\tnil\n",
            "INFO  jepsen.util - 0\t:info\t:cas\t:timed-out\n",
        ))
        .unwrap();
        let ops = history.ops();
        assert_eq!(ops.len(), 3);
        assert_eq!(ops[0].value, Value::Other(serde_json::json!([3, 0])));
        assert_eq!(ops[1].process, Process::Nemesis);
        assert_eq!(ops[2].kind, OpType::Info);
        assert_eq!(ops[2].value, Value::None);
        assert_eq!(ops[2].error.as_deref(), Some("timed-out"));
        assert_eq!(history.line_of(0), 2);
    }

    #[test]
    fn a_reason_beside_or_in_the_place_of_the_value_is_the_error() {
        let history = read(concat!(
            "INFO  jepsen.util - 0\t:invoke\t:write\t3\n",
            "INFO  jepsen.util - 0\t:info\t:write\t3\t:timeout\n",
            "INFO  jepsen.util - 1\t:invoke\t:write\t3\n",
            "INFO  jepsen.util - 1\t:fail\t:write\tConnection {refused\n",
        ))
        .unwrap();
        assert_eq!(history.ops()[1].error.as_deref(), Some("timeout"));
        assert_eq!(history.ops()[1].value, Value::Other(3.into()));
        let error = history.ops()[3].error.as_deref();
        assert_eq!(error, Some("Connection {refused"));
    }

    #[test]
    fn a_malformed_line_is_an_error_with_its_number_and_a_torn_last_one_is_not() {
        let good = "INFO  jepsen.util - 0\t:invoke\t:write\t3\n";
        for bad in [
            "nonsense",
            "INFO  jepsen.util - nonsense",
            "INFO  jepsen.util - 0\t:invoke",
            "INFO  jepsen.util - 0\t:begin\t:write\t3",
            "INFO  jepsen.util - 1\t:invoke\t:write\t[3",
        ] {
            let error = read(&format!("{good}{bad}\n")).expect_err(bad);
            assert_eq!(error.line, 2, "{bad}: {error}");
        }
        let torn = read(&format!("{good}INFO  jepsen.util - 1\t:inv")).unwrap();
        assert_eq!(torn.ops().len(), 1);
    }

    #[test]
    fn rules_of_histories_name_the_line_of_the_log() {
        let error = read(concat!(
            "INFO  jepsen.core - starting\n",
            "INFO  jepsen.util - 0\t:ok\t:read\t3\n",
        ))
        .expect_err("nothing was begun");
        assert_eq!(error.line, 2);
    }

    #[test]
    fn a_line_of_ten_megabytes_is_refused() {
        let mut reader = EtcdReader::new();
        let chunk = vec![b'x'; 1 << 20];
        assert!((0..10).any(|_| reader.push_bytes(&chunk).is_err()));
    }
}
