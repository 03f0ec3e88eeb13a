//! A run's folder: `<utc>-<workload>-<seed>/` with everything that the run
//! leaves behind, and `latest` pointing at the newest.

mod lock;

pub use lock::FolderLock;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes a new folder and points `latest` at it.
    pub fn create(out: &Path, workload: &str, seed: u64) -> io::Result<(RunFolder, String)> {
        fs::create_dir_all(out)?;
        let started = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
        let stamp = started.replace(['-', ':'], "");
        let path = new_folder(out, &format!("{stamp}-{workload}-{seed}"))?;
        point_latest(out, &path);
        Ok((RunFolder { path }, started))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// One folder a node is in here.
    pub fn nodes(&self) -> PathBuf {
        self.path.join("nodes")
    }

    /// The journal while the run goes on.
    pub fn journal(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }

    pub fn write_json(&self, name: &str, value: &serde_json::Value) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        fs::write(self.path.join(name), text)
    }

    /// Compresses the journal, now that nothing more is added.
    pub fn compress_journal(&self) -> io::Result<()> {
        let plain = self.journal();
        let packed = self.path.join("history.jsonl.zst");
        let mut source = File::open(&plain)?;
        zstd::stream::copy_encode(&mut source, File::create(&packed)?, 3)?;
        fs::remove_file(plain)
    }

    /// What stood on the disks is of no further use where nothing was found.
    pub fn drop_evidence(&self) {
        // What cannot be removed only takes up space.
        let _ = fs::remove_file(self.path.join(crate::evidence::FILE));
    }

    /// The nodes' logs of records, in the folder `data` of each, are of no further use after a
    /// valid run.
    pub fn drop_node_data(&self, data: &str) {
        let Ok(nodes) = fs::read_dir(self.nodes()) else {
            return;
        };
        for node in nodes.flatten() {
            // What cannot be removed only takes up space.
            let _ = fs::remove_dir_all(node.path().join(data));
        }
    }
}

fn new_folder(out: &Path, name: &str) -> io::Result<PathBuf> {
    for attempt in 1..1000 {
        let name = if attempt == 1 {
            name.to_owned()
        } else {
            format!("{name}-{attempt}")
        };
        match fs::create_dir(out.join(&name)) {
            Ok(()) => return Ok(out.join(name)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other(format!(
        "a thousand folders named {name} exist in {}",
        out.display()
    )))
}

/// Replaces the link in one step; a run is no worse for lacking it.
fn point_latest(out: &Path, run: &Path) {
    let Some(name) = run.file_name() else { return };
    let temporary = out.join(format!(".latest-{}", std::process::id()));
    if std::os::unix::fs::symlink(name, &temporary).is_ok() {
        let _ = fs::rename(&temporary, out.join("latest"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_in_one_second_have_two_folders_and_latest_is_the_second() {
        let out = tempfile::tempdir().expect("a folder");
        let (first, _) = RunFolder::create(out.path(), "log", 7).expect("a folder");
        let (second, _) = RunFolder::create(out.path(), "log", 7).expect("another");
        assert_ne!(first.path(), second.path());
        let latest = fs::canonicalize(out.path().join("latest")).expect("a link");
        assert_eq!(latest, fs::canonicalize(second.path()).expect("it exists"));
    }

    #[test]
    fn data_is_dropped_whatever_its_folder_is_called_and_logs_stay() {
        let out = tempfile::tempdir().expect("a folder");
        let (run, _) = RunFolder::create(out.path(), "log", 7).expect("a folder");
        let node = run.nodes().join("n1");
        fs::create_dir_all(node.join("var/records/log-0")).expect("made");
        fs::write(node.join("broker.log"), "words").expect("written");
        run.drop_node_data("var/records");
        assert!(!node.join("var/records").exists());
        assert!(node.join("broker.log").exists());
    }
}
