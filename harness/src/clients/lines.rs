//! The line protocol of producers that are processes of their own: JSON lines
//! over stdin and stdout. `docs/CLIENTS.md` describes it for writers of others.

use serde::Deserialize;

use super::{Broken, Produce, Response};

/// One send as a line, without its end.
pub fn line(id: u64, produce: &Produce) -> String {
    format!(
        "{{\"id\":{id},\"partition\":{},\"value\":{}}}",
        produce.partition, produce.value
    )
}

/// What a producer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Ready,
    /// A send has ended.
    Ended(u64, Result<Response, Broken>),
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    ready: bool,
    id: Option<u64>,
    offset: Option<i64>,
    error: Option<String>,
    /// Whether nothing was sent or appended for certain.
    #[serde(default)]
    certain: bool,
}

/// Reads a line of a producer.
pub fn parse(line: &str) -> Result<Said, String> {
    let broken = |why: &str| format!("the producer said {line:?}: {why}");
    let raw: Raw = serde_json::from_str(line).map_err(|e| broken(&e.to_string()))?;
    if raw.ready {
        return Ok(Said::Ready);
    }
    let id = raw.id.ok_or_else(|| broken("there is no id"))?;
    let result = match (raw.offset, raw.error) {
        (Some(offset), None) => Ok(Response::Produced { code: 0, offset }),
        (None, Some(error)) if raw.certain => Err(Broken::NotSent(error)),
        (None, Some(error)) => Err(Broken::Lost(error)),
        _ => return Err(broken("there is neither an offset nor an error, or both")),
    };
    Ok(Said::Ended(id, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_is_a_line_and_its_end_is_told_apart_by_certainty() {
        let produce = Produce {
            partition: 2,
            value: 17,
            acks: -1,
            timeout_ms: 1,
            sequence: None,
        };
        assert_eq!(line(7, &produce), r#"{"id":7,"partition":2,"value":17}"#);
        let produced = Response::Produced {
            code: 0,
            offset: 42,
        };
        assert_eq!(
            parse(r#"{"id":7,"offset":42}"#),
            Ok(Said::Ended(7, Ok(produced)))
        );
        let lost = Err(Broken::Lost("TimeoutException".into()));
        let text = r#"{"id":7,"error":"TimeoutException","certain":false}"#;
        assert_eq!(parse(text), Ok(Said::Ended(7, lost)));
        let refused = Err(Broken::NotSent("X".into()));
        assert_eq!(
            parse(r#"{"id":8,"error":"X","certain":true}"#),
            Ok(Said::Ended(8, refused))
        );
        assert_eq!(parse(r#"{"ready":true}"#), Ok(Said::Ready));
    }

    #[test]
    fn an_error_without_a_word_of_certainty_is_indeterminate() {
        let lost = Err(Broken::Lost("X".into()));
        assert_eq!(parse(r#"{"id":8,"error":"X"}"#), Ok(Said::Ended(8, lost)));
    }

    #[test]
    fn other_lines_are_errors_that_quote_them() {
        for line in [
            "",
            "hello",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":1,"offset":1,"error":"x"}"#,
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains("the producer said"), "{error}");
        }
    }
}
