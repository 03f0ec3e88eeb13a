//! What stood on the nodes' disks once they had stopped: `disk.json` in a run's folder.
//!
//! It is evidence beside the history and never changes a verdict. A record that no reader was shown
//! may still be in a segment, and what became of a send without an answer is often known there only.

mod disk;

pub use disk::read;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The file's name in a run's folder.
pub const FILE: &str = "disk.json";

/// Every node's log segments, read after the stop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskEvidence {
    /// By the node's name.
    pub nodes: BTreeMap<String, NodeDisk>,
}

/// One node's disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDisk {
    /// Records by partition key, in the order in which they stand on the disk.
    #[serde(default)]
    pub partitions: BTreeMap<String, Vec<DiskRecord>>,
    /// What could not be read, in words; what such a node lacks proves nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// One record on a disk; in JSON `[offset, value, leader epoch]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(i64, i64, i32)", into = "(i64, i64, i32)")]
pub struct DiskRecord {
    pub offset: i64,
    pub value: i64,
    /// Epoch of the leader that wrote its batch; -1 where the format does not say.
    pub leader_epoch: i32,
}

impl From<(i64, i64, i32)> for DiskRecord {
    fn from((offset, value, leader_epoch): (i64, i64, i32)) -> Self {
        Self {
            offset,
            value,
            leader_epoch,
        }
    }
}

impl From<DiskRecord> for (i64, i64, i32) {
    fn from(record: DiskRecord) -> Self {
        (record.offset, record.value, record.leader_epoch)
    }
}

/// Why a file is no evidence.
#[derive(Debug, Error)]
pub enum EvidenceError {
    /// There, and not readable.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not of this form.
    #[error("{}: no evidence of disks: {source}; remove the file to report without it", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place and the reason.
        source: serde_json::Error,
    },
}

impl DiskEvidence {
    /// What a run's folder holds; `None` where nobody has looked at the disks.
    pub fn load(folder: &Path) -> Result<Option<Self>, EvidenceError> {
        let path = folder.join(FILE);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(EvidenceError::Unreadable { path, source }),
        };
        match serde_json::from_slice(&text) {
            Ok(evidence) => Ok(Some(evidence)),
            Err(source) => Err(EvidenceError::Malformed { path, source }),
        }
    }

    /// Writes it into a run's folder, whole or not at all.
    pub fn store(&self, folder: &Path) -> io::Result<()> {
        let (file, temporary) = (folder.join(FILE), folder.join(format!(".{FILE}.new")));
        let written = std::fs::write(&temporary, serde_json::to_vec(self)?)
            .and_then(|()| std::fs::rename(&temporary, &file));
        written.map_err(|e| {
            // Of a full disk, every byte that is given back helps the rest of the report.
            let _ = std::fs::remove_file(&temporary);
            io::Error::new(e.kind(), format!("cannot write {}: {e}", file.display()))
        })
    }

    /// Nodes that hold a log of the partition, whatever is in it.
    pub fn replicas_of(&self, key: &str) -> impl Iterator<Item = (&str, &[DiskRecord], bool)> {
        self.nodes.iter().filter_map(move |(name, node)| {
            let records = node.partitions.get(key)?;
            Some((
                name.as_str(),
                records.as_slice(),
                node.unreadable.is_empty(),
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_read_back_as_it_was_written_and_its_absence_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(DiskEvidence::load(folder.path()).expect("none").is_none());
        let text =
            r#"{"nodes":{"n1":{"partitions":{"log-0":[[0,17,3]]}},"n2":{"unreadable":["x"]}}}"#;
        std::fs::write(folder.path().join(FILE), text).expect("room");
        let evidence = DiskEvidence::load(folder.path()).expect("sound");
        let evidence = evidence.expect("there");
        assert_eq!(evidence.nodes["n1"].partitions["log-0"][0].value, 17);
        assert_eq!(evidence.replicas_of("log-0").count(), 1);
        let again = serde_json::to_string(&evidence).expect("plain data");
        assert!(again.contains("[[0,17,3]]"), "{again}");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_and_says_where() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = folder.path().join("gone");
        let why = DiskEvidence::default().store(&gone).expect_err("no folder");
        assert!(why.to_string().contains("gone/disk.json"), "{why}");
        // A name that is taken by a folder: written, but not put in place.
        std::fs::create_dir(folder.path().join(FILE)).expect("room");
        assert!(DiskEvidence::default().store(folder.path()).is_err());
        let left = std::fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(left, 1);
    }

    #[test]
    fn a_file_of_another_form_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(FILE), "{\"nodes\":[]}").expect("room");
        let error = DiskEvidence::load(folder.path()).expect_err("no map");
        assert!(error.to_string().contains("disk.json"), "{error}");
    }
}
