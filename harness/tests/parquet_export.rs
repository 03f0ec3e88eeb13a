//! `plimsoll convert IN OUT.parquet`: the table is read back as it should be, or the build says
//! that it cannot write one.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

fn golden(name: &str) -> PathBuf {
    let golden = "../checkers/tests/golden";
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("{golden}/{name}.jsonl"))
}

fn convert(from: &Path, to: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("convert").arg(from).arg(to);
    command.output().expect("it runs")
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_one_that_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("history.parquet");
    let output = convert(&golden("lost-write-invalid"), &out);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{text}");
    assert!(text.contains("--features parquet"), "{text}");
    assert!(!out.exists());
}

#[cfg(feature = "parquet")]
mod table {
    use std::fs::File;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};

    use super::*;

    fn read(path: &Path) -> SerializedFileReader<File> {
        SerializedFileReader::new(File::open(path).expect("a table")).expect("a Parquet file")
    }

    fn converted(history: &Path) -> (tempfile::TempDir, SerializedFileReader<File>) {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("history.parquet");
        let output = convert(history, &out);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{text}");
        let reader = read(&out);
        (folder, reader)
    }

    fn rows(reader: &SerializedFileReader<File>) -> Vec<Row> {
        let rows = reader.get_row_iter(None).expect("rows");
        rows.map(|row| row.expect("a row")).collect()
    }

    fn field(row: &Row, name: &str) -> String {
        let mut columns = row.get_column_iter();
        let found = columns.find(|(column, _)| *column == name);
        found.expect("a column").1.to_string()
    }

    fn fields(row: &Row, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| field(row, name)).collect()
    }

    #[test]
    fn each_line_is_a_row_with_its_fields_in_columns() {
        let (_folder, reader) = converted(&golden("lost-write-invalid"));
        let rows = rows(&reader);
        assert_eq!(rows.len(), 22);
        let names = ["index", "time_ns", "process", "type", "f", "key", "offset"];
        assert_eq!(
            fields(&rows[0], &names),
            [
                "0",
                "1000000",
                "null",
                "\"info\"",
                "\"phase\"",
                "null",
                "null"
            ]
        );
        assert_eq!(
            fields(&rows[4], &names),
            [
                "4",
                "5000000",
                "102",
                "\"ok\"",
                "\"send\"",
                "\"log-0\"",
                "1"
            ]
        );
        let names = [
            "sent",
            "acks",
            "outcome",
            "duration_ns",
            "other_index",
            "client",
        ];
        assert_eq!(
            fields(&rows[3], &names),
            ["2", "-1", "\"ok\"", "1000000", "4", "\"c2\""]
        );
        assert_eq!(
            fields(&rows[4], &names),
            ["2", "-1", "\"ok\"", "1000000", "3", "null"]
        );
        assert_eq!(field(&rows[4], "value"), "\"[[\"send\",\"log-0\",[1,2]]]\"");
        assert!(field(&rows[13], "reads").contains("leader_epoch"));
    }

    #[test]
    fn records_are_a_list_that_may_be_absent_empty_or_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let history = folder.path().join("history.jsonl");
        let lines = [
            r#"{"process":1,"type":"invoke","f":"poll","value":[["poll"]]}"#,
            r#"{"process":1,"type":"ok","f":"poll","value":[["poll",{}]]}"#,
            r#"{"process":1,"type":"invoke","f":"txn","value":[["poll"],["send","b",7]]}"#,
            r#"{"process":1,"type":"ok","f":"txn","value":[["poll",{"a":[[0,1],[1,"word"]]}],["send","b",[5,7]]]}"#,
            r#"{"process":1,"type":"invoke","f":"read","value":null}"#,
        ];
        std::fs::write(&history, lines.join("\n")).expect("room");
        let (_folder, reader) = converted(&history);
        let rows = rows(&reader);
        let records = |row: usize| {
            let mut columns = rows[row].get_column_iter();
            columns
                .find(|(name, _)| *name == "records")
                .map(|one| one.1.clone())
        };
        assert_eq!(records(0), Some(Field::Null));
        let Some(Field::ListInternal(empty)) = records(1) else {
            panic!("{:?}", records(1));
        };
        assert!(empty.elements().is_empty());
        let Some(Field::ListInternal(list)) = records(3) else {
            panic!("{:?}", records(3));
        };
        let entries: Vec<String> = list.elements().iter().map(Field::to_string).collect();
        assert_eq!(
            entries,
            [
                "{mop: \"poll\", key: \"a\", offset: 0, value: 1}",
                "{mop: \"poll\", key: \"a\", offset: 1, value: null}",
                "{mop: \"send\", key: \"b\", offset: 5, value: 7}",
            ]
        );
        assert_eq!(records(4), Some(Field::Null));
    }

    #[test]
    fn groups_are_bounded_and_the_header_is_metadata() {
        let folder = tempfile::tempdir().expect("a folder");
        let history = folder.path().join("history.jsonl");
        let header = std::fs::read_to_string(golden("lost-write-valid")).expect("golden");
        let mut text = header.lines().next().expect("a header").to_owned();
        for index in 0..70_000 {
            text.push_str(&format!(
                "\n{{\"index\":{index},\"time\":{index},\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"observe\",\"value\":{index}}}"
            ));
        }
        std::fs::write(&history, text).expect("room");
        let (_folder, reader) = converted(&history);
        let metadata = reader.metadata();
        assert_eq!(metadata.num_row_groups(), 2);
        let file = metadata.file_metadata();
        assert_eq!(file.num_rows(), 70_000);
        let pairs = file.key_value_metadata().expect("metadata");
        let header = pairs.iter().find(|pair| pair.key == "plimsoll.header");
        let header = header
            .and_then(|pair| pair.value.as_deref())
            .expect("a header");
        let header: serde_json::Value = serde_json::from_str(header).expect("JSON");
        assert_eq!(header["plimsoll"], 1);
    }
}
