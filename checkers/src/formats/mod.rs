//! Histories in other people's formats: what is read, and how it is told apart.
//!
//! | format | what a line is |
//! |---|---|
//! | JSON lines | ours, see [`crate::history`] |
//! | EDN | Jepsen's `history.edn`: op maps one after another, or one vector of them (Knossos); also key-value histories whose ops carry `:key` |
//! | etcd log | a log of Jepsen's, `INFO  jepsen.util - PROCESS :type :f VALUE` |
//!
//! The format is told by the first bytes. Readers are pure and take bytes as
//! they come; what they hold is bounded by the limits of [`HistoryReader`].

mod carrier;
pub mod edn;
mod etcd;
mod sniff;

use std::str::FromStr;

pub use edn::EdnReader;
pub use etcd::EtcdReader;

use crate::history::{History, HistoryError, HistoryReader};

/// How ops are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// Maps of Clojure's data notation.
    Edn,
    /// Lines of a log by Jepsen's printer.
    EtcdLog,
}

impl Format {
    /// All of them with the names that the command line knows.
    pub const NAMES: [(&'static str, Format); 5] = [
        ("jsonl", Format::JsonLines),
        ("json", Format::JsonLines),
        ("edn", Format::Edn),
        ("kv", Format::Edn),
        ("etcd", Format::EtcdLog),
    ];

    /// The format of a file that begins with `head`; JSON lines where nothing
    /// speaks for another, since their reader has the best messages.
    pub fn sniff(head: &[u8]) -> Format {
        sniff::sniff(head)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = Self::NAMES.iter();
        let found = names.find(|(name, _)| *name == text);
        found
            .map(|(_, format)| *format)
            .ok_or_else(|| format!("no format is named \"{text}\"; known are jsonl, edn, kv, etcd"))
    }
}

/// Reads any of the formats.
#[derive(Debug)]
pub enum FormatReader {
    /// JSON lines.
    JsonLines(HistoryReader),
    /// EDN.
    Edn(EdnReader),
    /// An etcd log.
    EtcdLog(EtcdReader),
}

impl FormatReader {
    /// A reader that has seen nothing.
    pub fn new(format: Format) -> Self {
        match format {
            Format::JsonLines => FormatReader::JsonLines(HistoryReader::new()),
            Format::Edn => FormatReader::Edn(EdnReader::new()),
            Format::EtcdLog => FormatReader::EtcdLog(EtcdReader::new()),
        }
    }

    /// Takes bytes as they come; ops may span calls.
    pub fn push_bytes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        match self {
            FormatReader::JsonLines(reader) => reader.push_bytes(bytes),
            FormatReader::Edn(reader) => reader.push_bytes(bytes),
            FormatReader::EtcdLog(reader) => reader.push_bytes(bytes),
        }
    }

    /// Ends the history.
    pub fn finish(self) -> Result<History, HistoryError> {
        match self {
            FormatReader::JsonLines(reader) => reader.finish(),
            FormatReader::Edn(reader) => reader.finish(),
            FormatReader::EtcdLog(reader) => reader.finish(),
        }
    }
}

/// Reads a whole history that is in memory, in whatever format.
pub fn read(bytes: &[u8]) -> Result<History, HistoryError> {
    let mut reader = FormatReader::new(Format::sniff(bytes));
    reader.push_bytes(bytes)?;
    reader.finish()
}
