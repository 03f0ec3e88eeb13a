//! Reads the log segments that stopped nodes left on their disks. The format is
//! Kafka's own, and the reader is the one that reads fetched batches: nothing
//! is believed whose checksum does not hold.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use plimsoll_broker::kafka::batch::{BatchError, batches, check_crc, records};

use super::{DiskEvidence, DiskRecord, NodeDisk};
use crate::clients::kafka::number;
use crate::session::key;
use crate::systems::{NodeSpec, System};

/// More records than this on a node are no matter for a report.
const RECORDS_MAX: usize = 2_000_000;
const CONTROL: i16 = 0x20;

/// What all nodes have of a topic; `None` where the system keeps no segments that can be read.
pub fn read(
    system: &dyn System,
    nodes: &[NodeSpec],
    topic: &str,
    partitions: i32,
) -> Option<DiskEvidence> {
    let mut evidence = DiskEvidence::default();
    for node in nodes.iter().filter(|node| node.is_broker) {
        let mut disk = NodeDisk::default();
        for partition in 0..partitions {
            let folder = system.partition_folder(node, topic, partition)?;
            read_partition(&key(topic, partition), &folder, &mut disk);
        }
        evidence.nodes.insert(node.name.clone(), disk);
    }
    Some(evidence)
}

fn read_partition(key: &str, folder: &Path, disk: &mut NodeDisk) {
    let segments = match segments(folder) {
        Ok(segments) => segments,
        // A node that is no replica has no folder.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return disk.unreadable.push(format!("{key}: {error}")),
    };
    let mut found = Vec::new();
    for segment in segments {
        let known: usize = disk.partitions.values().map(Vec::len).sum();
        if known + found.len() > RECORDS_MAX {
            let why = format!("{key}: more than {RECORDS_MAX} records are not read");
            disk.unreadable.push(why);
            break;
        }
        if let Err(why) = read_segment(&segment, &mut found) {
            disk.unreadable
                .push(format!("{key}: {}: {why}", segment.display()));
        }
    }
    disk.partitions.insert(key.to_owned(), found);
}

/// The segments in the order of their first offsets, which are their names.
fn segments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_segment(path: &Path, found: &mut Vec<DiskRecord>) -> Result<(), String> {
    let bytes = Bytes::from(fs::read(path).map_err(|e| e.to_string())?);
    for batch in batches(&bytes) {
        let (header, batch) = match batch {
            Ok(batch) => batch,
            // A file that was made longer than what was written to it.
            Err(BatchError::Length(0)) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        check_crc(&batch).map_err(|e| format!("the batch at {}: {e}", header.base_offset))?;
        if header.attributes & CONTROL != 0 {
            continue;
        }
        if header.is_compressed() {
            return Err(format!("the batch at {} is compressed", header.base_offset));
        }
        let read = records(&header, &batch)
            .into_iter()
            .map(|record| DiskRecord {
                offset: record.offset,
                value: number(record.value.as_deref()),
                leader_epoch: header.leader_epoch,
            });
        found.extend(read);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::kafka::encode_batch;
    use plimsoll_broker::kafka::batch::stamp;

    fn segment(folder: &Path, first: i64, values: &[i64]) -> PathBuf {
        let batches = (first..).zip(values);
        let bytes: Vec<u8> = batches
            .flat_map(|(offset, value)| stamp(&encode_batch(*value, 1, None), offset, 4).to_vec())
            .collect();
        let path = folder.join(format!("{first:020}.log"));
        fs::write(&path, bytes).expect("room");
        path
    }

    #[test]
    fn segments_are_read_in_order_with_offset_value_and_epoch() {
        let folder = tempfile::tempdir().expect("a folder");
        segment(folder.path(), 2, &[30]);
        segment(folder.path(), 0, &[10, 20]);
        fs::write(folder.path().join("00000000000000000000.index"), [0; 64]).expect("room");
        let mut disk = NodeDisk::default();
        read_partition("log-0", folder.path(), &mut disk);
        let read: Vec<_> = disk.partitions["log-0"]
            .iter()
            .map(|r| (r.offset, r.value))
            .collect();
        assert_eq!(read, [(0, 10), (1, 20), (2, 30)]);
        assert_eq!(disk.partitions["log-0"][0].leader_epoch, 4);
        assert!(disk.unreadable.is_empty());
    }

    #[test]
    fn a_flipped_bit_makes_a_disk_unreadable_and_a_torn_tail_or_zeros_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = segment(folder.path(), 0, &[10, 20]);
        let sound = fs::read(&path).expect("there");
        for (tail, readable) in [(vec![0; 100], 2), (sound[..50].to_vec(), 2)] {
            fs::write(&path, [sound.clone(), tail].concat()).expect("room");
            let mut disk = NodeDisk::default();
            read_partition("log-0", folder.path(), &mut disk);
            assert!(disk.unreadable.is_empty(), "{:?}", disk.unreadable);
            assert_eq!(disk.partitions["log-0"].len(), readable);
        }
        let mut broken = sound;
        let last = broken.len() - 2;
        broken[last] ^= 1;
        fs::write(&path, broken).expect("room");
        let mut disk = NodeDisk::default();
        read_partition("log-0", folder.path(), &mut disk);
        assert_eq!(disk.partitions["log-0"].len(), 1);
        assert!(disk.unreadable[0].contains("CRC"), "{:?}", disk.unreadable);
    }

    #[test]
    fn a_partition_that_a_node_does_not_hold_is_no_trouble() {
        let mut disk = NodeDisk::default();
        read_partition("log-0", Path::new("/nowhere/log-0"), &mut disk);
        assert_eq!(disk, NodeDisk::default());
    }
}
