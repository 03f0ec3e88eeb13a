//! The file that says which topic a replica's log belongs to.
//!
//! Names of topics come back after a deletion, ids never do. A folder without the file belongs to
//! no topic: it is either about to be removed or was never finished.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::{Doing, StorageError};
use crate::core::ids::TopicId;

const FILE: &str = "topic-id";

/// Writes the id into the folder of a new log. The folder itself is the caller's to sync.
pub(super) fn write(dir: &Path, id: TopicId) -> Result<(), StorageError> {
    let path = dir.join(FILE);
    let mut file = File::create(&path).doing("create", &path)?;
    file.write_all(format!("{id:032x}\n").as_bytes())
        .and_then(|()| file.sync_data())
        .doing("write", &path)
}

/// The id of the topic whose log this is; 0 where that cannot be told.
pub(super) fn read(dir: &Path) -> TopicId {
    fs::read_to_string(dir.join(FILE))
        .ok()
        .and_then(|text| TopicId::from_str_radix(text.trim(), 16).ok())
        .unwrap_or(0)
}
