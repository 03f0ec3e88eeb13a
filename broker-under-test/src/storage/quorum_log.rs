//! The Raft log on disk: frames one behind the other, with their places in memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Doing, StorageError, sync_dir};
use crate::core::messages::peer::Entry;
use crate::core::raft::log::decode_frame;

/// An open Raft log.
#[derive(Debug)]
pub struct QuorumLog {
    path: PathBuf,
    file: File,
    /// Where entry `i + 1` begins.
    starts: Vec<u64>,
    end: u64,
}

impl QuorumLog {
    /// Opens the log in `dir`, cuts a torn tail, and gives what is left and what was cut.
    ///
    /// # Errors
    /// Where the disk refuses, or the log is damaged in its middle: entries behind the damage may
    /// have been voted on, and cutting them would take back what this node has promised.
    pub fn open(dir: &Path) -> Result<(Self, Vec<Entry>, Option<String>), StorageError> {
        let path = dir.join("quorum.log");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .doing("open", &path)?;
        let bytes = std::fs::read(&path).doing("read", &path)?;
        let (mut starts, mut entries, mut at) = (Vec::new(), Vec::new(), 0);
        while let Some((index, entry, used)) = decode_frame(&bytes[at..]) {
            if index != starts.len() as u64 + 1 {
                break;
            }
            starts.push(at as u64);
            entries.push(entry);
            at += used;
        }
        if has_entry_behind(&bytes[at..], entries.len() as u64) {
            let what = format!(
                "damaged at byte {at}, entry {}, with entries behind",
                entries.len() + 1
            );
            return Err(std::io::Error::other(what)).doing("trust", &path);
        }
        let cut = (at < bytes.len()).then(|| {
            let whole = bytes.len();
            format!(
                "{} is cut at byte {at} of {whole}: a torn tail",
                path.display()
            )
        });
        file.set_len(at as u64)
            .doing("cut the torn tail of", &path)?;
        sync_dir(dir)?;
        let log = Self {
            path,
            file,
            starts,
            end: at as u64,
        };
        Ok((log, entries, cut))
    }

    /// Appends frames whose first has index `at`, the next, and puts them on disk.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.file
            .write_all_at(bytes, self.end)
            .doing("append to", &self.path)?;
        let mut at = 0;
        while let Some((_, _, used)) = decode_frame(&bytes[at..]) {
            self.starts.push(self.end + at as u64);
            at += used;
        }
        self.end += bytes.len() as u64;
        self.file.sync_data().doing("sync", &self.path)
    }

    /// Cuts entry `from` and all after it.
    ///
    /// # Errors
    /// Where the disk refuses.
    pub fn truncate_from(&mut self, from: u64) -> Result<(), StorageError> {
        let keep = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        if let Some(start) = self.starts.get(keep).copied() {
            self.starts.truncate(keep);
            self.end = start;
            self.file.set_len(start).doing("truncate", &self.path)?;
            self.file.sync_data().doing("sync", &self.path)?;
        }
        Ok(())
    }
}

/// Whether a sound entry after `last` stands anywhere in `bytes`, which begin with an unsound one.
fn has_entry_behind(bytes: &[u8], last: u64) -> bool {
    (1..bytes.len()).any(|at| decode_frame(&bytes[at..]).is_some_and(|(index, _, _)| index > last))
}

#[cfg(test)]
mod tests {
    use bytes::{Bytes, BytesMut};

    use super::*;
    use crate::core::raft::log::encode_frame;

    fn frames(from: u64, terms: &[u64]) -> Bytes {
        let mut bytes = BytesMut::new();
        for (index, term) in (from..).zip(terms) {
            let data = Bytes::from(vec![7; 20]);
            encode_frame(index, &Entry { term: *term, data }, &mut bytes);
        }
        bytes.freeze()
    }

    #[test]
    fn entries_come_back_after_truncation_and_a_torn_tail() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _, _) = QuorumLog::open(dir.path()).unwrap();
        log.append(&frames(1, &[1, 1, 2])).unwrap();
        log.truncate_from(3).unwrap();
        log.append(&frames(3, &[3])).unwrap();
        log.append(&frames(4, &[3])[..30]).unwrap();
        let (_, entries, cut) = QuorumLog::open(dir.path()).unwrap();
        assert!(cut.is_some());
        let terms: Vec<u64> = entries.iter().map(|entry| entry.term).collect();
        assert_eq!(terms, vec![1, 1, 3]);
    }

    #[test]
    fn damage_in_the_middle_is_an_error_and_not_a_torn_tail() {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _, _) = QuorumLog::open(dir.path()).unwrap();
        log.append(&frames(1, &[1, 1, 2])).unwrap();
        let path = dir.path().join("quorum.log");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[60] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = QuorumLog::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("entry 2"), "{error}");
    }
}
