//! `plimsoll check FILE`: judges a stored history again.
//!
//! The file is JSON lines, plain or zstd (told by its first bytes, not by its
//! name). Memory stays bounded on hostile files. A file that cannot be read or
//! is malformed ends with the usage code and says which line and why.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use plimsoll_checkers::history::{History, HistoryError, HistoryReader};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{Validity, Verdict, check, judge};
use thiserror::Error;

use crate::cli::Format;
use crate::exit::Exit;
use crate::report::{self, RunMeta};

/// Decompressed bytes of one file; more is no history of ours.
const MAX_BYTES: u64 = 64 << 30;
/// The window that a compressed file may ask for, as a power of two.
const WINDOW_LOG_MAX: u32 = 27;
/// How a zstd frame begins.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A promise is a page of JSON.
const MAX_PROMISE_BYTES: u64 = 1 << 20;

/// What `plimsoll check` is told.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// JSON lines, plain or zstd
    pub file: PathBuf,
    /// Judge under the promise in this JSON file instead of the history's own
    #[arg(long, value_name = "FILE")]
    pub promise: Option<PathBuf>,
    /// Count every loss as a violation
    #[arg(long)]
    pub strict: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
    /// Also write the report as HTML
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Why a history was not judged. The exit code is that of wrong usage.
#[derive(Debug, Error)]
pub enum CheckError {
    /// Nothing there, or not for us.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not a history.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line and the reason.
        source: HistoryError,
    },
    /// Not a promise.
    #[error("{}: not a promise: {reason}", path.display())]
    Promise {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The report could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What was found, and the text to print.
#[derive(Debug)]
pub struct Checked {
    /// The answer.
    pub validity: Validity,
    /// For a person or a script, as asked.
    pub output: String,
}

/// The subcommand: people read stderr, scripts read stdout.
pub fn command(args: &CheckArgs) -> Exit {
    match run(args, report::stderr_has_colour()) {
        Ok(checked) => {
            let written = match args.format {
                Format::Human => io::stderr().write_all(checked.output.as_bytes()),
                Format::Json => io::stdout().write_all(checked.output.as_bytes()),
            };
            match written {
                Ok(()) => Exit::of(checked.validity),
                // Nobody is left to be told; the exit code still says it.
                Err(_) => Exit::TestBed,
            }
        }
        Err(error) => {
            eprintln!("plimsoll: {error}");
            Exit::Usage
        }
    }
}

/// Reads, judges, reports.
pub fn run(args: &CheckArgs, colour: bool) -> Result<Checked, CheckError> {
    let history = read_history(&args.file)?;
    let promise = promise(args, &history)?;
    let meta = RunMeta::of_history(&history, &args.file.display().to_string());
    let mut verdict = judge(check(&history), &promise);
    verdict.replay.clone_from(&meta.replay);
    if let Some(path) = &args.html {
        let page = report::page(&history, &verdict, &meta);
        std::fs::write(path, page).map_err(|source| CheckError::Unwritable {
            path: path.clone(),
            source,
        })?;
    }
    Ok(Checked {
        validity: verdict.valid,
        output: output(args, &history, &verdict, &meta, colour),
    })
}

fn output(
    args: &CheckArgs,
    history: &History,
    verdict: &Verdict,
    meta: &RunMeta,
    colour: bool,
) -> String {
    match args.format {
        Format::Human => {
            let mut text = report::terminal(history, verdict, meta, colour);
            if history.header().is_none() && args.promise.is_none() {
                text.push_str("The history names no promise, so every loss counts.\n");
            }
            text
        }
        Format::Json => report::verdict_json(verdict, meta) + "\n",
    }
}

fn promise(args: &CheckArgs, history: &History) -> Result<Promise, CheckError> {
    let mut promise = match (&args.promise, history.header()) {
        (Some(path), _) => read_promise(path)?,
        (None, Some(header)) => header.promise.clone(),
        (None, None) => Promise::unstated(),
    };
    if args.strict {
        promise.be_strict();
    }
    Ok(promise)
}

/// A promise alone, or a history's header, or verdict.json, which carry one.
fn read_promise(path: &Path) -> Result<Promise, CheckError> {
    let unreadable = |source| CheckError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    let mut limited = file.take(MAX_PROMISE_BYTES);
    limited.read_to_string(&mut text).map_err(unreadable)?;
    let read = |text: &str| -> Result<Promise, serde_json::Error> {
        let mut json: serde_json::Value = serde_json::from_str(text)?;
        match json.get_mut("promise") {
            Some(inner) => serde_json::from_value(inner.take()),
            None => serde_json::from_value(json),
        }
    };
    read(&text).map_err(|error| CheckError::Promise {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Where a history is: a run's folder stands for the one in it, which a run that was killed has
/// left uncompressed.
fn stored_at(path: &Path) -> PathBuf {
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

/// Reads a stored history, plain or compressed.
pub fn read_history(path: &Path) -> Result<History, CheckError> {
    let unreadable = |source| CheckError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let malformed = |source| CheckError::Malformed {
        path: path.to_owned(),
        source,
    };
    let mut source = open(&stored_at(path)).map_err(unreadable)?;
    let mut reader = HistoryReader::new();
    let mut buffer = vec![0; 1 << 20];
    let mut total = 0_u64;
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            // A run that was killed while it compressed leaves a cut frame.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(unreadable(error)),
        };
        total += read as u64;
        if total > MAX_BYTES {
            return Err(unreadable(io::Error::other(format!(
                "more than {MAX_BYTES} bytes when decompressed"
            ))));
        }
        reader.push_bytes(&buffer[..read]).map_err(malformed)?;
    }
    reader.finish().map_err(malformed)
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let head = {
        use io::BufRead;
        file.fill_buf()?
    };
    if !head.starts_with(&ZSTD_MAGIC) {
        return Ok(Box::new(file));
    }
    let mut decoder = zstd::stream::read::Decoder::with_buffer(file)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(Box::new(decoder))
}

#[cfg(test)]
mod tests;
