//! Stored histories: JSON lines, EDN or an etcd log, plain or zstd.
//!
//! Compression and format are told by the first bytes, not by the name. Memory
//! stays bounded on hostile files. `-` stands for stdin; other pipes and devices are
//! refused, but for those that the shell has opened (`/dev/fd`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use plimsoll_checkers::formats::{Format, FormatReader};
use plimsoll_checkers::history::History;

use super::CheckError;

/// Decompressed bytes of one file; more is no history of ours.
const MAX_BYTES: u64 = 64 << 30;
/// The window that a compressed file may ask for, as a power of two.
const WINDOW_LOG_MAX: u32 = 27;
/// How a zstd frame begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// How much is read at once.
pub(super) const CHUNK: usize = 1 << 20;

/// Reads a stored history of any format.
pub fn read_history(path: &Path) -> Result<History, CheckError> {
    read_history_as(path, None)
}

/// Reads a stored history of a format that the caller knows, or of any.
pub fn read_history_as(path: &Path, format: Option<Format>) -> Result<History, CheckError> {
    let unreadable = |source| CheckError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let malformed = |source| CheckError::Malformed {
        path: path.to_owned(),
        source,
    };
    if path.is_dir() && !stored_at(path).exists() {
        let reason =
            "it holds no history.jsonl and no history.jsonl.zst; is it the folder of a run?";
        return Err(unreadable(io::Error::other(reason)));
    }
    let mut source = open(&stored_at(path)).map_err(unreadable)?;
    let mut buffer = vec![0; CHUNK];
    let mut reader: Option<FormatReader> = None;
    let mut total = 0_u64;
    loop {
        let read = fill(&mut source, &mut buffer).map_err(unreadable)?;
        total += read as u64;
        if total > MAX_BYTES {
            return Err(unreadable(io::Error::other(format!(
                "more than {MAX_BYTES} bytes when decompressed"
            ))));
        }
        let bytes = &buffer[..read];
        let reader = reader.get_or_insert_with(|| {
            FormatReader::new(format.unwrap_or_else(|| Format::sniff(bytes)))
        });
        reader.push_bytes(bytes).map_err(malformed)?;
        if read < buffer.len() {
            break;
        }
    }
    let reader = reader.unwrap_or_else(|| FormatReader::new(Format::JsonLines));
    reader.finish().map_err(malformed)
}

/// Reads until the buffer is full or the source ends, so that a pipe's first
/// bytes are enough to tell a format.
pub(super) fn fill(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A run that was killed while it compressed leaves a cut frame.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Where a history is: a run's folder stands for the one in it, which a run that was killed has
/// left uncompressed.
pub(super) fn stored_at(path: &Path) -> PathBuf {
    let plain = |compressed: PathBuf| {
        let uncompressed = compressed.with_extension("");
        if !compressed.exists() && uncompressed.exists() {
            uncompressed
        } else {
            compressed
        }
    };
    if path.is_dir() {
        plain(path.join("history.jsonl.zst"))
    } else if path.extension().is_some_and(|extension| extension == "zst") {
        plain(path.to_owned())
    } else {
        path.to_owned()
    }
}

/// A pipe that nobody writes to is waited for without an end, already when it is opened. The links
/// of `/dev/fd`, such as a shell gives, are open already.
fn can_end(path: &Path) -> io::Result<bool> {
    let open_already = path.as_os_str() == "-"
        || path.as_os_str() == "/dev/stdin"
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd");
    Ok(open_already || std::fs::metadata(path)?.is_file())
}

pub(super) fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if !can_end(path)? {
        let why = "it is no regular file; a stream is given as standard input, which is called -";
        return Err(io::Error::other(why));
    }
    let source: Box<dyn Read + Send> = match path.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path)?),
    };
    let mut source = BufReader::with_capacity(1 << 16, source);
    if !source.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        return Ok(Box::new(source));
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(Box::new(decoder))
}
