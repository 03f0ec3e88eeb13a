//! `plimsoll convert IN OUT`: the same history in another format, so that Elle
//! and Knossos can judge ours, and we theirs.
//!
//! The file is written beside its place and then moved there: what stands at
//! OUT is whole or untouched. What is not a history is refused as by `check`.

#[cfg(feature = "parquet")]
mod parquet;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plimsoll_checkers::formats::Format;
use thiserror::Error;

use crate::check::{CheckError, read_history_as};
use crate::exit::Exit;

/// What `plimsoll convert` is told.
#[derive(Debug, Clone, Args)]
pub struct ConvertArgs {
    /// A history of any format that `check` reads, plain or zstd; `-` is stdin
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// Where to write: .jsonl or .edn, each also with .zst, or .parquet; `-` is stdout
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// Format of OUT [default: by its name]
    #[arg(long, value_enum)]
    pub to: Option<Target>,
    /// Format of IN [default: told by its first bytes]
    #[arg(long, value_enum)]
    pub from: Option<Source>,
    /// Replace OUT if it exists
    #[arg(long)]
    pub force: bool,
}

/// Formats that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// JSON lines
    #[value(alias = "json")]
    Jsonl,
    /// Op maps as in Jepsen's history.edn
    Edn,
    /// A table with a row for each line, if built with --features parquet
    Parquet,
}

/// Formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// JSON lines
    #[value(alias = "json")]
    Jsonl,
    /// Op maps one after another, or in one vector
    #[value(alias = "kv")]
    Edn,
    /// A log by Jepsen's printer
    Etcd,
}

impl Source {
    fn format(self) -> Format {
        match self {
            Source::Jsonl => Format::JsonLines,
            Source::Edn => Format::Edn,
            Source::Etcd => Format::EtcdLog,
        }
    }
}

/// Why nothing was converted.
#[derive(Debug, Error)]
pub enum ConvertError {
    /// The input is no history.
    #[error(transparent)]
    Input(#[from] CheckError),
    /// The name says nothing.
    #[error("{} names no format: give --to, or a name that ends in .jsonl, .edn or .parquet", .0.display())]
    NoFormat(PathBuf),
    /// Something is there.
    #[error("{} exists; give another name, or --force to replace it", .0.display())]
    Exists(PathBuf),
    /// Something is there that is no file.
    #[error("{} is no regular file, and is not replaced by one; write to - and redirect", .0.display())]
    NoFile(PathBuf),
    /// This build leaves Parquet out.
    #[error(
        "this plimsoll was built without Parquet; build it with `cargo build --release -p plimsoll --features parquet`"
    )]
    NoParquet,
    /// The output could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The subcommand.
pub fn command(args: &ConvertArgs) -> Exit {
    match convert(args) {
        Ok(ops) => {
            if !is_stream(&args.output) {
                say!("{ops} lines written to {}", args.output.display());
            }
            Exit::Valid
        }
        Err(error) => {
            say!("plimsoll: {error}");
            Exit::Usage
        }
    }
}

fn convert(args: &ConvertArgs) -> Result<usize, ConvertError> {
    let target = args.to.or_else(|| named(&args.output));
    let target = target.ok_or_else(|| ConvertError::NoFormat(args.output.clone()))?;
    // Refused before a long read, not after it.
    if target == Target::Parquet && !cfg!(feature = "parquet") {
        return Err(ConvertError::NoParquet);
    }
    let mut output = args.output.clone();
    if !is_stream(&output) && output.symlink_metadata().is_ok() {
        if !args.force {
            return Err(ConvertError::Exists(output));
        }
        // A link is followed; what is no file (a device, a pipe, a folder) is not replaced by one.
        output = std::fs::canonicalize(&output).unwrap_or(output);
        if !output.is_file() {
            return Err(ConvertError::NoFile(output));
        }
    }
    let history = read_history_as(&args.input, args.from.map(Source::format))?;
    let written = match is_stream(&args.output) {
        true => write::to_stdout(&history, target),
        false => write::to_file(&history, target, &output),
    };
    written.map_err(|source| ConvertError::Unwritable {
        path: args.output.clone(),
        source,
    })?;
    Ok(history.ops().len())
}

fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The format that a name ends in, with `.zst` left out of account.
fn named(path: &Path) -> Option<Target> {
    let name = path.file_name()?.to_str()?;
    if name.ends_with(".parquet") {
        // It is compressed inside, so there is no such thing with .zst.
        return Some(Target::Parquet);
    }
    let name = name.strip_suffix(".zst").unwrap_or(name);
    match name.rsplit_once('.')?.1 {
        "jsonl" | "json" => Some(Target::Jsonl),
        "edn" => Some(Target::Edn),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        for (name, target) in [
            ("a.jsonl", Some(Target::Jsonl)),
            ("a.json.zst", Some(Target::Jsonl)),
            ("x.y/a.edn.zst", Some(Target::Edn)),
            ("a.parquet", Some(Target::Parquet)),
            ("a.parquet.zst", None),
            ("a.zst", None),
            ("edn", None),
            ("a.log", None),
        ] {
            assert_eq!(named(Path::new(name)), target, "{name}");
        }
    }
}
