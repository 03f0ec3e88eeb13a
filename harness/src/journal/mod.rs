//! The journal: one recorder stamps index and time at one point; a writer
//! thread brings lines to disk every few milliseconds, so that a run that was
//! killed can still be judged by what it wrote.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use plimsoll_checkers::history::{Header, Op};

const FLUSH_EVERY: Duration = Duration::from_millis(3);
/// Beyond this much unwritten, the recorder waits for the disk.
const PENDING_BYTES_MAX: usize = 64 * 1024 * 1024;

type Pending = Arc<Mutex<Vec<u8>>>;

/// Stamps and hands over. There is one for each run.
pub struct Recorder {
    start: Instant,
    next_index: u64,
    last_ns: u64,
    pending: Pending,
    close: Sender<()>,
    writer: JoinHandle<io::Result<()>>,
}

impl Recorder {
    /// Opens the journal and writes its header.
    pub fn create(path: &Path, header: &Header, start: Instant) -> io::Result<Recorder> {
        let mut file = File::create(path)?;
        let mut line = serde_json::to_vec(header)?;
        line.push(b'\n');
        file.write_all(&line)?;
        let pending = Pending::default();
        let (close, closed) = channel();
        let shared = Arc::clone(&pending);
        let writer = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || write_until_closed(file, &shared, &closed))?;
        Ok(Recorder {
            start,
            next_index: 0,
            last_ns: 0,
            pending,
            close,
            writer,
        })
    }

    /// Stamps a line; it is on disk a few milliseconds later.
    pub fn record(&mut self, op: &mut Op) {
        let elapsed = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.last_ns = self.last_ns.max(elapsed);
        op.index = self.next_index;
        op.time = self.last_ns;
        self.next_index += 1;
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        op.write_json_line(&mut pending);
        let full = pending.len() > PENDING_BYTES_MAX;
        drop(pending);
        if full {
            std::thread::sleep(FLUSH_EVERY);
        }
    }

    /// Whether the writer has given up, as it does when the disk is full.
    pub fn is_broken(&self) -> bool {
        self.writer.is_finished()
    }

    /// Brings everything to disk.
    pub fn close(self) -> io::Result<()> {
        drop(self.close);
        match self.writer.join() {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("the journal's writer died")),
        }
    }
}

fn write_until_closed(mut file: File, pending: &Pending, closed: &Receiver<()>) -> io::Result<()> {
    let mut lines = Vec::new();
    loop {
        let ended = closed.recv_timeout(FLUSH_EVERY) == Err(RecvTimeoutError::Disconnected);
        lines.clear();
        std::mem::swap(
            &mut lines,
            &mut *pending.lock().unwrap_or_else(PoisonError::into_inner),
        );
        file.write_all(&lines)?;
        if ended {
            return file.sync_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_checkers::history::{HistoryReader, OpType, Process, Value};
    use plimsoll_checkers::promise::Promise;

    fn header() -> Header {
        Header {
            plimsoll: 1,
            promise: Promise::unstated(),
            topics: Default::default(),
            clients: Default::default(),
            system: "none".to_owned(),
            seed: 1,
            extra: Default::default(),
        }
    }

    #[test]
    fn what_is_recorded_is_read_back_in_order_and_stamped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history.jsonl");
        let mut recorder = Recorder::create(&path, &header(), Instant::now()).expect("a journal");
        for process in 0..100 {
            let process = Process::Client(process);
            recorder.record(&mut Op::new(
                process,
                OpType::Invoke,
                "poll",
                Value::Poll(None),
            ));
        }
        recorder.close().expect("everything is written");
        let text = std::fs::read(&path).expect("it is there");
        let mut reader = HistoryReader::default();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            reader.push_line(line).expect("every line is sound");
        }
        let history = reader.finish().expect("a history");
        assert_eq!(history.ops().len(), 100);
        assert!(history.ops().windows(2).all(|w| w[0].time <= w[1].time));
    }
}
