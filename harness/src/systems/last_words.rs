//! The last lines of a log, however long the log is and whatever it holds.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const LINES: usize = 15;
const BYTES: u64 = 16 * 1024;
const QUOTED: usize = 200;

/// Fit for a terminal: control characters, which might clear it, are shown as what they are.
pub fn last_words(log: &Path) -> String {
    let text = tail(log).unwrap_or_else(|e| format!("({e})").into_bytes());
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.get(lines.len().saturating_sub(LINES)..);
    let shown = last.unwrap_or_default().iter().map(|line| printable(line));
    shown.collect::<Vec<_>>().join("\n")
}

fn tail(log: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe would wait for whoever writes into it.
    if !std::fs::metadata(log)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(BYTES)))?;
    let mut text = Vec::new();
    file.take(BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// What somebody said, short enough to be quoted.
pub fn shortened(said: &str) -> String {
    let said = printable(said.trim_end());
    match said.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}... ({} bytes)", &said[..end], said.len()),
        None => said,
    }
}

/// A line with its control characters escaped.
pub fn printable(line: &str) -> String {
    let shown = |c: char| match c {
        '\t' => " ".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    line.chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_short_and_printable() {
        assert_eq!(shortened("a\u{1b}b\n"), "a\\u{1b}b");
        let long = shortened(&"x".repeat(5000));
        assert!(long.len() < 300 && long.contains("5000 bytes"), "{long}");
    }

    #[test]
    fn only_the_end_of_a_long_log_is_read_and_nothing_in_it_reaches_a_terminal_raw() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("broker.log");
        let mut text = "x\n".repeat(200_000).into_bytes();
        text.extend(b"\xff\x1b[2Jlast\twords\n");
        std::fs::write(&log, text).expect("room");
        let words = last_words(&log);
        assert_eq!(words.lines().count(), LINES);
        assert!(words.ends_with("\u{fffd}\\u{1b}[2Jlast words"), "{words}");
        assert_eq!(
            last_words(Path::new("/dev/zero")),
            "(it is no regular file)"
        );
    }
}
