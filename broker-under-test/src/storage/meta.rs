//! Small state, replaced as a whole: written beside, synced, renamed. A checksum tells a whole
//! file from anything else.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::{Doing, StorageError, sync_dir};
use crate::core::seam::MetaKey;

/// The file of a key.
#[must_use]
pub fn file_name(key: MetaKey) -> &'static str {
    match key {
        MetaKey::HardState => "hard-state",
        MetaKey::HighWatermarks => "high-watermarks",
    }
}

/// Replaces the state of `key`; it is on disk when this returns.
///
/// # Errors
/// Where the disk refuses.
pub fn save(dir: &Path, key: MetaKey, bytes: &[u8]) -> Result<(), StorageError> {
    let path = dir.join(file_name(key));
    let beside = path.with_extension("new");
    let mut file = File::create(&beside).doing("create", &beside)?;
    file.write_all(&crc32c::crc32c(bytes).to_be_bytes())
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .doing("write", &beside)?;
    fs::rename(&beside, &path).doing("replace", &path)?;
    sync_dir(dir)
}

/// The state of `key`; none where it was never saved.
///
/// # Errors
/// Where the disk refuses, or the file is not whole: it is replaced by rename, so a kill or a loss
/// of power never leaves half of one, and a forgotten vote could be given twice.
pub fn load(dir: &Path, key: MetaKey) -> Result<Option<Vec<u8>>, StorageError> {
    let path = dir.join(file_name(key));
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).doing("read", &path),
    };
    match bytes.split_first_chunk::<4>() {
        Some((crc, body)) if crc32c::crc32c(body) == u32::from_be_bytes(*crc) => {
            Ok(Some(body.to_vec()))
        }
        _ => Err(std::io::Error::other("its checksum does not match")).doing("trust", &path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_state_comes_back_and_a_damaged_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(load(dir.path(), MetaKey::HardState).unwrap(), None);
        save(dir.path(), MetaKey::HardState, b"term 4").unwrap();
        assert_eq!(
            load(dir.path(), MetaKey::HardState).unwrap(),
            Some(b"term 4".to_vec())
        );
        fs::write(dir.path().join("hard-state"), b"damaged").unwrap();
        let error = load(dir.path(), MetaKey::HardState).unwrap_err();
        assert!(error.to_string().contains("checksum"), "{error}");
    }
}
