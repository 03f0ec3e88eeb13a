//! What the clients of one side know of the cluster. Clients of a node's side
//! ask that node only; those everywhere ask one broker after another. An older
//! leader epoch never replaces a newer one.

use std::collections::BTreeMap;

use super::messages::NodeIndex;
use crate::clients::PartitionMetadata;
use crate::workload::Side;

/// A refresh is due this often without anyone asking for it.
pub const REFRESH_EVERY_NS: u64 = 250_000_000;
/// And not more often than this when everyone does.
pub const REFRESH_GAP_NS: u64 = 25_000_000;

/// One side's knowledge.
#[derive(Debug)]
pub struct SideMetadata {
    pub side: Side,
    pub in_flight: bool,
    pub asked_ns: u64,
    brokers: usize,
    turn: usize,
    partitions: BTreeMap<i32, PartitionMetadata>,
}

impl SideMetadata {
    pub fn new(side: Side, brokers: usize) -> SideMetadata {
        let partitions = BTreeMap::new();
        SideMetadata {
            side,
            in_flight: false,
            asked_ns: 0,
            brokers,
            turn: 0,
            partitions,
        }
    }

    /// The broker to ask next.
    pub fn next_node(&mut self) -> NodeIndex {
        match self.side {
            Side::With(node) => node,
            Side::Everywhere => {
                self.turn = (self.turn + 1) % self.brokers.max(1);
                self.turn
            }
        }
    }

    pub fn learn(&mut self, seen: Vec<PartitionMetadata>) {
        for partition in seen {
            let known = self.partitions.get(&partition.partition);
            if known.is_none_or(|old| old.leader_epoch <= partition.leader_epoch) {
                self.partitions.insert(partition.partition, partition);
            }
        }
    }

    pub fn partition(&self, partition: i32) -> Option<&PartitionMetadata> {
        self.partitions.get(&partition)
    }

    /// The leader's id and epoch, where one is known.
    pub fn leader(&self, partition: i32) -> Option<(i32, i32)> {
        let known = self.partitions.get(&partition)?;
        (known.leader >= 0).then_some((known.leader, known.leader_epoch))
    }

    pub fn knows_all_leaders(&self, partitions: i32) -> bool {
        (0..partitions).all(|partition| self.leader(partition).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(leader: i32, leader_epoch: i32) -> Vec<PartitionMetadata> {
        vec![PartitionMetadata {
            leader,
            leader_epoch,
            ..PartitionMetadata::default()
        }]
    }

    #[test]
    fn stale_metadata_of_a_cut_off_broker_is_not_believed() {
        let mut side = SideMetadata::new(Side::Everywhere, 3);
        side.learn(seen(2, 5));
        side.learn(seen(1, 4));
        assert_eq!(side.leader(0), Some((2, 5)));
        side.learn(seen(-1, 6));
        assert_eq!(side.leader(0), None);
    }

    #[test]
    fn clients_of_a_side_ask_their_own_node_only() {
        let mut pinned = SideMetadata::new(Side::With(2), 3);
        assert_eq!((pinned.next_node(), pinned.next_node()), (2, 2));
        let mut free = SideMetadata::new(Side::Everywhere, 3);
        assert_ne!(free.next_node(), free.next_node());
    }
}
