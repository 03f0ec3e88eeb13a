//! The lines between the harness and a producer process, and what a delivery
//! report proves. A report is trusted to be a failure only where it says that
//! this is certain, or where the one attempt that there was got a code that
//! proves it; everything else is unknown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clients::{Broken, Response};
use crate::systems::shortened;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// The first line to a process: how it is to send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub plimsoll_producer: u32,
    pub topic: String,
    /// Settings by Kafka's own names.
    pub config: BTreeMap<String, String>,
}

/// One record to be sent: its value in decimal digits, without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendLine {
    pub id: u64,
    pub partition: i32,
    pub value: i64,
}

/// What a process says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It takes records now; its name is for the log.
    Ready(String),
    /// The delivery report of one record.
    Reported {
        id: u64,
        result: Result<Response, Broken>,
    },
}

#[derive(Deserialize)]
struct Line {
    ready: Option<String>,
    id: Option<u64>,
    ok: Option<Delivered>,
    error: Option<String>,
    /// Kafka's code of the error, where a broker said it.
    code: Option<i16>,
    /// Whether the library is certain that nothing was appended.
    #[serde(default)]
    certain: bool,
}

#[derive(Deserialize)]
struct Delivered {
    offset: Option<i64>,
}

/// Reads one line of a process. With `one_attempt` the library sends nothing again, so that the
/// code of the only answer can be judged like any other's.
pub fn said(line: &str, one_attempt: bool) -> Result<Said, String> {
    let read: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    match read {
        Line {
            ready: Some(name), ..
        } => Ok(Said::Ready(name)),
        Line {
            id: Some(id),
            ok: Some(Delivered { offset }),
            error: None,
            ..
        } => Ok(Said::Reported {
            id,
            result: Ok(delivered(offset)),
        }),
        Line {
            id: Some(id),
            error: Some(error),
            ok: None,
            code,
            certain,
            ..
        } => Ok(Said::Reported {
            id,
            result: failed(error, code.filter(|_| one_attempt), certain),
        }),
        _ => Err("it needs \"ready\", or \"id\" with either \"ok\" or \"error\"".to_owned()),
    }
}

/// With acks=0, and for a repeat that the broker already had, there is no offset.
fn delivered(offset: Option<i64>) -> Response {
    match offset.filter(|offset| *offset >= 0) {
        Some(offset) => Response::Produced { code: 0, offset },
        None => Response::Written,
    }
}

fn failed(error: String, code: Option<i16>, certain: bool) -> Result<Response, Broken> {
    // It goes into the history, whose lines are bounded.
    let error = shortened(&error);
    match code {
        _ if certain => Err(Broken::NotSent(error)),
        Some(code) if code > 0 => Ok(Response::Produced { code, offset: -1 }),
        _ => Err(Broken::Lost(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: &str, one_attempt: bool) -> Result<Response, Broken> {
        match said(line, one_attempt).expect(line) {
            Said::Reported { id: 7, result } => result,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_delivery_is_an_acknowledgement_with_or_without_an_offset() {
        let with = Response::Produced {
            code: 0,
            offset: 42,
        };
        assert_eq!(result(r#"{"id":7,"ok":{"offset":42}}"#, false), Ok(with));
        for without in [
            r#"{"id":7,"ok":{}}"#,
            r#"{"id":7,"ok":{"offset":-1}}"#,
            r#"{"id":7,"ok":{"offset":null}}"#,
        ] {
            assert_eq!(result(without, false), Ok(Response::Written), "{without}");
        }
    }

    #[test]
    fn an_error_is_a_failure_only_where_the_library_is_certain() {
        let lost = result(r#"{"id":7,"error":"TIMED_OUT"}"#, true);
        assert_eq!(lost, Err(Broken::Lost("TIMED_OUT".into())));
        let refused = result(r#"{"id":7,"error":"BUFFER_FULL","certain":true}"#, false);
        assert_eq!(refused, Err(Broken::NotSent("BUFFER_FULL".into())));
    }

    #[test]
    fn a_brokers_code_counts_only_where_there_was_one_attempt() {
        let line = r#"{"id":7,"error":"NOT_ENOUGH_REPLICAS","code":19,"certain":false}"#;
        let once = Response::Produced {
            code: 19,
            offset: -1,
        };
        assert_eq!(result(line, true), Ok(once));
        let lost = Err(Broken::Lost("NOT_ENOUGH_REPLICAS".into()));
        assert_eq!(result(line, false), lost);
        // Code -1 is "unknown server error", and 0 with an error is nonsense: neither proves a thing.
        for code in [-1, 0] {
            let line = format!(r#"{{"id":7,"error":"E","code":{code}}}"#);
            assert_eq!(result(&line, true), Err(Broken::Lost("E".into())));
        }
    }

    #[test]
    fn a_line_that_says_neither_or_both_is_refused() {
        for line in [
            "{}",
            r#"{"id":7}"#,
            r#"{"ok":{"offset":1}}"#,
            r#"{"id":7,"ok":{"offset":1},"error":"E"}"#,
            r#"{"id":-7,"error":"E"}"#,
            "SLF4J: no logger",
        ] {
            assert!(said(line, false).is_err(), "{line}");
        }
        let ready = said(r#"{"ready":"mine 1.0"}"#, false);
        assert_eq!(ready, Ok(Said::Ready("mine 1.0".into())));
    }
}
