//! A folder that only one process may use at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Held for as long as the file is open; the system gives it back when the process ends, however it
/// does.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes it, or says that the folder is in use.
    pub fn take(folder: &Path, file: &str, holder: &str) -> io::Result<FolderLock> {
        let path = folder.join(file);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // SAFETY: a system call on a descriptor that is open; the lock ends with it.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } < 0 {
            let why = format!("{} is in use by another {holder}", folder.display());
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, why));
        }
        Ok(FolderLock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_used_by_one_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let take = || FolderLock::take(folder.path(), "a.lock", "soak");
        let first = take().expect("free");
        let why = take().expect_err("taken").to_string();
        assert!(why.contains("in use by another soak"), "{why}");
        drop(first);
        assert!(take().is_ok());
    }
}
