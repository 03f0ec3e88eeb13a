//! Files that a person writes, such as settings, read within a bound: a device
//! without an end, or a pipe that nobody writes to, is none.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// No such file is longer.
const BYTES_MAX: u64 = 1 << 20;

/// The text of a regular file of at most 1 MiB.
pub fn read(path: &Path) -> io::Result<String> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    // Looked at before it is opened, since opening a pipe waits for its writer.
    if !fs::metadata(path)?.is_file() {
        return refused("it is no regular file");
    }
    let mut bytes = Vec::new();
    // A file may grow meanwhile, and one of the kernel's does not tell its length.
    let mut bounded = File::open(path)?.take(BYTES_MAX + 1);
    bounded.read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return refused("it is longer than 1 MiB");
    }
    String::from_utf8(bytes).or_else(|_| refused("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound_and_a_device_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings");
        for (length, readable) in [(0, true), (1 << 20, true), ((1 << 20) + 1, false)] {
            fs::write(&path, "x".repeat(length)).unwrap();
            let read = read(&path);
            assert_eq!(read.is_ok(), readable, "{length}");
            assert!(read.map_or(0, |text| text.len()) <= 1 << 20);
        }
        assert!(read(Path::new("/dev/zero")).is_err());
        assert!(read(folder.path()).is_err());
        assert!(read(&folder.path().join("absent")).is_err());
    }
}
