//! What must hold at every moment, and what must have come back after the heal.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use plimsoll_broker::core::ids::{NodeId, TopicPartition};
use plimsoll_broker::core::node::Node;

use super::disk::Disk;

type Committed = Vec<(i32, Bytes)>;

/// What has been seen of the cluster so far.
#[derive(Debug, Default)]
pub struct Invariants {
    /// Who led in which epoch.
    leaders: BTreeMap<(TopicPartition, i32), NodeId>,
    /// (epoch, value) by offset, of every record that was ever below a high watermark.
    committed: BTreeMap<TopicPartition, Committed>,
    /// How far each replica's log has been compared.
    compared: BTreeMap<(NodeId, TopicPartition), i64>,
    /// (partition, offset, value) of acks=all sends that were acknowledged.
    acked: BTreeSet<(TopicPartition, i64, Bytes)>,
}

impl Invariants {
    /// A node has crashed: what it had below its high watermark is compared anew.
    pub fn forget(&mut self, node: NodeId) {
        self.compared.retain(|(of, _), _| *of != node);
    }

    pub fn acked(&mut self, tp: TopicPartition, offset: i64, value: Bytes) {
        self.acked.insert((tp, offset, value));
    }

    pub fn acked_len(&self) -> usize {
        self.acked.len()
    }

    /// One leader an epoch; records below a high watermark are the same everywhere, for ever.
    pub fn check(&mut self, id: NodeId, node: &Node, disk: &Disk) -> Result<(), String> {
        for (tp, replica) in node.replicas() {
            if replica.is_leader() {
                let (_, epoch) = replica.leader_and_epoch();
                let known = *self.leaders.entry((tp.clone(), epoch)).or_insert(id);
                if known != id {
                    return Err(format!(
                        "{tp}: nodes {known} and {id} both lead in epoch {epoch}"
                    ));
                }
            }
            self.compare(id, tp, replica.high_watermark(), disk)?;
        }
        Ok(())
    }

    fn compare(
        &mut self,
        id: NodeId,
        tp: &TopicPartition,
        hw: i64,
        disk: &Disk,
    ) -> Result<(), String> {
        let compared = self.compared.entry((id, tp.clone())).or_insert(0);
        if hw <= *compared {
            return Ok(());
        }
        let from = std::mem::replace(compared, hw);
        let Some(log) = disk.logs.get(tp) else {
            return Err(format!("{tp}: node {id} has HW {hw} and no log"));
        };
        if log.end() < hw {
            return Err(format!(
                "{tp}: node {id} has HW {hw} and only {} records",
                log.end()
            ));
        }
        let committed = self.committed.entry(tp.clone()).or_default();
        for (offset, epoch, value) in log
            .records()
            .filter(|record| (from..hw).contains(&record.0))
        {
            let record = (epoch, value);
            match committed.get(usize::try_from(offset).unwrap()) {
                Some(known) if *known != record => {
                    return Err(format!(
                        "{tp}: offset {offset} was committed as {known:?}, node {id} has {record:?}"
                    ));
                }
                Some(_) => {}
                None => committed.push(record),
            }
        }
        Ok(())
    }

    /// A consumer was given a record.
    pub fn read(&self, tp: &TopicPartition, offset: i64, value: &Bytes) -> Result<(), String> {
        let known = self
            .committed
            .get(tp)
            .and_then(|log| log.get(usize::try_from(offset).unwrap()));
        match known {
            Some((_, committed)) if committed == value => Ok(()),
            other => Err(format!(
                "{tp}: a consumer read {value:?} at {offset}, committed is {other:?}"
            )),
        }
    }

    /// After the heal: all replicas alike, everything acknowledged there.
    pub fn check_healed(&self, disks: &BTreeMap<NodeId, Disk>) -> Result<(), String> {
        for (tp, committed) in &self.committed {
            for (id, disk) in disks {
                let log: Committed = disk
                    .logs
                    .get(tp)
                    .map(|log| {
                        log.records()
                            .map(|(_, epoch, value)| (epoch, value))
                            .collect()
                    })
                    .unwrap_or_default();
                if log != *committed {
                    let at = log
                        .iter()
                        .zip(committed)
                        .take_while(|(a, b)| a == b)
                        .count();
                    return Err(format!(
                        "{tp}: after the heal node {id} differs from what was committed at offset {at} ({} and {} records)",
                        log.len(),
                        committed.len()
                    ));
                }
            }
        }
        for (tp, offset, value) in &self.acked {
            let found = self
                .committed
                .get(tp)
                .and_then(|log| log.get(usize::try_from(*offset).unwrap()));
            if found.is_none_or(|(_, committed)| committed != value) {
                return Err(format!(
                    "{tp}: {value:?} was acknowledged at {offset}, there is {found:?}"
                ));
            }
        }
        Ok(())
    }
}
