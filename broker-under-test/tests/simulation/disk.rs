//! A disk in memory: what is written survives a kill, what is synced a loss of power.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use plimsoll_broker::core::ids::{TopicId, TopicPartition};
use plimsoll_broker::core::messages::peer::Entry;
use plimsoll_broker::core::node::Recovered;
use plimsoll_broker::core::raft::log::decode_frame;
use plimsoll_broker::core::replica::RecoveredLog;
use plimsoll_broker::core::replica::epochs::EpochCache;
use plimsoll_broker::core::replica::producers::ProducerStates;
use plimsoll_broker::core::seam::{Done, LogId, MetaKey, Op};
use plimsoll_broker::kafka::batch::{self, BatchHeader};

#[derive(Debug, Default)]
pub struct Log {
    topic_id: TopicId,
    pub batches: Vec<(BatchHeader, Bytes)>,
    synced: usize,
    generation: u64,
}

#[derive(Debug, Default)]
pub struct Disk {
    pub logs: BTreeMap<TopicPartition, Log>,
    entries: Vec<Entry>,
    metas: BTreeMap<MetaKey, Bytes>,
}

impl Log {
    pub fn end(&self) -> i64 {
        self.batches
            .last()
            .map_or(0, |(header, _)| header.last_offset() + 1)
    }

    /// (offset, epoch, value) of every record.
    pub fn records(&self) -> impl Iterator<Item = (i64, i32, Bytes)> + '_ {
        self.batches.iter().flat_map(|(header, bytes)| {
            let epoch = header.leader_epoch;
            batch::records(header, bytes)
                .into_iter()
                .map(move |record| (record.offset, epoch, record.value.unwrap()))
        })
    }

    fn producers(&self) -> ProducerStates {
        let mut producers = ProducerStates::default();
        self.batches
            .iter()
            .for_each(|(header, _)| producers.record(header));
        producers
    }
}

impl Disk {
    pub fn carry_out(&mut self, op: Op) -> Done {
        match op {
            Op::Append {
                log: LogId::Quorum,
                at,
                bytes,
                ..
            } => {
                assert_eq!(at, self.entries.len() as i64 + 1, "entries follow on");
                let mut rest = &bytes[..];
                while let Some((_, entry, used)) = decode_frame(rest) {
                    self.entries.push(entry);
                    rest = &rest[used..];
                }
                Done::Synced
            }
            Op::Truncate {
                log: LogId::Quorum,
                to,
                ..
            } => {
                self.entries.truncate(usize::try_from(to).unwrap() - 1);
                Done::Truncated(None)
            }
            Op::SaveMeta { key, bytes } => {
                self.metas.insert(key, bytes);
                Done::Synced
            }
            Op::Append {
                log: LogId::Partition(tp),
                at,
                bytes,
                sync,
            } => {
                let log = self.logs.entry(tp).or_default();
                assert_eq!(at, log.end(), "batches follow on");
                log.batches
                    .extend(batch::batches(&bytes).map(Result::unwrap));
                if sync {
                    log.synced = log.batches.len();
                    Done::Synced
                } else {
                    Done::Written
                }
            }
            Op::Truncate {
                log: LogId::Partition(tp),
                to,
                rebuild_producers,
            } => {
                let log = self.logs.entry(tp).or_default();
                log.generation += 1;
                log.batches.retain(|(header, _)| header.base_offset < to);
                assert!(log.end() <= to, "truncation cuts between batches");
                log.synced = log.synced.min(log.batches.len());
                Done::Truncated(rebuild_producers.then(|| log.producers()))
            }
            Op::Create { log, topic_id } => {
                let empty = Log {
                    topic_id,
                    ..Log::default()
                };
                self.logs.insert(log, empty);
                Done::Synced
            }
            Op::Delete { log } => {
                self.logs.remove(&log);
                Done::Synced
            }
            Op::LogSizes => Done::LogSizes {
                path: "memory".to_owned(),
                sizes: BTreeMap::new(),
            },
            Op::Read {
                log,
                from,
                max_bytes,
                end,
                generation,
            } => {
                let log = self.logs.entry(log).or_default();
                if log.generation != generation {
                    return Done::Stale;
                }
                let mut found = BytesMut::new();
                for (header, bytes) in &log.batches {
                    let wanted = header.last_offset() >= from && header.last_offset() < end;
                    if wanted
                        && (found.is_empty() || found.len() + bytes.len() <= max_bytes as usize)
                    {
                        found.extend_from_slice(bytes);
                    }
                }
                Done::Read(found.freeze())
            }
        }
    }

    /// What a restarted node finds. With `power_loss` unsynced tails are gone.
    pub fn recover(&mut self, power_loss: bool) -> Recovered {
        let marks: BTreeMap<TopicPartition, i64> = self
            .metas
            .get(&MetaKey::HighWatermarks)
            .map(|bytes| {
                postcard::from_bytes::<Vec<(TopicPartition, TopicId, i64)>>(bytes).unwrap()
            })
            .unwrap_or_default()
            .into_iter()
            .map(|(tp, _, hw)| (tp, hw))
            .collect();
        let hard_state = self
            .metas
            .get(&MetaKey::HardState)
            .map(|bytes| postcard::from_bytes(bytes).unwrap())
            .unwrap_or_default();
        let mut logs = BTreeMap::new();
        for (tp, log) in &mut self.logs {
            if power_loss {
                log.batches.truncate(log.synced);
            }
            log.generation = 0;
            let mut epochs = EpochCache::default();
            for (header, _) in &log.batches {
                epochs.assign(header.leader_epoch, header.base_offset);
            }
            let recovered = RecoveredLog {
                topic_id: log.topic_id,
                end: log.end(),
                epochs: epochs.entries().to_vec(),
                producers: log.producers(),
                high_watermark: marks.get(tp).copied().unwrap_or(0),
            };
            logs.insert(tp.clone(), recovered);
        }
        Recovered {
            hard_state,
            entries: self.entries.clone(),
            logs,
        }
    }
}
