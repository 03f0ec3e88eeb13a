//! The two threads that do a node's disk work: one for the quorum's log and small state, one for
//! the replicas' logs, so that a sync of either never waits for the other.
//!
//! The replicas' thread takes what has queued up in one go, writes it all, syncs each log once,
//! and only then completes the synced appends (group commit). A failed write is reported and the
//! log is not written again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::quorum_log::QuorumLog;
use super::recovery::{DataDir, partition_dir};
use super::segment_log::SegmentLog;
use super::{Doing, StorageError, meta};
use crate::core::ids::{IoId, TopicPartition};
use crate::core::seam::{Done, LogId, Op};

/// Operations taken from the queue at once.
const BATCH_MAX: usize = 256;

/// Where completions go.
pub type Completed = Box<dyn Fn(IoId, Done) + Send>;

/// Hands operations to the threads. They end when this is dropped.
#[derive(Debug)]
pub struct Storage {
    quorum: Sender<(IoId, Op)>,
    replicas: Sender<(IoId, Op)>,
    threads: Vec<JoinHandle<()>>,
}

impl Storage {
    /// Starts the threads over an open data directory.
    ///
    /// # Errors
    /// Where a thread cannot be started.
    pub fn start(
        dir: DataDir,
        quorum_done: Completed,
        replicas_done: Completed,
    ) -> Result<Self, StorageError> {
        let path = dir.path.clone();
        let (quorum, quorum_queue) = channel();
        let (replicas, replicas_queue) = channel();
        let quorum_thread = QuorumThread {
            dir: dir.path.clone(),
            log: dir.quorum,
        };
        let replicas_thread = ReplicasThread {
            dir: dir.path,
            logs: dir.logs,
        };
        let spawn = |name: &str, body: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(body)
                .doing("start a thread for", &path)
        };
        let threads = vec![
            spawn(
                "quorum-disk",
                Box::new(move || quorum_thread.run(&quorum_queue, &quorum_done)),
            )?,
            spawn(
                "replica-disk",
                Box::new(move || replicas_thread.run(&replicas_queue, &replicas_done)),
            )?,
        ];
        Ok(Self {
            quorum,
            replicas,
            threads,
        })
    }

    /// Queues an operation. A thread that is gone has reported why.
    pub fn submit(&self, id: IoId, op: Op) {
        let for_quorum = matches!(
            &op,
            Op::SaveMeta { .. }
                | Op::Append {
                    log: LogId::Quorum,
                    ..
                }
                | Op::Truncate {
                    log: LogId::Quorum,
                    ..
                }
        );
        let queue = if for_quorum {
            &self.quorum
        } else {
            &self.replicas
        };
        // The receiver goes only with the thread, which ends only when this sender does.
        let _gone = queue.send((id, op));
    }

    /// Waits until everything queued is done.
    pub fn finish(self) {
        drop(self.quorum);
        drop(self.replicas);
        for thread in self.threads {
            let _panicked = thread.join();
        }
    }
}

struct QuorumThread {
    dir: PathBuf,
    log: QuorumLog,
}

impl QuorumThread {
    fn run(mut self, queue: &Receiver<(IoId, Op)>, done: &Completed) {
        while let Ok((id, op)) = queue.recv() {
            let result = match op {
                Op::Append { bytes, .. } => self.log.append(&bytes).map(|()| Done::Synced),
                Op::Truncate { to, .. } => self
                    .log
                    .truncate_from(u64::try_from(to).unwrap_or(0))
                    .map(|()| Done::Truncated(None)),
                Op::SaveMeta { key, bytes } => {
                    meta::save(&self.dir, key, &bytes).map(|()| Done::Synced)
                }
                Op::Read { .. } | Op::Create { .. } | Op::Delete { .. } | Op::LogSizes => {
                    Ok(Done::Stale)
                }
            };
            done(
                id,
                result.unwrap_or_else(|error| Done::Failed(error.to_string())),
            );
        }
    }
}

struct ReplicasThread {
    dir: PathBuf,
    logs: BTreeMap<TopicPartition, SegmentLog>,
}

impl ReplicasThread {
    fn run(mut self, queue: &Receiver<(IoId, Op)>, done: &Completed) {
        while let Ok(first) = queue.recv() {
            let rest = queue.try_iter().take(BATCH_MAX - 1);
            let batch: Vec<(IoId, Op)> = std::iter::once(first).chain(rest).collect();
            let mut completions = Vec::with_capacity(batch.len());
            let mut to_sync = Vec::new();
            for (id, op) in batch {
                let result = self.carry_out(op, &mut to_sync);
                completions.push((id, result));
            }
            let synced = self.sync(&to_sync);
            for (id, result) in completions {
                let ended = match (result, &synced) {
                    (Ok(Done::Synced), Err(error)) => Done::Failed(error.to_string()),
                    (Ok(ended), _) => ended,
                    (Err(error), _) => Done::Failed(error.to_string()),
                };
                done(id, ended);
            }
        }
    }

    fn carry_out(
        &mut self,
        op: Op,
        to_sync: &mut Vec<TopicPartition>,
    ) -> Result<Done, StorageError> {
        match op {
            Op::Append {
                log: LogId::Partition(tp),
                at,
                bytes,
                sync,
            } => {
                self.log(&tp)?.append(at, &bytes)?;
                if !sync {
                    return Ok(Done::Written);
                }
                if !to_sync.contains(&tp) {
                    to_sync.push(tp);
                }
                Ok(Done::Synced)
            }
            Op::Truncate {
                log: LogId::Partition(tp),
                to,
                rebuild_producers,
            } => {
                let log = self.log(&tp)?;
                log.truncate(to)?;
                let producers = rebuild_producers.then(|| log.producers()).transpose()?;
                Ok(Done::Truncated(producers))
            }
            Op::Read {
                log: tp,
                from,
                max_bytes,
                end,
                generation,
            } => {
                let log = self.log(&tp)?;
                if log.generation() != generation {
                    return Ok(Done::Stale);
                }
                log.read(from, end, max_bytes).map(Done::Read)
            }
            Op::Create { log: tp, topic_id } => {
                // A log of an earlier topic is closed before its files go.
                self.logs.remove(&tp);
                let log = SegmentLog::create(&partition_dir(&self.dir, &tp), topic_id)?;
                self.logs.insert(tp, log);
                Ok(Done::Synced)
            }
            Op::Delete { log: tp } => {
                self.logs.remove(&tp);
                SegmentLog::remove(&partition_dir(&self.dir, &tp))?;
                Ok(Done::Synced)
            }
            Op::LogSizes => {
                let size = |(tp, log): (&TopicPartition, &SegmentLog)| (tp.clone(), log.bytes());
                Ok(Done::LogSizes {
                    path: self.dir.display().to_string(),
                    sizes: self.logs.iter().map(size).collect(),
                })
            }
            Op::Append { .. } | Op::Truncate { .. } | Op::SaveMeta { .. } => Ok(Done::Stale),
        }
    }

    fn log(&mut self, tp: &TopicPartition) -> Result<&mut SegmentLog, StorageError> {
        self.logs
            .get_mut(tp)
            .ok_or_else(|| std::io::Error::other("this log was never begun, or is deleted"))
            .doing("find", &partition_dir(&self.dir, tp))
    }

    fn sync(&mut self, to_sync: &[TopicPartition]) -> Result<(), StorageError> {
        // What was deleted within the same batch of operations need not be synced any more.
        let kept = to_sync.iter().filter(|tp| self.logs.contains_key(tp));
        let kept: Vec<TopicPartition> = kept.cloned().collect();
        kept.iter().try_for_each(|tp| self.log(tp)?.sync())
    }
}
