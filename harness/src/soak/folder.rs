//! A soak's folder: the plan, a line for every run, what is kept of failing
//! runs, and the summaries. Promises: a kill at any moment leaves at most a
//! torn last line, which is cut off; summaries are replaced in one step; what
//! is kept stays within its bound.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::record::Record;
use crate::store::{FolderLock, RunFolder};

const LOG: &str = "soak.jsonl";
const LOCK: &str = "soak.lock";
const RUNNING: &str = "running";
const KEPT: &str = "kept";
/// Left in a run's folder that was thinned, with what is gone.
pub const THINNED: &str = "THINNED";

/// What a thinning leaves, step by step.
const STEPS: [(&str, &[&str]); 3] = [
    (
        "thinned to its verdict and history to stay within --max-disk",
        &[
            "test.json",
            "verdict.json",
            "history.jsonl",
            "history.jsonl.zst",
        ],
    ),
    (
        "thinned to its verdict to stay within --max-disk",
        &["test.json", "verdict.json"],
    ),
    (
        "thinned to its settings to stay within --max-disk",
        &["test.json"],
    ),
];

/// The folder of one soak; locked while it is used.
#[derive(Debug)]
pub struct SoakFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl SoakFolder {
    pub fn create(out: &Path, seed: u64) -> io::Result<(SoakFolder, String)> {
        let (folder, started_utc) = RunFolder::create(out, "soak", seed)?;
        Ok((SoakFolder::open(folder.path())?, started_utc))
    }

    /// Takes the folder for this process and clears away what a kill left.
    pub fn open(path: &Path) -> io::Result<SoakFolder> {
        let path = fs::canonicalize(path)?;
        let lock = FolderLock::take(&path, LOCK, "soak")?;
        let folder = SoakFolder { path, _lock: lock };
        remove(&folder.path.join(RUNNING));
        fs::create_dir_all(folder.path.join(RUNNING))?;
        fs::create_dir_all(folder.path.join(KEPT))?;
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a run in progress puts its folder.
    pub fn running(&self, name: &str) -> PathBuf {
        self.path.join(RUNNING).join(name)
    }

    /// The lines so far, and the log to add to. A torn last line is cut off.
    pub fn records(&self) -> io::Result<(Vec<Record>, File)> {
        let path = self.path.join(LOG);
        let mut log = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)?;
        let mut text = Vec::new();
        log.read_to_end(&mut text)?;
        let whole = text
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        log.set_len(u64::try_from(whole).unwrap_or(0))?;
        let broken = |nth: usize, error: serde_json::Error| {
            let why = format!("{}, line {}: {error}", path.display(), nth + 1);
            io::Error::new(io::ErrorKind::InvalidData, why)
        };
        let lines = text[..whole].split(|byte| *byte == b'\n').enumerate();
        let records = lines
            .filter(|(_, line)| !line.is_empty())
            .map(|(nth, line)| serde_json::from_slice(line).map_err(|e| broken(nth, e)))
            .collect::<io::Result<Vec<Record>>>()?;
        Ok((records, log))
    }

    /// Writes a file so that a reader sees the old one or the new one.
    pub fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let temporary = self.path.join(format!(".{name}.new"));
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        fs::rename(temporary, self.path.join(name))
    }

    pub fn read(&self, name: &str) -> io::Result<String> {
        let path = self.path.join(name);
        let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
        plimsoll_broker::small_file::read(&path).map_err(named)
    }

    /// Drops the folder of a run in progress.
    pub fn discard(&self, name: &str) {
        remove(&self.running(name));
    }

    /// Moves the run's folder to those that are kept; gives its place in the soak's folder.
    pub fn keep(&self, name: &str, label: &str) -> io::Result<Option<String>> {
        let made = fs::read_dir(self.running(name));
        let run = made
            .into_iter()
            .flatten()
            .flatten()
            .find(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let kept = match run {
            None => None,
            Some(run) => {
                let place = format!("{KEPT}/{label}");
                remove(&self.path.join(&place));
                fs::rename(run.path(), self.path.join(&place))?;
                Some(place)
            }
        };
        self.discard(name);
        Ok(kept)
    }

    /// Bytes of everything but the runs in progress.
    pub fn bytes(&self) -> u64 {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.file_name() != RUNNING)
            .map(|entry| bytes_of(&entry.path()))
            .sum()
    }

    /// Thins the oldest kept runs until everything is within `max`, never the
    /// newest; tells each one that was thinned and how.
    pub fn thin(&self, max: u64) -> io::Result<Vec<String>> {
        let (mut total, mut said) = (self.bytes(), Vec::new());
        let mut runs = self.kept()?;
        runs.pop();
        for (how, left) in STEPS {
            for run in &runs {
                if total <= max {
                    return Ok(said);
                }
                let before = bytes_of(run);
                if keep_only(run, left, how)? {
                    let name = run.file_name().unwrap_or_default().to_string_lossy();
                    said.push(format!("{name} was {how}"));
                }
                total = total.saturating_sub(before.saturating_sub(bytes_of(run)));
            }
        }
        Ok(said)
    }

    /// Kept runs, oldest first; their names begin with a number.
    fn kept(&self) -> io::Result<Vec<PathBuf>> {
        let mut runs: Vec<PathBuf> = fs::read_dir(self.path.join(KEPT))?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        runs.sort();
        Ok(runs)
    }

    /// How many runs are kept, and how many of them thinned.
    pub fn kept_and_thinned(&self) -> (usize, usize) {
        let runs = self.kept().unwrap_or_default();
        let thinned = runs.iter().filter(|run| run.join(THINNED).exists()).count();
        (runs.len(), thinned)
    }
}

/// Removes everything else from a run's folder; tells whether there was anything.
fn keep_only(run: &Path, left: &[&str], how: &str) -> io::Result<bool> {
    let mut removed = false;
    for entry in fs::read_dir(run)?.flatten() {
        let name = entry.file_name();
        let stays = name == THINNED || left.iter().any(|kept| name == *kept);
        if !stays {
            remove(&entry.path());
            removed = true;
        }
    }
    if removed {
        fs::write(run.join(THINNED), format!("This run was {how}.\n"))?;
    }
    Ok(removed)
}

/// Removes a file or a folder. A lab that was killed may still be writing for
/// a moment, so a few tries are made; what stays only takes up space.
fn remove(path: &Path) {
    for _ in 0..20 {
        let gone = match fs::symlink_metadata(path) {
            Err(_) => return,
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
        };
        if gone.is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn bytes_of(path: &Path) -> u64 {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !meta.is_dir() {
        return meta.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| bytes_of(&entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::passed;
    use super::*;

    fn folder() -> (tempfile::TempDir, SoakFolder) {
        let out = tempfile::tempdir().expect("a folder");
        let (folder, _) = SoakFolder::create(out.path(), 7).expect("made");
        (out, folder)
    }

    fn make_run(folder: &SoakFolder, name: &str) -> String {
        let run = folder.running(name).join("20260101T000000Z-log-7");
        fs::create_dir_all(run.join("nodes/n1")).expect("made");
        for (file, size) in [
            ("test.json", 100),
            ("verdict.json", 1_000),
            ("history.jsonl.zst", 10_000),
            ("nodes/n1/broker.log", 100_000),
        ] {
            fs::write(run.join(file), vec![b'x'; size]).expect("written");
        }
        folder
            .keep(name, name)
            .expect("moved")
            .expect("there was one")
    }

    #[test]
    fn a_torn_last_line_is_cut_off_and_the_rest_is_read() {
        let (_out, folder) = folder();
        let (none, mut log) = folder.records().expect("no lines");
        assert!(none.is_empty());
        let line = serde_json::to_string(&passed(0, "a")).expect("plain data");
        write!(log, "{line}\n{}", &line[..30]).expect("written");
        let (records, mut log) = folder.records().expect("one line");
        assert_eq!(records, [passed(0, "a")]);
        writeln!(log, "{line}").expect("written");
        assert_eq!(folder.records().expect("two lines").0.len(), 2);
    }

    #[test]
    fn the_oldest_kept_runs_are_thinned_first_and_the_newest_never() {
        let (_out, folder) = folder();
        for name in ["000001-a", "000002-a", "000003-a"] {
            make_run(&folder, name);
        }
        let said = folder.thin(240_000).expect("thinned");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("000001-a") && said[0].contains("history"),
            "{said:?}"
        );
        let first = folder.path().join("kept/000001-a");
        assert!(first.join("history.jsonl.zst").exists() && !first.join("nodes").exists());
        folder.thin(112_000).expect("thinned");
        assert!(!first.join("history.jsonl.zst").exists() && first.join("test.json").exists());
        assert!(
            folder
                .path()
                .join("kept/000003-a/nodes/n1/broker.log")
                .exists()
        );
        assert_eq!(folder.kept_and_thinned(), (3, 2));
        assert!(
            folder.thin(112_000).expect("nothing to do").is_empty() || folder.bytes() <= 113_000
        );
    }

    #[test]
    fn a_folder_in_use_is_refused() {
        let (_out, folder) = folder();
        let error = SoakFolder::open(folder.path()).expect_err("in use");
        assert!(error.to_string().contains("another soak"), "{error}");
    }

    #[test]
    fn what_a_kill_left_of_a_run_is_cleared_away() {
        let (_out, folder) = folder();
        fs::create_dir_all(folder.running("r9/x")).expect("made");
        let path = folder.path().to_owned();
        drop(folder);
        let folder = SoakFolder::open(&path).expect("free again");
        assert!(!folder.running("r9").exists());
    }
}
