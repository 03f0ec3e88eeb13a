//! The cases of Jepsen's own tests, as far as the first set of checkers covers
//! them. They are read in place and skipped, with a notice, where they are not.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plimsoll_checkers::check;
use plimsoll_checkers::history::{History, HistoryReader};
use serde_json::Value as Json;

/// Anomalies of the first set. The rest has no checker yet.
const COVERED: [&str; 8] = [
    "inconsistent-offsets",
    "duplicate",
    "G1a",
    "lost-write",
    "poll-skip",
    "nonmonotonic-poll",
    "int-poll-skip",
    "int-nonmonotonic-poll",
];

fn cases() -> Option<PathBuf> {
    let folder = std::env::var_os("PLIMSOLL_CASES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
        PathBuf::from,
    );
    let file = folder.join("jepsen-verdicts.jsonl");
    file.exists().then_some(file)
}

/// Their values are sometimes words; ours are numbers.
#[derive(Default)]
struct Interned(BTreeMap<String, i64>);

impl Interned {
    fn number(&mut self, value: &mut Json) {
        if let Json::String(word) = value {
            let next = 1_000_000 + self.0.len() as i64;
            *value = Json::from(*self.0.entry(word.clone()).or_insert(next));
        }
    }

    fn op(&mut self, op: &mut Json) {
        let Some(mops) = op["value"].as_array_mut() else {
            return;
        };
        for mop in mops.iter_mut().filter_map(Json::as_array_mut) {
            match mop.as_mut_slice() {
                [name, _, Json::Array(sent)] if name == "send" => self.number(&mut sent[1]),
                [name, _, value] if name == "send" => self.number(value),
                [name, Json::Object(records)] if name == "poll" => {
                    for record in records
                        .values_mut()
                        .filter_map(Json::as_array_mut)
                        .flatten()
                    {
                        self.number(&mut record[1]);
                    }
                }
                _ => {}
            }
        }
    }
}

fn read(case: &mut Json) -> History {
    let mut interned = Interned::default();
    let mut reader = HistoryReader::new();
    for op in case["history"].as_array_mut().expect("a list of ops") {
        interned.op(op);
        let line = op.to_string();
        reader
            .push_line(line.as_bytes())
            .expect("a line we can read");
    }
    reader.finish().expect("a history we can read")
}

#[test]
fn jepsens_own_cases_get_jepsens_verdicts() {
    let Some(file) = cases() else {
        println!("skipped: no cases; set PLIMSOLL_CASES to their folder");
        return;
    };
    let text = std::fs::read_to_string(file).unwrap();
    let mut compared = 0;
    let mut wrong = Vec::new();
    for line in text.lines() {
        let mut case: Json = serde_json::from_str(line).unwrap();
        let anomaly = case["expected"]["anomaly"]
            .as_str()
            .unwrap_or("")
            .to_owned();
        if case["expected"]["checker"] != "kafka" || !COVERED.contains(&anomaly.as_str()) {
            continue;
        }
        let history = read(&mut case);
        let found = check(&history);
        let of_kind = found
            .findings
            .iter()
            .filter(|finding| finding.anomaly == anomaly);
        let sentences: Vec<_> = of_kind.map(|finding| finding.sentence.clone()).collect();
        if sentences.len() as u64 != case["expected"]["count"].as_u64().unwrap() {
            wrong.push(format!("{}: {sentences:?}", case["id"]));
        }
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} cases compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
