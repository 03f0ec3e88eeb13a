//! Opens a data directory and gives the core what it held.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::quorum_log::QuorumLog;
use super::segment_log::SegmentLog;
use super::{Doing, StorageError, meta};
use crate::core::ids::{TopicId, TopicPartition};
use crate::core::node::Recovered;
use crate::core::raft::HardState;
use crate::core::seam::MetaKey;

/// An open data directory.
#[derive(Debug)]
pub struct DataDir {
    /// The directory.
    pub path: PathBuf,
    /// The Raft log.
    pub quorum: QuorumLog,
    /// The replicas' logs found.
    pub logs: BTreeMap<TopicPartition, SegmentLog>,
}

/// The directory of a replica's log.
#[must_use]
pub fn partition_dir(data_dir: &Path, tp: &TopicPartition) -> PathBuf {
    data_dir.join("partitions").join(tp.to_string())
}

/// Opens `path`, recovers every log, and says what was cut.
///
/// # Errors
/// Where the disk refuses.
pub fn open(path: &Path) -> Result<(DataDir, Recovered, Vec<String>), StorageError> {
    let partitions = path.join("partitions");
    std::fs::create_dir_all(&partitions).doing("create", &partitions)?;
    let (quorum, entries, cut) = QuorumLog::open(path)?;
    let hard_state: HardState = load(path, MetaKey::HardState)?.unwrap_or_default();
    let marks: Vec<(TopicPartition, TopicId, i64)> =
        load(path, MetaKey::HighWatermarks)?.unwrap_or_default();
    let mark = |(tp, id, hw)| ((tp, id), hw);
    let marks: BTreeMap<(TopicPartition, TopicId), i64> = marks.into_iter().map(mark).collect();
    let mut dir = DataDir {
        path: path.to_owned(),
        quorum,
        logs: BTreeMap::new(),
    };
    let mut recovered = Recovered {
        hard_state,
        entries,
        logs: BTreeMap::new(),
    };
    let mut notes: Vec<String> = cut.into_iter().collect();
    for entry in std::fs::read_dir(&partitions).doing("list", &partitions)? {
        let entry = entry.doing("list", &partitions)?.path();
        let Some(tp) = parse_dir_name(&entry) else {
            notes.push(format!(
                "{} is no partition and is left alone",
                entry.display()
            ));
            continue;
        };
        let (log, mut recovery) = SegmentLog::open(&entry)?;
        notes.extend(recovery.cut.take());
        let of = (tp.clone(), recovery.log.topic_id);
        recovery.log.high_watermark = marks.get(&of).copied().unwrap_or(0);
        recovered.logs.insert(tp.clone(), recovery.log);
        dir.logs.insert(tp, log);
    }
    Ok((dir, recovered, notes))
}

fn parse_dir_name(path: &Path) -> Option<TopicPartition> {
    let (topic, partition) = path.file_name()?.to_str()?.rsplit_once('-')?;
    Some(TopicPartition::new(topic, partition.parse().ok()?))
}

fn load<T: serde::de::DeserializeOwned>(
    dir: &Path,
    key: MetaKey,
) -> Result<Option<T>, StorageError> {
    Ok(meta::load(dir, key)?.and_then(|bytes| postcard::from_bytes(&bytes).ok()))
}
