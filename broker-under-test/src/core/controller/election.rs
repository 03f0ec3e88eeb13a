//! Who leads a partition: clean and unclean election, and leaving the ISR with a broker.
//!
//! The order of choice is Kafka's without ELR: keep a live leader; else the first live replica in
//! assignment order that is in the ISR; else, where unclean election is enabled, the first live
//! replica, which then is the whole ISR; else nobody. The last member of an ISR stays in it when
//! its broker goes, so that it can be elected when it comes back.

use super::{Controller, ControllerEffect};
use crate::core::ids::{NO_LEADER, NodeId, TopicPartition};
use crate::core::metadata::{Image, Partition, Record};

/// The state of a partition after an election on `image`; none where nothing changes.
#[must_use]
pub fn elect(image: &Image, partition: &Partition, unclean: bool) -> Option<Partition> {
    let mut next = partition.clone();
    if partition.has_leader() && image.is_live(partition.leader) {
        return None;
    }
    let live = |node: &&NodeId| image.is_live(**node);
    let clean = partition
        .replicas
        .iter()
        .filter(|node| partition.isr.contains(node))
        .find(live);
    if let Some(leader) = clean {
        next.leader = *leader;
    } else if unclean && let Some(leader) = partition.replicas.iter().find(live) {
        next.leader = *leader;
        next.isr = vec![*leader];
    } else {
        next.leader = NO_LEADER;
    }
    if next.leader == partition.leader && next.isr == partition.isr {
        return None;
    }
    if next.leader != partition.leader {
        next.leader_epoch += 1;
    }
    next.partition_epoch += 1;
    Some(next)
}

/// The ISR without `node`, who stays where it is the last.
#[must_use]
pub fn isr_without(partition: &Partition, node: NodeId) -> Vec<NodeId> {
    if partition.isr == [node] {
        return partition.isr.clone();
    }
    partition
        .isr
        .iter()
        .copied()
        .filter(|member| *member != node)
        .collect()
}

impl Controller {
    /// A broker has gone, is going, or has started anew: it leaves ISRs and leads nothing.
    pub(super) fn take_from_partitions(&mut self, node: NodeId, fx: &mut Vec<ControllerEffect>) {
        let changes: Vec<_> = self
            .image
            .partitions()
            .filter(|(_, _, partition)| partition.isr.contains(&node) || partition.leader == node)
            .filter_map(|(tp, topic, partition)| {
                let mut without = partition.clone();
                without.isr = isr_without(partition, node);
                let unclean = topic.config.unclean_leader_election;
                let mut next =
                    elect(&self.image, &without, unclean).unwrap_or_else(|| without.clone());
                if next.isr == partition.isr && next.leader == partition.leader {
                    return None;
                }
                next.partition_epoch = partition.partition_epoch + 1;
                Some((tp, next))
            })
            .collect();
        self.change_partitions(changes, fx);
    }

    /// A broker has come: partitions without a leader may have one again.
    pub(super) fn elect_where_leaderless(&mut self, fx: &mut Vec<ControllerEffect>) {
        let changes: Vec<_> = self
            .image
            .partitions()
            .filter(|(_, _, partition)| !partition.has_leader())
            .filter_map(|(tp, topic, partition)| {
                let unclean = topic.config.unclean_leader_election;
                elect(&self.image, partition, unclean).map(|next| (tp, next))
            })
            .collect();
        self.change_partitions(changes, fx);
    }

    pub(super) fn change_partitions(
        &mut self,
        changes: Vec<(TopicPartition, Partition)>,
        fx: &mut Vec<ControllerEffect>,
    ) {
        for (tp, state) in changes {
            fx.push(ControllerEffect::Note(format!(
                "{tp}: leader {} in epoch {}, ISR {:?}",
                state.leader, state.leader_epoch, state.isr
            )));
            self.propose(Record::ChangePartition { tp, state }, fx);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::core::metadata::Broker;

    pub(in crate::core::controller) fn image(live: &[NodeId]) -> Image {
        let mut image = Image::default();
        for node in 1..=3 {
            let broker = Broker {
                epoch: 1,
                incarnation: 1,
                client_addr: "a:1".into(),
                replication_addr: "a:2".into(),
                fenced: !live.contains(&node),
                stopping: false,
            };
            image.brokers.insert(node, broker);
        }
        image
    }

    pub(in crate::core::controller) fn partition(leader: NodeId, isr: &[NodeId]) -> Partition {
        Partition {
            replicas: vec![1, 2, 3],
            isr: isr.to_vec(),
            leader,
            leader_epoch: 5,
            partition_epoch: 9,
        }
    }

    #[test]
    fn a_live_leader_stays() {
        assert_eq!(elect(&image(&[1, 2, 3]), &partition(2, &[2]), true), None);
    }

    #[test]
    fn the_first_live_member_of_the_isr_in_assignment_order_leads() {
        let next = elect(&image(&[2, 3]), &partition(1, &[3, 1, 2]), false).unwrap();
        assert_eq!(
            (next.leader, next.leader_epoch, next.partition_epoch),
            (2, 6, 10)
        );
    }

    #[test]
    fn without_unclean_election_a_replica_outside_the_isr_never_leads() {
        let next = elect(&image(&[2, 3]), &partition(1, &[1]), false).unwrap();
        assert_eq!((next.leader, next.isr), (NO_LEADER, vec![1]));
    }

    #[test]
    fn unclean_election_makes_the_first_live_replica_the_whole_isr() {
        let next = elect(&image(&[3]), &partition(1, &[1]), true).unwrap();
        assert_eq!((next.leader, next.isr), (3, vec![3]));
    }

    #[test]
    fn the_last_member_of_an_isr_stays_in_it() {
        assert_eq!(isr_without(&partition(1, &[1]), 1), vec![1]);
        assert_eq!(isr_without(&partition(1, &[1, 2]), 1), vec![2]);
    }
}
