//! The form of a history: what is read, what is written, what is refused.

use plimsoll_checkers::history::{
    Header, History, HistoryError, HistoryReader, Op, OpType, Process, ReadInfo, SendMop, Value,
};
use plimsoll_checkers::promise::{Acks, FaultClasses, Flush, Promise, Settings};

fn read(text: &str) -> Result<History, HistoryError> {
    let mut reader = HistoryReader::new();
    reader.push_bytes(text.as_bytes())?;
    reader.finish()
}

fn refusal(text: &str) -> HistoryError {
    read(text).expect_err("must be refused")
}

const INVOKE: &str = r#"{"index":0,"time":1,"process":3,"type":"invoke","f":"send","value":[["send","log-0",17]],"acks":-1,"client":"c0"}"#;
const OK: &str = r#"{"index":1,"time":2,"process":3,"type":"ok","f":"send","value":[["send","log-0",[42,17]]],"node":"n1","shoe":7}"#;

fn settings() -> Settings {
    Settings {
        acks: Acks::All,
        min_insync: 2,
        replication_factor: 3,
        unclean_elections: false,
        flush: Flush::Never,
        elr: false,
        idempotent: false,
        retries: 0,
    }
}

#[test]
fn a_line_is_written_as_it_was_read_with_unknown_fields_kept() {
    let history = read(&format!("{INVOKE}\n{OK}\n")).unwrap();
    let mut line = Vec::new();
    history.ops()[1].write_json_line(&mut line);
    let written: serde_json::Value = serde_json::from_slice(&line).unwrap();
    let original: serde_json::Value = serde_json::from_str(OK).unwrap();
    assert_eq!(written, original);
    assert_eq!(history.partner(0), Some(1));
    assert_eq!(history.partner(1), Some(0));
}

#[test]
fn polls_with_their_circumstances_survive_a_round_trip() {
    let mut op = Op::new(
        Process::Client(1),
        OpType::Invoke,
        "poll",
        Value::Poll(Some([("log-0".to_owned(), vec![(1, 2), (3, -4)])].into())),
    );
    op.reads.insert(
        "log-0".to_owned(),
        ReadInfo {
            from: 1,
            hw: 4,
            log_start: 0,
            replica: 2,
            incarnation: 1,
            leader_epoch: 9,
            is_final: true,
        },
    );
    let mut line = Vec::new();
    op.write_json_line(&mut line);
    assert!(String::from_utf8_lossy(&line).contains(r#"[["poll",{"log-0":[[1,2],[3,-4]]}]]"#));
    let history = read(&String::from_utf8(line).unwrap()).unwrap();
    assert_eq!(history.ops()[0], op);
}

#[test]
fn a_send_of_either_form_and_keys_of_either_form_are_read() {
    let text = r#"{"process":1,"type":"invoke","f":"send","value":[["send",11,641],["send","x",[null,2]]]}"#;
    let history = read(text).unwrap();
    let Value::Send(mops) = &history.ops()[0].value else {
        panic!("not read as a send")
    };
    let expected = |key: &str, value| SendMop {
        key: key.to_owned(),
        offset: None,
        value,
    };
    assert_eq!(mops, &[expected("11", 641), expected("x", 2)]);
}

#[test]
fn a_header_survives_a_round_trip() {
    let promise = Promise::resolve(&settings(), FaultClasses::default(), false);
    let text = serde_json::json!({
        "plimsoll": 1, "promise": promise, "system": "builtin", "seed": 7,
        "topics": {"log-0": {"replication_factor": 3, "barrier": 5}}, "colour": "red",
    });
    let history = read(&format!("{text}\n{INVOKE}\n")).unwrap();
    let header = history.header().unwrap();
    assert_eq!(header.promise, promise);
    assert_eq!(header.topics["log-0"].barrier, Some(5));
    let again: Header = serde_json::from_value(serde_json::to_value(header).unwrap()).unwrap();
    assert_eq!(&again, header);
    assert_eq!(again.extra["colour"], "red");
}

#[test]
fn a_torn_last_line_is_forgiven() {
    let history = read(&format!("{INVOKE}\n{}", &OK[..40])).unwrap();
    assert_eq!(history.ops().len(), 1);
}

#[test]
fn a_malformed_line_is_an_error_with_its_number_even_at_the_end() {
    let error = refusal(&format!("{INVOKE}\nnonsense\n{OK}\n"));
    assert_eq!(error.line, 2);
    assert_eq!(refusal(&format!("{INVOKE}\nnonsense\n")).line, 2);
}

#[test]
fn deep_nesting_ends_in_an_error() {
    let deep = "[".repeat(100_000);
    for field in ["value", "error", "extra", "reads", "process"] {
        let line = format!(r#"{{"process":1,"type":"invoke","f":"send","{field}":{deep}"#);
        assert_eq!(refusal(&format!("{line}\n")).line, 1, "{field}");
    }
}

#[test]
fn numbers_beyond_their_type_end_in_an_error_or_are_kept_as_they_are() {
    for process in ["-1", "1e400", "99999999999999999999999", "1.5"] {
        let line = format!(r#"{{"process":{process},"type":"invoke","f":"send"}}"#);
        assert_eq!(refusal(&format!("{line}\n")).line, 1, "{process}");
    }
    let sent = r#"{"process":1,"type":"invoke","f":"send","value":[["send","x",99999999999999999999999]]}"#;
    assert_eq!(refusal(&format!("{sent}\n")).line, 1);
    let foreign = r#"{"process":1,"type":"invoke","f":"write","value":99999999999999999999999}"#;
    let history = read(&format!("{foreign}\n")).unwrap();
    assert!(matches!(history.ops()[0].value, Value::Other(_)));
}

#[test]
fn a_line_of_ten_megabytes_ends_in_an_error_without_being_kept() {
    let mut reader = HistoryReader::new();
    let chunk = vec![b'x'; 1 << 20];
    let mut refused = None;
    for _ in 0..10 {
        if let Err(error) = reader.push_bytes(&chunk) {
            refused = Some(error);
            break;
        }
    }
    assert_eq!(refused.unwrap().line, 1);
}

#[test]
fn bytes_that_are_no_text_end_in_an_error() {
    let mut reader = HistoryReader::new();
    assert!(reader.push_line(b"\xff\xfe{}").is_err());
}

#[test]
fn a_process_with_two_open_ops_is_refused() {
    let second = INVOKE
        .replace("\"index\":0", "\"index\":1")
        .replace("17", "18");
    let error = refusal(&format!("{INVOKE}\n{second}\n"));
    assert_eq!(error.line, 2);
    assert!(error.reason.contains("open"), "{error}");
}

#[test]
fn a_completion_without_its_invoke_is_refused() {
    assert_eq!(refusal(&format!("{OK}\n")).line, 1);
}

#[test]
fn a_completion_of_another_kind_is_refused() {
    let other = OK.replace("\"f\":\"send\"", "\"f\":\"poll\"");
    assert_eq!(refusal(&format!("{INVOKE}\n{other}\n")).line, 2);
}

#[test]
fn time_that_falls_and_an_index_that_stands_are_refused() {
    let early = OK.replace("\"time\":2", "\"time\":0");
    assert_eq!(refusal(&format!("{INVOKE}\n{early}\n")).line, 2);
    let stands = OK.replace("\"index\":1", "\"index\":0");
    assert_eq!(refusal(&format!("{INVOKE}\n{stands}\n")).line, 2);
}

#[test]
fn a_value_sent_twice_is_refused_but_a_barrier_is_not() {
    let again = r#"{"index":2,"time":3,"process":4,"type":"invoke","f":"send","value":[["send","log-0",17]]}"#;
    assert_eq!(refusal(&format!("{INVOKE}\n{OK}\n{again}\n")).line, 3);
    let barrier = again.replace("\"f\":\"send\"", "\"f\":\"barrier\"");
    assert!(read(&format!("{INVOKE}\n{OK}\n{barrier}\n")).is_ok());
}

#[test]
fn our_processes_stop_after_an_indeterminate_op_and_foreign_ones_may_go_on() {
    let info = OK.replace("\"ok\"", "\"info\"");
    let on = r#"{"index":2,"time":3,"process":3,"type":"invoke","f":"send","value":[["send","log-0",18]]}"#;
    assert!(read(&format!("{INVOKE}\n{info}\n{on}\n")).is_ok());
    let promise = Promise::resolve(&settings(), FaultClasses::default(), false);
    let header = serde_json::json!({"plimsoll": 1, "promise": promise});
    let error = refusal(&format!("{header}\n{INVOKE}\n{info}\n{on}\n"));
    assert_eq!(error.line, 4);
}

#[test]
fn a_blank_line_inside_is_refused_and_at_the_end_is_not() {
    assert_eq!(refusal(&format!("{INVOKE}\n\n{OK}\n")).line, 2);
    assert!(read(&format!("{INVOKE}\n{OK}\n\n")).is_ok());
}

#[test]
fn an_acknowledged_value_that_cannot_be_read_is_refused_and_not_passed_over() {
    for value in [
        r#"[["send","log-0",[42,"too-long-a-word"]]]"#,
        r#"[["send","log-0",[42,7.5]]]"#,
        r#"[["send","log-0",[42,18446744073709551616]]]"#,
        "[]",
        "null",
    ] {
        let ok = OK.replace(r#"[["send","log-0",[42,17]]]"#, value);
        let error = refusal(&format!("{INVOKE}\n{ok}\n"));
        assert_eq!(error.line, 2, "{value}");
    }
    let poll = r#"{"index":0,"time":1,"process":3,"type":"invoke","f":"poll","value":[["poll"]]}
{"index":1,"time":2,"process":3,"type":"ok","f":"poll","value":[["poll",{"log-0":[[0,"too-long-a-word"]]}]]}"#;
    assert_eq!(refusal(&format!("{poll}\n")).line, 2);
}
