//! Large logs: judged as they are read, in little memory.
//!
//! One thread decompresses, this one judges. Where the stream finds nothing to explain, that is the
//! verdict; else the history is read again and judged whole, or, where it is too large for that, in
//! the partitions that are suspected.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

use plimsoll_checkers::formats::Format as FileFormat;
use plimsoll_checkers::history::{History, HistoryReader};
use plimsoll_checkers::models::Model;
use plimsoll_checkers::stream::{StreamReader, Streamed};
use plimsoll_checkers::{check, judge};

use crate::report::LossReport;

use super::load::{CHUNK, fill, open, stored_at};
use super::{CheckArgs, CheckError, Checked, meta_of, output, promise};

/// Files from this size on, compressed or not, are judged as a stream first.
const LARGE_PACKED: u64 = 8 << 20;
const LARGE_PLAIN: u64 = 64 << 20;
/// Decompressed histories from this size on are not judged whole, only where they are suspected.
const TOO_LARGE: u64 = 2 << 30;
/// Buffers between the two threads.
const BUFFERS: usize = 8;

/// Whether to try: a log in our own format, in a file that can be read twice, without a page to draw.
pub(super) fn is_for(args: &CheckArgs) -> bool {
    let log = args.model.is_none_or(|model| model == Model::Log);
    let path = stored_at(&args.file);
    let Ok(size) = std::fs::metadata(&path).map(|file| file.len()) else {
        return false;
    };
    let packed = path.extension().is_some_and(|extension| extension == "zst");
    let large = if packed { LARGE_PACKED } else { LARGE_PLAIN };
    let asked = args.stream || size >= large;
    log && asked && args.html.is_none() && args.initial.is_none() && path.is_file()
}

/// The verdict, where the stream is enough; else what the whole has to be judged with.
pub(super) fn run(args: &CheckArgs, colour: bool) -> Result<Option<Checked>, CheckError> {
    let Some((streamed, bytes)) = stream(args)? else {
        return Ok(None);
    };
    if !streamed.suspicions.is_empty() {
        return match bytes >= TOO_LARGE {
            true => in_part(args, &streamed, colour),
            false => Ok(None),
        };
    }
    let empty = History::new(streamed.header.clone(), Vec::new());
    let history = empty.map_err(malformed(&args.file))?;
    let promise = promise(args, &history)?;
    let Ok(findings) = streamed.findings() else {
        return Ok(None);
    };
    let meta = meta_of(args, &history);
    let mut verdict = judge(findings, &promise);
    verdict.unmeasured = UNMEASURED.to_vec();
    verdict.replay.clone_from(&meta.replay);
    let losses = LossReport::new(&history, &verdict, None);
    let mut text = output(args, &history, &verdict, &meta, &losses, colour);
    if args.format == crate::cli::Format::Human {
        text.push_str(
            "Judged as a stream: availability, leaders and fault windows were not measured.\n",
        );
    }
    Ok(Some(Checked {
        validity: verdict.valid,
        output: text,
        unwritten: None,
    }))
}

/// Fields of the verdict that stay empty.
const UNMEASURED: [&str; 8] = [
    "acks_in_fault_windows",
    "fault_windows",
    "isr_shrinks",
    "leader_changes",
    "session_guarantees",
    "unavailable",
    "unavailable_ms",
    "worst_realtime_lag",
];

fn malformed(
    path: &Path,
) -> impl Fn(plimsoll_checkers::history::HistoryError) -> CheckError + use<> {
    let path = path.to_owned();
    move |source| CheckError::Malformed {
        path: path.clone(),
        source,
    }
}

/// Goes through the whole file; `None` where it is none of ours.
fn stream(args: &CheckArgs) -> Result<Option<(Streamed, u64)>, CheckError> {
    let unreadable = |source| CheckError::Unreadable {
        path: args.file.clone(),
        source,
    };
    let (full, empty) = buffers(&args.file).map_err(unreadable)?;
    let mut reader = StreamReader::new();
    let mut total = 0;
    for buffer in full {
        let buffer = buffer.map_err(unreadable)?;
        if total == 0 && FileFormat::sniff(&buffer) != FileFormat::JsonLines {
            return Ok(None);
        }
        total += buffer.len() as u64;
        reader.push_bytes(&buffer).map_err(malformed(&args.file))?;
        if reader.stream().is_some_and(|stream| stream.is_given_up()) && total < TOO_LARGE {
            return Ok(None);
        }
        // The other thread may have ended already.
        let _ended = empty.send(buffer);
    }
    Ok(Some((reader.finish(), total)))
}

type Full = Receiver<io::Result<Vec<u8>>>;
type Empty = std::sync::mpsc::SyncSender<Vec<u8>>;

/// A thread that reads and decompresses ahead.
fn buffers(path: &Path) -> io::Result<(Full, Empty)> {
    let path = stored_at(path);
    File::open(&path)?;
    let (full, filled) = sync_channel::<io::Result<Vec<u8>>>(BUFFERS);
    let (empty, emptied) = sync_channel::<Vec<u8>>(BUFFERS);
    std::thread::Builder::new()
        .name("decompress".to_owned())
        .spawn(move || {
            let mut source = match open(&path) {
                Ok(source) => source,
                Err(error) => return drop(full.send(Err(error))),
            };
            read_ahead(&mut *source, &full, &emptied);
        })?;
    Ok((filled, empty))
}

fn read_ahead(
    source: &mut dyn Read,
    full: &std::sync::mpsc::SyncSender<io::Result<Vec<u8>>>,
    emptied: &Receiver<Vec<u8>>,
) {
    loop {
        let mut buffer = emptied.try_recv().unwrap_or_default();
        buffer.resize(CHUNK, 0);
        match fill(source, &mut buffer) {
            Ok(0) => return,
            Ok(read) => buffer.truncate(read),
            Err(error) => return drop(full.send(Err(error))),
        }
        if full.send(Ok(buffer)).is_err() {
            return;
        }
    }
}

/// Judges only the partitions that are suspected; the others are clean.
fn in_part(
    args: &CheckArgs,
    streamed: &Streamed,
    colour: bool,
) -> Result<Option<Checked>, CheckError> {
    let keys: Vec<String> = streamed
        .suspicions
        .iter()
        .map(|one| one.key.clone())
        .collect();
    if keys.iter().any(String::is_empty) {
        return Ok(None);
    }
    let unreadable = |source| CheckError::Unreadable {
        path: args.file.clone(),
        source,
    };
    let mut reader = HistoryReader::only(keys.iter().cloned());
    for buffer in buffers(&args.file).map_err(unreadable)?.0 {
        let buffer = buffer.map_err(unreadable)?;
        reader.push_bytes(&buffer).map_err(malformed(&args.file))?;
    }
    let history = reader.finish().map_err(malformed(&args.file))?;
    let promise = promise(args, &history)?;
    let meta = meta_of(args, &history);
    let mut verdict = judge(check(&history), &promise);
    verdict.replay.clone_from(&meta.replay);
    verdict.unmeasured = vec!["partitions without a finding"];
    let losses = LossReport::new(&history, &verdict, None);
    let mut text = output(args, &history, &verdict, &meta, &losses, colour);
    if args.format == crate::cli::Format::Human {
        text.push_str(&format!(
            "Judged as a stream, and whole only in {}: the numbers are of these.\n",
            keys.join(", ")
        ));
    }
    Ok(Some(Checked {
        validity: verdict.valid,
        output: text,
        unwritten: None,
    }))
}
