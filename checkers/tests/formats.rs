//! Histories on their way between formats: nothing is lost, and whatever the
//! bytes, a history or an error comes out.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::path::Path;

use plimsoll_checkers::formats::{self, EdnReader, EtcdReader, Format, edn};
use plimsoll_checkers::history::{History, HistoryReader, Op};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

fn to_edn(history: &History) -> String {
    let mut text = String::new();
    if let Some(header) = history.header() {
        edn::write_header(header, &mut text);
    }
    for op in history.ops() {
        edn::write_op(op, &mut text);
    }
    text
}

fn to_json_lines(ops: &[Op]) -> Vec<u8> {
    let mut text = Vec::new();
    for op in ops {
        op.write_json_line(&mut text);
    }
    text
}

fn read_json_lines(bytes: &[u8]) -> History {
    let mut reader = HistoryReader::new();
    reader.push_bytes(bytes).unwrap();
    reader.finish().unwrap()
}

fn read_edn(text: &str) -> History {
    let mut reader = EdnReader::new();
    reader.push_bytes(text.as_bytes()).unwrap();
    reader.finish().unwrap()
}

#[test]
fn every_golden_history_is_the_same_after_edn_and_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let history = read_json_lines(&std::fs::read(&path).unwrap());
        let again = read_edn(&to_edn(&history));
        assert_eq!(again.header(), history.header(), "{}", path.display());
        assert_eq!(again.ops(), history.ops(), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 10, "only {compared} golden histories");
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z:][a-z0-9/_-]{0,8}",
        Just("nil".to_owned()),
        Just(String::new()),
        any::<String>(),
    ]
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(Json::from),
        any_text().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map(any_text(), inner, 0..5)
                .prop_map(|map| Json::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A value of the log, or anything.
fn any_value() -> impl Strategy<Value = Json> {
    let records = prop::collection::vec((any::<i64>(), any::<i64>()), 0..4);
    prop_oneof![
        any_json(),
        (any_text(), any::<i64>()).prop_map(|(key, value)| json!([["send", key, value]])),
        (any_text(), any::<i64>(), any::<i64>()).prop_map(|(key, at, value)| json!([[
            "send",
            key,
            [at, value]
        ]])),
        prop::collection::btree_map(any_text(), records, 0..3)
            .prop_map(|records| json!([["poll", records]])),
        (any_text(), any_json())
            .prop_map(|(key, value)| json!([["append", key, value], ["r", key, null]])),
    ]
}

fn any_line() -> impl Strategy<Value = Json> {
    let extra = prop::collection::btree_map("[a-zA-Z :\"/]{1,8}", any_json(), 0..3);
    let error = prop::option::of(any_json());
    (any_text(), any_value(), error, extra, 0_u64..u64::MAX).prop_map(
        |(f, value, error, extra, time)| {
            let mut line = Map::new();
            line.extend(extra);
            for taken in ["node", "client", "acks", "attempts", "reads", "index"] {
                line.remove(taken);
            }
            line.insert("process".to_owned(), json!("nemesis"));
            line.insert("type".to_owned(), json!("info"));
            line.insert("f".to_owned(), json!(f));
            line.insert("value".to_owned(), value);
            line.insert("time".to_owned(), json!(time));
            if let Some(error) = error {
                line.insert("error".to_owned(), error);
            }
            Json::Object(line)
        },
    )
}

proptest! {
    #[test]
    fn any_op_is_the_same_after_edn_and_back(line in any_line()) {
        let history = read_json_lines(format!("{line}\n").as_bytes());
        let text = to_edn(&history);
        let again = read_edn(&text);
        prop_assert_eq!(again.ops(), history.ops(), "{}", text);
        let back = read_json_lines(&to_json_lines(again.ops()));
        prop_assert_eq!(back.ops(), history.ops());
        prop_assert_eq!(to_edn(&again), text);
    }

    #[test]
    fn any_bytes_end_in_a_history_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for reader in [Format::JsonLines, Format::Edn, Format::EtcdLog] {
            let mut reader = formats::FormatReader::new(reader);
            let _end = reader.push_bytes(&bytes).map(|()| reader.finish());
        }
        let _end = formats::read(&bytes);
    }

    #[test]
    fn any_brackets_quotes_and_words_end_in_a_history_or_an_error(
        words in prop::collection::vec(0..WORDS.len(), 0..40),
    ) {
        let text: String = words.iter().map(|&word| WORDS[word]).collect();
        let mut whole = EdnReader::new();
        let whole = whole.push_bytes(text.as_bytes()).and_then(|()| whole.finish());
        // Where the pieces were cut must not matter.
        let mut pieces = EdnReader::new();
        let pushed = text.as_bytes().chunks(3).try_for_each(|piece| pieces.push_bytes(piece));
        let pieces = pushed.and_then(|()| pieces.finish());
        prop_assert_eq!(whole.map(|h| h.ops().to_vec()), pieces.map(|h| h.ops().to_vec()));
    }

    #[test]
    fn a_log_is_the_same_wherever_it_is_cut(
        words in prop::collection::vec(0..LOG_WORDS.len(), 0..30),
    ) {
        let text: String = words.iter().map(|&word| LOG_WORDS[word]).collect();
        let mut whole = EtcdReader::new();
        let whole = whole.push_bytes(text.as_bytes()).and_then(|()| whole.finish());
        let mut pieces = EtcdReader::new();
        let pushed = text.as_bytes().chunks(3).try_for_each(|piece| pieces.push_bytes(piece));
        let pieces = pushed.and_then(|()| pieces.finish());
        prop_assert_eq!(whole.map(|h| h.ops().to_vec()), pieces.map(|h| h.ops().to_vec()));
    }
}

const WORDS: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "#{",
    "#_",
    "#tag ",
    "^",
    "\"",
    "\\",
    "\\\"",
    ";",
    "\n",
    " ",
    ":process 0",
    ":type :invoke ",
    ":type :ok ",
    ":f :read ",
    ":value ",
    "nil ",
    "99999999999999999999 ",
    "1e999 ",
    "\\u12 ",
    "é",
    "{:process 0 :type :invoke :f :read}\n",
    "{:process 0 :type :ok :f :read :value [1 2]}\n",
    "{:process :nemesis :type :info :f :start}\n",
    "; plimsoll {",
];

const LOG_WORDS: [&str; 16] = [
    "INFO  jepsen.util - ",
    "0\t",
    "1\t",
    ":nemesis\t",
    ":invoke\t",
    ":ok\t",
    ":info\t",
    ":read\t",
    ":write\t",
    ":cas\t",
    "nil\n",
    "[1 2]\n",
    ":timed-out\n",
    "\n",
    "\t",
    "INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok\t:read\t3\n",
];
