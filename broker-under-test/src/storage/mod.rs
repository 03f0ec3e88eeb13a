//! A node's disk: segment logs of raw batches, the Raft log, and small state; on threads of its
//! own, so that a slow disk never delays a tick.
//!
//! Promises: what was completed as `Written` survives kill -9 at any moment, what was completed as
//! `Synced` a loss of power; recovery checks every batch and cuts the log at the first that is
//! torn or does not match its checksum; operations of one log complete in the order of issue.
//!
//! Layout of a data directory:
//! ```text
//! quorum.log                     Raft entries, framed
//! hard-state, high-watermarks    small state, replaced by rename
//! partitions/TOPIC-N/topic-id                    whose log it is
//! partitions/TOPIC-N/00000000000000000000.log    batches from that offset on
//! ```

pub mod meta;
pub mod quorum_log;
pub mod recovery;
pub mod segment_log;
pub mod threads;
mod topic_id;

use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why storage failed: what was done, where, and what the system said.
#[derive(Debug, Error)]
#[error("cannot {what} {}: {source}", path.display())]
pub struct StorageError {
    what: &'static str,
    path: PathBuf,
    source: std::io::Error,
}

/// Says of an IO error what was being done.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str, path: &Path) -> Result<T, StorageError>;
}

impl<T> Doing<T> for std::io::Result<T> {
    fn doing(self, what: &'static str, path: &Path) -> Result<T, StorageError> {
        self.map_err(|source| StorageError {
            what,
            path: path.to_owned(),
            source,
        })
    }
}

/// Makes a rename, a new file or a removed one in `dir` survive a loss of power.
fn sync_dir(dir: &Path) -> Result<(), StorageError> {
    std::fs::File::open(dir)
        .and_then(|dir| dir.sync_all())
        .doing("sync the directory", dir)
}
