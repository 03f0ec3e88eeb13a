//! Placement of replicas, as Kafka's striped placement without racks: brokers in order, a start
//! drawn at random, each partition one further, followers shifted so that they spread evenly.

use crate::core::ids::NodeId;

/// Replicas of each of `partitions` partitions; the first is the preferred leader.
///
/// `start` is the broker's place where partition 0 begins. Empty where there are fewer brokers
/// than replicas: the caller has refused that before.
#[must_use]
pub fn place(
    brokers: &[NodeId],
    partitions: usize,
    replicas: usize,
    start: usize,
) -> Vec<Vec<NodeId>> {
    let n = brokers.len();
    if n == 0 || replicas == 0 || replicas > n {
        return Vec::new();
    }
    (0..partitions)
        .map(|partition| {
            let first = (start + partition) % n;
            // Each time round the brokers, followers move on by one, or the same pairs recur.
            let shift = (start + partition / n) % (n - 1).max(1);
            let follower = |k: usize| brokers[(first + 1 + (shift + k) % (n - 1).max(1)) % n];
            std::iter::once(brokers[first])
                .chain((0..replicas - 1).map(follower))
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn no_broker_holds_two_replicas_of_a_partition_and_leaders_spread_evenly() {
        for n in 1..=7_usize {
            let brokers: Vec<NodeId> = (1..=7).take(n).collect();
            for replicas in 1..=n {
                for start in 0..n {
                    let placed = place(&brokers, 2 * n, replicas, start);
                    let mut leads = BTreeMap::new();
                    for mut nodes in placed {
                        *leads.entry(nodes[0]).or_insert(0) += 1;
                        nodes.sort_unstable();
                        nodes.dedup();
                        assert_eq!(nodes.len(), replicas);
                    }
                    assert!(leads.values().all(|count| *count == 2));
                }
            }
        }
    }
}
