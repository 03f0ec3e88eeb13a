//! Forms as values, files as histories, and what is refused where.

use serde_json::{Value as Json, json};

use super::parse::parse_value;
use super::{EdnReader, write_header, write_op};
use crate::history::{History, HistoryError, HistoryReader, Op, Process, SendMop, Value};

fn read(text: &str) -> Result<History, HistoryError> {
    let mut reader = EdnReader::new();
    // Small pieces, so that forms span calls.
    for piece in text.as_bytes().chunks(7) {
        reader.push_bytes(piece)?;
    }
    reader.finish()
}

fn refusal(text: &str) -> HistoryError {
    match read(text) {
        Err(error) => error,
        Ok(history) => panic!("read as {} ops: {text}", history.ops().len()),
    }
}

const OPS: &str = "{:process 0, :type :invoke, :f :write, :value 3}
{:process 0, :type :ok, :f :write, :value 3}
";

#[test]
fn every_form_has_its_value() {
    for (text, expected) in [
        ("nil", json!(null)),
        ("[true false]", json!([true, false])),
        (":a", json!("a")),
        (":a/b", json!("a/b")),
        ("sym", json!("sym")),
        (r#""a\n\"\\\u0041\ud83d\ude00""#, json!("a\n\"\\A\u{1f600}")),
        (
            r"[\a \newline \u0041 \( \u]",
            json!(["a", "\n", "A", "(", "u"]),
        ),
        ("(1 2N 3.5)", json!([1, 2, 3.5])),
        ("#{3 1 2}", json!([3, 1, 2])),
        (
            "{:a 1, \"b\" 2, 3 4, [5] 6}",
            json!({"a": 1, "b": 2, "3": 4, "[5]": 6}),
        ),
        ("#inst \"2020-01-01\"", json!("2020-01-01")),
        ("#jepsen.history.Op{:a #foo/bar [1]}", json!({"a": [1]})),
        (
            "#object[java.lang.Foo 0x1f \"x\"]",
            json!(["java.lang.Foo", 31, "x"]),
        ),
        ("[#_ 1 2 #_ #_ 3 4 5 #_6]", json!([2, 5])),
        ("^{:line 1} [1 ^:dynamic 2]", json!([1, 2])),
        (
            "#:ns{:a 1, :b/c 2, \"d\" 3}",
            json!({"ns/a": 1, "b/c": 2, "d": 3}),
        ),
        ("##Inf", json!("##Inf")),
        ("1/3", json!("1/3")),
        ("#\"a\\\"b\"", json!("a\\\"b")),
        ("[1 ; one ]\n 2]", json!([1, 2])),
    ] {
        assert_eq!(parse_value(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_data_is_refused() {
    for text in [
        "",
        "[1",
        "(1]",
        "{:a}",
        "{:a 1 :a 2}",
        "{0 1 \"0\" 2}",
        ")",
        "1 2",
        "12x",
        ":",
        "\"a",
        r#""\q""#,
        r#""\u12""#,
        r#""\ud800""#,
        r"\nonsense",
        "#(inc %)",
        "#'x",
        "##Nope",
        "#",
        "#foo",
        "^:a",
        "@x",
        "#:a 1",
    ] {
        assert!(parse_value(text).is_err(), "{text}");
    }
}

#[test]
fn nesting_is_limited_whatever_nests() {
    for (open, close) in [
        ("[", "]"),
        ("{:a ", "}"),
        ("#_ ", ""),
        ("#a ", ""),
        ("^a ", ""),
        ("#^a ", ""),
    ] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let error = parse_value(&deep).expect_err(open);
        assert!(error.contains("deeper"), "{open}: {error}");
        let op = format!("{OPS}{{:process 1, :type :invoke, :f :a, :value {deep}}}\n");
        let error = refusal(&op);
        assert!(
            error.line == 3 && error.reason.contains("deeper"),
            "{open}: {error}"
        );
    }
    let fair = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    assert!(
        read(&format!(
            "{{:process 1, :type :invoke, :f :a, :value {fair}}}"
        ))
        .is_ok()
    );
}

#[test]
fn ops_stand_one_after_another_or_in_one_vector() {
    let expected = read(OPS).unwrap();
    assert_eq!(expected.ops().len(), 2);
    assert_eq!(expected.line_of(1), 2);
    for text in [
        format!("[{OPS}]"),
        format!("({OPS})\n; the end"),
        format!("; first\n#_ {{:not an :op really}}\n[{OPS} #_ [:nor this]]"),
        format!("#jepsen.history.DenseHistory [{OPS}]"),
        OPS.replace('{', "#jepsen.history.Op{"),
        OPS.replace('{', "^{:clojure true} {"),
        OPS.replace(",", " ; why }\n"),
        OPS.replace('\n', " "),
        OPS.replace(":process", "\"process\""),
    ] {
        let history = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(history.ops(), expected.ops(), "{text}");
    }
}

#[test]
fn the_nemesis_errors_and_unknown_fields_are_read() {
    let history = read(
        "{:process :nemesis, :type :info, :f :start, :value nil}
{:process :nemesis, :type :info, :f :start, :value {:n1 #{:n2}}, :time 5, :index 7}
{:process 3, :type :invoke, :f :read, :value nil, :time 6, :index 8, :key \"k\"}
{:process 3, :type :fail, :f :read, :error [:gone nil], :time 6, :index 9}",
    )
    .unwrap();
    let ops = history.ops();
    assert_eq!(ops[1].process, Process::Nemesis);
    assert_eq!(ops[1].value, Value::Other(json!({"n1": ["n2"]})));
    assert_eq!((ops[1].index, ops[1].time), (7, 5));
    assert_eq!(ops[2].extra["key"], "k");
    assert_eq!(ops[3].error.as_deref(), Some("[\"gone\",null]"));
}

#[test]
fn micro_ops_of_the_log_come_out_as_such() {
    let history = read(
        "{:process 1 :type :invoke :f :send :value [[:send 0 17] [:send :x [4 18]]]}
{:process 2 :type :invoke :f :poll :value [[:poll]]}
{:process 2 :type :ok :f :poll :value [[:poll {0 [[0 17]], :x [[4 18]]}]]}",
    )
    .unwrap();
    let mop = |key: &str, offset, value| SendMop {
        key: key.to_owned(),
        offset,
        value,
    };
    let sends = vec![mop("0", None, 17), mop("x", Some(4), 18)];
    assert_eq!(history.ops()[0].value, Value::Send(sends));
    let records = [
        ("0".to_owned(), vec![(0, 17)]),
        ("x".to_owned(), vec![(4, 18)]),
    ];
    assert_eq!(history.ops()[2].value, Value::Poll(Some(records.into())));
}

#[test]
fn errors_name_the_line_of_the_file() {
    for (text, line) in [
        (format!("{OPS}nonsense {{}}\n"), 3),
        (format!("{OPS}nonsense\n{OPS}"), 3),
        (
            format!("{OPS}#_ {{}}\n\n#_ x {{:process 0, :type :ok, :f :write}}"),
            5,
        ),
        (format!("{OPS}nonsense\n"), 3),
        (format!("{OPS}[1 2]\n"), 3),
        (format!("{OPS}{{:process 1\n :type }}\n"), 4),
        (format!("{OPS}{{:type :invoke, :f :a}}\n"), 3),
        (format!("{OPS}{{:process 1, :type :begin, :f :a}}\n"), 3),
        (format!("{OPS}{{:process 1, :type :invoke\n"), 3),
        (format!("{OPS}{{:process 1,\n:type :inv"), 3),
        (format!("\n[{OPS}"), 2),
        (format!("[{OPS})"), 3),
        (format!("[{OPS}] {OPS}"), 3),
        (format!("[{OPS}\n3]"), 4),
        (format!("{OPS}}}\n"), 3),
        (format!("{OPS}{{:process 0, :type :ok, :f :write}}"), 3),
        (";\n;\n{:process 0, :type :ok,\n :f :write}".to_owned(), 3),
        (
            format!("{OPS}{{:process 1, :type :invoke, :f :w, :value 12x}}"),
            3,
        ),
    ] {
        let error = refusal(&text);
        assert_eq!(error.line, line, "{error}: {text}");
        assert!(!error.reason.contains("column"), "{error}");
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error_and_a_torn_last_line_is_not() {
    let mut reader = EdnReader::new();
    let text = [OPS.as_bytes(), b"{:process \"\xff\xfe\"}\n"].concat();
    let error = reader.push_bytes(&text).expect_err("no text");
    assert_eq!(error.line, 3);
    for torn in [
        "{:process 1, :type",
        "{:process \"a",
        "{:a \\",
        "#jepsen.hist",
        "; hm",
    ] {
        assert_eq!(
            read(&format!("{OPS}{torn}")).unwrap().ops().len(),
            2,
            "{torn}"
        );
    }
}

#[test]
fn a_line_of_ten_megabytes_is_refused_whatever_it_holds() {
    let chunk = vec![b'x'; 1 << 20];
    for begin in ["{:a \"", "{:a [", ";", "x", "{:a ;"] {
        let mut reader = EdnReader::new();
        reader.push_bytes(OPS.as_bytes()).unwrap();
        reader.push_bytes(begin.as_bytes()).unwrap();
        let mut pushed = (0..10).map(|_| reader.push_bytes(&chunk));
        let error = pushed.find_map(Result::err).expect(begin);
        assert_eq!(error.line, 3, "{begin}");
    }
    let mut reader = EdnReader::new();
    let spaces = vec![b' '; 10 << 20];
    assert!(reader.push_bytes(&spaces).is_err());
}

#[test]
fn ops_are_written_as_jepsen_writes_them() {
    let written = |json: Json| {
        let mut reader = HistoryReader::new();
        reader.push_line(json.to_string().as_bytes()).unwrap();
        let mut text = String::new();
        write_op(&reader.finish().unwrap().ops()[0], &mut text);
        text
    };
    let send = json!({"index": 0, "time": 1, "process": 3, "type": "invoke", "f": "send",
        "value": [["send", "log-0", 17]], "client": "c0", "odd name": {"a": [1.5, "x\ty"]}});
    assert_eq!(
        written(send),
        "{:index 0, :time 1, :process 3, :type :invoke, :f :send, :value [[:send \"log-0\" 17]], \
         :client \"c0\", \"odd name\" {\"a\" [1.5 \"x\\ty\"]}}\n"
    );
    let cas = json!({"process": "nemesis", "type": "info", "f": "cas", "value": [0, 1]});
    assert_eq!(
        written(cas),
        "{:index 0, :time 0, :process :nemesis, :type :info, :f :cas, :value [0 1]}\n"
    );
}

#[test]
fn a_header_is_kept_in_a_comment() {
    let golden = include_str!("../../../tests/golden/lost-write-valid.jsonl");
    let mut reader = HistoryReader::new();
    reader.push_bytes(golden.as_bytes()).unwrap();
    let history = reader.finish().unwrap();
    let mut text = String::new();
    write_header(history.header().unwrap(), &mut text);
    assert!(text.starts_with(";; plimsoll {\"plimsoll\":1"), "{text}");
    let write = |op: &Op| write_op(op, &mut text);
    history.ops().iter().for_each(write);
    let again = read(&text).unwrap();
    assert_eq!(again.header(), history.header());
    assert_eq!(again.ops(), history.ops());
    assert_eq!(again.line_of(0), 2);
    assert_eq!(refusal(";; plimsoll {\"plimsoll\":2}\n").line, 1);
}
