//! A history as bytes, to a file or to stdout.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use plimsoll_checkers::formats::edn;
use plimsoll_checkers::history::History;

use super::Target;

/// Writes to stdout; a reader that has gone away has seen enough.
pub(super) fn to_stdout(history: &History, target: Target) -> io::Result<()> {
    if target == Target::Parquet {
        return write_parquet(history, io::stdout());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match write(history, target, &mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        ended => ended,
    }
}

/// Writes a file beside its place, compressed where its name ends in `.zst`,
/// and moves it there.
pub(super) fn to_file(history: &History, target: Target, path: &Path) -> io::Result<()> {
    let part = part_of(path)?;
    // Parquet is compressed inside, a column at a time.
    let named = path.extension().is_some_and(|end| end == "zst");
    let compressed = named && target != Target::Parquet;
    let written = write_file(history, target, &part, compressed);
    let moved = written.and_then(|()| fs::rename(&part, path));
    if moved.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&part);
    }
    moved
}

/// A hidden name in the same folder, so that moving is one step.
fn part_of(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no name of a file"))?;
    let name = name.to_string_lossy();
    Ok(path.with_file_name(format!(".{name}.{}.part", std::process::id())))
}

fn write_file(history: &History, target: Target, path: &Path, compressed: bool) -> io::Result<()> {
    let file = File::create_new(path)?;
    if target == Target::Parquet {
        return write_parquet(history, file);
    }
    if compressed {
        let mut out = zstd::stream::Encoder::new(BufWriter::new(file), 3)?;
        write(history, target, &mut out)?;
        return out.finish()?.flush();
    }
    let mut out = BufWriter::new(file);
    write(history, target, &mut out)?;
    out.flush()
}

fn write(history: &History, target: Target, out: &mut dyn Write) -> io::Result<()> {
    match target {
        Target::Jsonl => write_json_lines(history, out),
        Target::Edn => write_edn(history, out),
        Target::Parquet => Err(without_parquet()),
    }
}

#[cfg(feature = "parquet")]
fn write_parquet(history: &History, out: impl Write + Send) -> io::Result<()> {
    super::parquet::write(history, out)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_history: &History, _out: impl Write + Send) -> io::Result<()> {
    Err(without_parquet())
}

/// Nobody gets here: what a build cannot write is refused before anything is read, and Parquet
/// has a writer of its own.
fn without_parquet() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "no Parquet here")
}

fn write_json_lines(history: &History, out: &mut dyn Write) -> io::Result<()> {
    if let Some(header) = history.header() {
        serde_json::to_writer(&mut *out, header)?;
        out.write_all(b"\n")?;
    }
    let mut line = Vec::new();
    for op in history.ops() {
        line.clear();
        op.write_json_line(&mut line);
        out.write_all(&line)?;
    }
    Ok(())
}

fn write_edn(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    if let Some(header) = history.header() {
        edn::write_header(header, &mut line);
        out.write_all(line.as_bytes())?;
    }
    for op in history.ops() {
        line.clear();
        edn::write_op(op, &mut line);
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}
