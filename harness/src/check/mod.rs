//! `plimsoll check FILE`: judges a stored history again.
//!
//! What it is judged as, a log or another object, the option `--model` says, or
//! else the history itself. A file that cannot be read or is malformed ends
//! with the usage code and says which line and why.

mod cut;
mod large;
mod load;
mod object;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use plimsoll_broker::small_file;
use plimsoll_checkers::history::{History, HistoryError};
use plimsoll_checkers::models::{Model, only_log_ops};
use plimsoll_checkers::promise::Promise;
use plimsoll_checkers::{Validity, Verdict, check, judge};
use thiserror::Error;

use crate::cli::Format;
use crate::exit::Exit;
use crate::report::{self, LossReport, RunMeta};

pub use load::{read_history, read_history_as};

/// What `plimsoll check` is told.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// JSON lines, EDN (Jepsen, Knossos) or an etcd log, plain or zstd; `-` is stdin
    pub file: PathBuf,
    /// Judge as this [default: as the history's header says, or else log]
    #[arg(long, value_name = "NAME", value_parser = model_parser())]
    pub model: Option<Model>,
    /// First value of a register, a counter or each key, as JSON; a plain word is a string
    #[arg(
        long,
        value_name = "VALUE",
        allow_hyphen_values = true,
        value_parser = object::parse_initial
    )]
    pub initial: Option<serde_json::Value>,
    /// Judge under the promise in this JSON file instead of the history's own
    #[arg(long, value_name = "FILE")]
    pub promise: Option<PathBuf>,
    /// Count every loss as a violation
    #[arg(long)]
    pub strict: bool,
    /// Judge a log as it is read, in little memory, as is done with large files; it is judged whole
    /// afterwards where it has something to explain
    #[arg(long)]
    pub stream: bool,
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
    /// Not a model.
    #[error("{0}")]
    Model(String),
    /// An option that this history has no use for.
    #[error("{0}")]
    Option(String),
    /// What was read from the nodes' disks.
    #[error("{0}")]
    Evidence(#[from] crate::evidence::EvidenceError),
    /// The report could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn model_parser() -> impl TypedValueParser<Value = Model> {
    PossibleValuesParser::new(Model::NAMES.map(|(name, _)| name))
        .try_map(|name| name.parse::<Model>())
}

/// What was found, and the text to print.
#[derive(Debug)]
pub struct Checked {
    /// The answer.
    pub validity: Validity,
    /// For a person or a script, as asked.
    pub output: String,
    /// Why the page could not be written, where it could not; the verdict stands all the same.
    pub unwritten: Option<CheckError>,
}

/// The subcommand: people read stderr, scripts read stdout.
pub fn command(args: &CheckArgs) -> Exit {
    match run(args, report::stderr_has_colour()) {
        Ok(checked) => {
            let written = match args.format {
                Format::Human => io::stderr().write_all(checked.output.as_bytes()),
                Format::Json => io::stdout().write_all(checked.output.as_bytes()),
            };
            if let Some(note) = cut::note(&load::stored_at(&args.file)) {
                say!("Note: {note}.");
            }
            if let Some(error) = checked.unwritten {
                say!("plimsoll: {error}");
                return Exit::Usage;
            }
            match written {
                Ok(()) => Exit::of(checked.validity),
                // Nobody is left to be told; the exit code still says it.
                Err(_) => Exit::TestBed,
            }
        }
        Err(error) => {
            say!("plimsoll: {error}");
            Exit::Usage
        }
    }
}

/// Reads, judges, reports.
pub fn run(args: &CheckArgs, colour: bool) -> Result<Checked, CheckError> {
    if large::is_for(args)
        && let Some(checked) = large::run(args, colour)?
    {
        return Ok(checked);
    }
    let history = read_history(&args.file)?;
    match object::model_of(args, &history)? {
        Model::Log => run_log(args, &history, colour),
        model => object::run(args, &history, model, colour),
    }
}

fn run_log(args: &CheckArgs, history: &History, colour: bool) -> Result<Checked, CheckError> {
    if args.initial.is_some() {
        let reason = "--initial is for registers and counters, and a log begins empty; give --model or leave it out";
        return Err(CheckError::Option(reason.to_owned()));
    }
    only_log_ops(history).map_err(|source| CheckError::Malformed {
        path: args.file.clone(),
        source,
    })?;
    let promise = promise(args, history)?;
    let meta = meta_of(args, history);
    let mut verdict = judge(check(history), &promise);
    verdict.replay.clone_from(&meta.replay);
    let losses = report::losses(folder_of(&args.file).as_deref(), history, &verdict)?;
    let page = args.html.as_ref();
    let page = page.map(|path| write_page(path, &report::page(history, &verdict, &meta, &losses)));
    Ok(Checked {
        validity: verdict.valid,
        output: output(args, history, &verdict, &meta, &losses, colour),
        unwritten: page.and_then(Result::err),
    })
}

/// The run's folder, which may hold evidence beside the history.
fn folder_of(file: &Path) -> Option<PathBuf> {
    match file.is_dir() {
        true => Some(file.to_owned()),
        false => file.parent().map(Path::to_owned),
    }
}

/// What a report says of the run; a history that names no command of its own is repeated by this one.
fn meta_of(args: &CheckArgs, history: &History) -> RunMeta {
    let mut meta = RunMeta::of_history(history, &args.file.display().to_string());
    if meta
        .replay
        .as_ref()
        .is_none_or(|replay| replay.starts_with("plimsoll check"))
    {
        meta.replay = Some(command_of(args));
    }
    meta
}

/// The command that judges the same way again.
fn command_of(args: &CheckArgs) -> String {
    let mut words = vec!["plimsoll check".to_owned(), args.file.display().to_string()];
    words.extend(args.model.map(|model| format!("--model {}", model.name())));
    words.extend(
        args.initial
            .as_ref()
            .map(|initial| format!("--initial '{initial}'")),
    );
    words.extend(
        args.promise
            .as_ref()
            .map(|path| format!("--promise {}", path.display())),
    );
    words.extend(args.strict.then(|| "--strict".to_owned()));
    words.extend(args.stream.then(|| "--stream".to_owned()));
    words.join(" ")
}

fn write_page(path: &Path, page: &str) -> Result<(), CheckError> {
    std::fs::write(path, page).map_err(|source| CheckError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

fn output(
    args: &CheckArgs,
    history: &History,
    verdict: &Verdict,
    meta: &RunMeta,
    losses: &LossReport,
    colour: bool,
) -> String {
    match args.format {
        Format::Human => {
            let mut text = report::terminal(verdict, meta, losses, colour);
            if history.header().is_none() && args.promise.is_none() {
                text.push_str("The history names no promise, so every loss counts.\n");
            }
            text
        }
        Format::Json => report::verdict_json(verdict, meta, losses) + "\n",
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
    let text = small_file::read(path).map_err(unreadable)?;
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

#[cfg(test)]
mod tests;
