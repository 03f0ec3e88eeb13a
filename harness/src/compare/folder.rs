//! The folder of a comparison: its plan, a line for each run that has ended, and the runs themselves.
//!
//! A line is appended and synced when its run has ended, so that a comparison that is killed goes on
//! where it was: a torn last line is a run that is made again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::FolderLock;

/// Where a comparison is kept when nobody says.
const RESULTS: &str = "results";
const RUNS: &str = "runs";

/// What a comparison was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub plimsoll: String,
    pub started_utc: String,
    /// Options of `test`.
    pub words: Vec<String>,
    pub runs: usize,
}

/// One run that has ended with a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub cell: usize,
    /// The cell in words.
    pub settings: String,
    pub run: usize,
    pub seed: u64,
    /// The run's folder, relative to the comparison's.
    pub folder: Option<String>,
    pub verdict: Value,
}

/// One comparison on disk.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: FolderLock,
}

impl Folder {
    /// A new comparison, in a folder that holds none.
    pub fn create(
        out: Option<&Path>,
        words: &[String],
        runs: usize,
    ) -> anyhow::Result<(Self, Plan)> {
        let started_utc =
            humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
        let path = match out {
            Some(path) => path.to_owned(),
            None => free_name(&started_utc.replace(['-', ':'], "")),
        };
        if plan_file(&path).exists() {
            anyhow::bail!(
                "{0} holds a comparison already; go on with it by --resume {0}, or name another --out",
                path.display()
            );
        }
        fs::create_dir_all(path.join(RUNS))
            .with_context(|| format!("making {}", path.display()))?;
        let folder = Self::locked(path)?;
        let plan = Plan {
            plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
            started_utc,
            words: words.to_vec(),
            runs,
        };
        folder.write_plan(&plan)?;
        Ok((folder, plan))
    }

    /// A comparison that was begun before.
    pub fn resume(path: &Path) -> anyhow::Result<(Self, Plan)> {
        let file = plan_file(path);
        let text = fs::read(&file).with_context(|| {
            format!(
                "{} is no comparison to go on with: cannot read {}",
                path.display(),
                file.display()
            )
        })?;
        let plan = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not a comparison's plan", file.display()))?;
        let folder = Self::locked(path.to_owned())?;
        folder.drop_unfinished();
        Ok((folder, plan))
    }

    fn locked(path: PathBuf) -> anyhow::Result<Self> {
        let lock = FolderLock::take(&path, "compare.lock", "comparison")?;
        Ok(Self { path, _lock: lock })
    }

    /// Removes what is left of runs that were killed: each is made again.
    pub fn drop_unfinished(&self) {
        let runs = fs::read_dir(self.runs()).into_iter().flatten().flatten();
        for run in runs {
            let is_run = run.file_type().is_ok_and(|kind| kind.is_dir());
            if is_run && !run.path().join("verdict.json").exists() {
                // What cannot be removed takes room, and nothing else.
                let _ = fs::remove_dir_all(run.path());
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the runs' own folders are.
    pub fn runs(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    pub fn write_plan(&self, plan: &Plan) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(plan)? + "\n";
        self.write("plan.json", &text)
    }

    /// Writes a file of the comparison, whole or not at all.
    pub fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let (file, temporary) = (self.path.join(name), self.path.join(format!(".{name}.new")));
        fs::write(&temporary, text)
            .and_then(|()| fs::rename(&temporary, &file))
            .with_context(|| format!("cannot write {}; is the disk full?", file.display()))
    }

    /// The runs that have ended, and the file to which further ones are appended.
    pub fn lines(&self) -> anyhow::Result<(Vec<Line>, Log)> {
        let path = self.path.join("runs.jsonl");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| format!("reading {}", path.display())),
        };
        // What has no newline was being written when the comparison was killed.
        let whole = text.rfind('\n').map_or(0, |last| last + 1);
        let mut lines = Vec::new();
        for (number, line) in text[..whole].lines().enumerate() {
            let line = serde_json::from_str(line).with_context(|| {
                format!(
                    "{}: line {} is no run of a comparison",
                    path.display(),
                    number + 1
                )
            })?;
            lines.push(line);
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("opening {}", path.display()))?;
        file.set_len(whole as u64)
            .with_context(|| format!("mending {}", path.display()))?;
        Ok((lines, Log { file }))
    }
}

fn plan_file(comparison: &Path) -> PathBuf {
    comparison.join("plan.json")
}

/// runs.jsonl, open.
#[derive(Debug)]
pub struct Log {
    file: File,
}

impl Log {
    /// Appends a line in one write and syncs it.
    pub fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.file.sync_data()
    }
}

fn free_name(stamp: &str) -> PathBuf {
    let name = |attempt: u32| match attempt {
        1 => format!("{stamp}-compare"),
        attempt => format!("{stamp}-compare-{attempt}"),
    };
    let places = (1..1000).map(|attempt| Path::new(RESULTS).join(name(attempt)));
    let mut free = places.filter(|path| !path.exists());
    free.next()
        .unwrap_or_else(|| Path::new(RESULTS).join(name(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(run: usize) -> Line {
        Line {
            cell: 0,
            settings: "acks=1".to_owned(),
            run,
            seed: 7,
            folder: None,
            verdict: json!({"valid": true}),
        }
    }

    #[test]
    fn a_torn_line_is_a_run_that_is_made_again() {
        let out = tempfile::tempdir().expect("a folder");
        let place = out.path().join("c");
        let (folder, plan) = Folder::create(Some(&place), &[], 3).expect("new");
        let (_, mut log) = folder.lines().expect("empty");
        log.append(&line(0)).expect("room");
        let file = place.join("runs.jsonl");
        let whole = fs::read_to_string(&file).expect("a file");
        fs::write(&file, format!("{whole}{}", &whole[..20])).expect("room");
        let half = folder.runs().join("half");
        let whole = folder.runs().join("whole");
        for run in [&half, &whole] {
            fs::create_dir_all(run).expect("room");
        }
        fs::write(whole.join("verdict.json"), "{}").expect("room");
        let taken = Folder::resume(&place).expect_err("in use");
        assert!(
            format!("{taken:#}").contains("another comparison"),
            "{taken:#}"
        );
        drop(folder);
        let (folder, again) = Folder::resume(&place).expect("there");
        assert_eq!(plan, again);
        assert!(!half.exists() && whole.exists());
        let (lines, mut log) = folder.lines().expect("mended");
        assert_eq!(lines, [line(0)]);
        log.append(&line(1)).expect("room");
        assert_eq!(folder.lines().expect("whole").0.len(), 2);
    }

    #[test]
    fn a_folder_that_holds_a_comparison_is_not_overwritten() {
        let out = tempfile::tempdir().expect("a folder");
        let _held = Folder::create(Some(out.path()), &[], 3).expect("new");
        let error = Folder::create(Some(out.path()), &[], 3).expect_err("taken");
        assert!(error.to_string().contains("--resume"), "{error}");
        let error = Folder::resume(&out.path().join("absent")).expect_err("absent");
        assert!(format!("{error:#}").contains("plan.json"), "{error:#}");
    }
}
