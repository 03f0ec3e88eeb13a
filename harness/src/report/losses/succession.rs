//! What the disks say of the moment of a loss. A batch carries the epoch of the leader that appended
//! it, and a leader appends at its own log's end: so the first record of an epoch tells how far the log
//! of that epoch's leader went when it was elected.

use std::collections::BTreeMap;

use plimsoll_checkers::LostRecord;

use super::stage::{Loss, Stage};
use crate::evidence::DiskEvidence;

/// Where each epoch begins, by partition, as the disks have it.
#[derive(Debug, Default)]
pub struct Succession<'d> {
    partitions: BTreeMap<&'d str, Log<'d>>,
}

#[derive(Debug, Default)]
struct Log<'d> {
    /// The first offset of each epoch.
    begins: BTreeMap<i32, i64>,
    /// The epoch and the node's name, by offset and value.
    at: BTreeMap<(i64, i64), (i32, &'d str)>,
}

impl<'d> Succession<'d> {
    pub fn of(disk: &'d DiskEvidence) -> Succession<'d> {
        let mut partitions: BTreeMap<&str, Log<'_>> = BTreeMap::new();
        for (name, node) in &disk.nodes {
            for (key, records) in &node.partitions {
                let log = partitions.entry(key).or_default();
                for record in records.iter().filter(|record| record.leader_epoch >= 0) {
                    let begin = log
                        .begins
                        .entry(record.leader_epoch)
                        .or_insert(record.offset);
                    *begin = (*begin).min(record.offset);
                    let place = (record.offset, record.value);
                    log.at.insert(place, (record.leader_epoch, name));
                }
            }
        }
        Succession { partitions }
    }

    /// The loss of a record whose offset a later leader gave to another.
    pub fn told(&self, record: &LostRecord) -> Option<Loss> {
        let offset = record.offset?;
        // Without another record there, the place may still be the lost one's; and a node that never
        // came back may have the lost one there.
        let instead = record.instead?;
        let log = self.partitions.get(record.key.as_str())?;
        let (epoch, node) = *log.at.get(&(offset, instead))?;
        let begin = *log.begins.get(&epoch)?;
        Some(Loss {
            stage: Stage::NotOnLaterLeader,
            shown_by: format!(
                "on the disk of {node}, epoch {epoch} begins at offset {begin}: the leader elected for it had nothing from there on"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{DiskRecord, NodeDisk};

    fn disk(records: &[(i64, i64, i32)]) -> DiskEvidence {
        let records: Vec<DiskRecord> = records.iter().copied().map(DiskRecord::from).collect();
        let node = NodeDisk {
            partitions: [("log-0".to_owned(), records)].into(),
            ..NodeDisk::default()
        };
        DiskEvidence {
            nodes: [("n2".to_owned(), node)].into(),
        }
    }

    fn lost(offset: i64, instead: Option<i64>) -> LostRecord {
        LostRecord {
            key: "log-0".to_owned(),
            value: 7,
            offset: Some(offset),
            acked_ns: 1,
            node: Some("n1".to_owned()),
            instead,
            instead_is_barrier: false,
            faults: Vec::new(),
            before_fault: None,
            after_fault: None,
            op: 1,
        }
    }

    #[test]
    fn the_first_record_of_an_epoch_tells_where_its_leader_s_log_ended() {
        let disk = disk(&[(0, 1, 0), (1, 2, 0), (2, 30, 1), (3, 40, 1)]);
        let told = Succession::of(&disk)
            .told(&lost(3, Some(40)))
            .expect("told");
        assert_eq!(told.stage, Stage::NotOnLaterLeader);
        assert!(
            told.shown_by.contains("epoch 1 begins at offset 2"),
            "{}",
            told.shown_by
        );
    }

    #[test]
    fn without_another_record_in_its_place_the_disks_tell_nothing() {
        let disk = disk(&[(0, 1, 0)]);
        assert!(Succession::of(&disk).told(&lost(0, None)).is_none());
        assert!(Succession::of(&disk).told(&lost(5, Some(9))).is_none());
    }
}
