//! Public histories with known verdicts, in the formats in which they were
//! published. They are read in place and skipped, with a notice, where they are
//! not.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

use std::path::{Path, PathBuf};

use plimsoll_checkers::Validity;
use plimsoll_checkers::formats::{self, edn};
use plimsoll_checkers::history::History;
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use serde_json::{Value as Json, json};

fn data() -> Option<PathBuf> {
    let folder = match std::env::var_os("PLIMSOLL_CASES") {
        Some(cases) => PathBuf::from(cases).join("../data"),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
    };
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no public histories; set PLIMSOLL_CASES to the folder beside them");
    None
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|found| found == end))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> History {
    let history = formats::read(&std::fs::read(path).unwrap());
    history.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Judges files and tells which got the wrong answer.
struct Compared {
    model: Model,
    options: ModelOptions,
    wrong: Vec<String>,
    right: usize,
}

impl Compared {
    fn new(model: Model, initial: Option<Json>) -> Self {
        Self {
            model,
            options: ModelOptions {
                initial,
                ..ModelOptions::default()
            },
            wrong: Vec::new(),
            right: 0,
        }
    }

    fn expect(&mut self, path: &Path, valid: bool) {
        let expected = match valid {
            true => Validity::Valid,
            false => Validity::Invalid,
        };
        let verdict = judge_model(&read(path), self.model, &self.options)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if verdict.valid == expected {
            self.right += 1;
        } else {
            let reason = verdict.reason.unwrap_or_default();
            let line = format!("{}: {:?} {reason}", path.display(), verdict.valid);
            self.wrong.push(line);
        }
    }

    fn finish(self, files: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert_eq!(self.right, files);
    }
}

#[test]
fn etcd_logs_get_their_published_verdicts() {
    let Some(folder) = data().map(|data| data.join("etcd")) else {
        return;
    };
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut compared = Compared::new(Model::CasRegister, Some(Json::Null));
    let mut files = 0;
    for line in expected.lines() {
        let (name, valid) = line.split_once('\t').unwrap();
        compared.expect(&folder.join(format!("{name}.log")), valid == "true");
        files += 1;
    }
    assert_eq!(files, 60);
    compared.finish(files);
}

#[test]
fn key_value_histories_get_their_published_verdicts() {
    let Some(folder) = data().map(|data| data.join("kv")) else {
        return;
    };
    let mut compared = Compared::new(Model::Kv, None);
    let files = files(&folder, "txt");
    for path in &files {
        let valid = path.to_str().unwrap().ends_with("ok.txt");
        compared.expect(path, valid);
    }
    assert_eq!(files.len(), 6);
    compared.finish(6);
}

#[test]
fn knossos_histories_get_their_published_verdicts() {
    let Some(folder) = data().map(|data| data.join("knossos/cas-register")) else {
        return;
    };
    let mut compared = Compared::new(Model::CasRegister, Some(json!(0)));
    let (good, bad) = (
        files(&folder.join("good"), "edn"),
        files(&folder.join("bad"), "edn"),
    );
    good.iter().for_each(|path| compared.expect(path, true));
    bad.iter().for_each(|path| compared.expect(path, false));
    assert!(good.len() > 40 && bad.len() == 3);
    compared.finish(good.len() + bad.len());
}

/// Every public history.
fn all(data: &Path) -> Vec<PathBuf> {
    let knossos = data.join("knossos/cas-register");
    [
        files(&data.join("etcd"), "log"),
        files(&data.join("kv"), "txt"),
        files(&knossos.join("good"), "edn"),
        files(&knossos.join("bad"), "edn"),
    ]
    .concat()
}

#[test]
fn public_histories_are_whole_and_the_same_after_edn_and_back() {
    let Some(data) = data() else { return };
    for path in all(&data) {
        let text = std::fs::read_to_string(&path).unwrap();
        let history = read(&path);
        let of_an_op = match path.extension().is_some_and(|end| end == "log") {
            true => "jepsen.util",
            false => ":process",
        };
        let expected = text.matches(of_an_op).count();
        assert_eq!(history.ops().len(), expected, "{}", path.display());
        let mut written = String::new();
        history
            .ops()
            .iter()
            .for_each(|op| edn::write_op(op, &mut written));
        let again = formats::read(written.as_bytes()).unwrap();
        assert_eq!(again.ops(), history.ops(), "{}", path.display());
    }
}
