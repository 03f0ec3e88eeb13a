//! Grudges: who is cut from whom. A cut is one direction of one link, so that
//! one-way partitions are no special case.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Packets from the first node to the second are dropped.
pub type Cut = (String, String);
/// A set of directed cuts.
pub type Grudge = BTreeSet<Cut>;

/// The shapes of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GrudgeShape {
    /// One node, whoever it is, against the rest.
    IsolateOne,
    /// A leader against the rest.
    IsolateLeader,
    /// Each node aimed at, alone.
    IsolateEach,
    /// Two sides of half the nodes each.
    Halves,
    /// A minority that holds the node aimed at, against the rest.
    MajorityMinority,
    /// Every node sees a majority, and no two see the same one.
    MajoritiesRing,
    /// Two sides that only one node between them can reach.
    Bridge,
    /// The node aimed at hears the others; they do not hear it.
    OneWay,
    /// The node aimed at is heard; it does not hear the others.
    OneWayDeaf,
}

impl GrudgeShape {
    /// The shapes that a random schedule draws from.
    pub const ALL: [GrudgeShape; 7] = [
        GrudgeShape::IsolateOne,
        GrudgeShape::Halves,
        GrudgeShape::MajorityMinority,
        GrudgeShape::MajoritiesRing,
        GrudgeShape::Bridge,
        GrudgeShape::OneWay,
        GrudgeShape::OneWayDeaf,
    ];

    /// The cuts of this shape. `order` is every node with those aimed at
    /// first; `aimed` tells how many of them those are.
    pub fn grudge(self, order: &[String], aimed: usize) -> Grudge {
        let aimed = aimed.clamp(1, order.len().max(1));
        match self {
            GrudgeShape::IsolateOne | GrudgeShape::IsolateLeader => split(order, 1),
            GrudgeShape::IsolateEach => isolate_each(order, aimed),
            GrudgeShape::Halves => split(order, order.len() / 2),
            GrudgeShape::MajorityMinority => split(order, order.len().saturating_sub(1) / 2),
            GrudgeShape::MajoritiesRing => majorities_ring(order),
            GrudgeShape::Bridge => bridge(order),
            GrudgeShape::OneWay => one_way(order, false),
            GrudgeShape::OneWayDeaf => one_way(order, true),
        }
    }
}

fn both(a: &str, b: &str) -> [Cut; 2] {
    [(a.to_owned(), b.to_owned()), (b.to_owned(), a.to_owned())]
}

/// The first `side` nodes against all others.
fn split(order: &[String], side: usize) -> Grudge {
    let (left, right) = order.split_at(side.min(order.len()));
    left.iter()
        .flat_map(|a| right.iter().flat_map(move |b| both(a, b)))
        .collect()
}

fn isolate_each(order: &[String], aimed: usize) -> Grudge {
    let alone = order.iter().take(aimed);
    alone
        .flat_map(|a| {
            order
                .iter()
                .filter(move |b| *b != a)
                .flat_map(move |b| both(a, b))
        })
        .collect()
}

/// On a ring, each node keeps the nearest neighbours that make a majority with
/// it, and is cut from those across.
fn majorities_ring(order: &[String]) -> Grudge {
    let count = order.len();
    let majority = count / 2 + 1;
    let reach = (majority - 1).div_ceil(2);
    let mut cuts = Grudge::new();
    for (i, a) in order.iter().enumerate() {
        for (j, b) in order.iter().enumerate().skip(i + 1) {
            let apart = (j - i).min(count - (j - i));
            if apart > reach {
                cuts.extend(both(a, b));
            }
        }
    }
    if cuts.is_empty() && count == 3 {
        // Three nodes on a ring all touch; one link down leaves each a majority.
        cuts.extend(both(&order[0], &order[1]));
    }
    cuts
}

/// The first node is the bridge; the others fall into two halves.
fn bridge(order: &[String]) -> Grudge {
    let Some((_, others)) = order.split_first() else {
        return Grudge::new();
    };
    split(others, others.len() / 2)
}

fn one_way(order: &[String], deaf: bool) -> Grudge {
    let Some((first, others)) = order.split_first() else {
        return Grudge::new();
    };
    let cut = |other: &String| {
        if deaf {
            (other.clone(), first.clone())
        } else {
            (first.clone(), other.clone())
        }
    };
    others.iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(count: usize) -> Vec<String> {
        (1..=count).map(|i| format!("n{i}")).collect()
    }

    fn heard_by(node: &str, all: &[String], cuts: &Grudge) -> usize {
        let heard = |from: &&String| !cuts.contains(&((*from).clone(), node.to_owned()));
        all.iter().filter(heard).count()
    }

    #[test]
    fn isolating_one_cuts_it_both_ways_from_all_others() {
        let cuts = GrudgeShape::IsolateOne.grudge(&nodes(3), 1);
        assert_eq!(cuts.len(), 4);
        assert!(cuts.iter().all(|(a, b)| a == "n1" || b == "n1"));
    }

    #[test]
    fn a_minority_never_holds_half_of_the_nodes() {
        for count in 3..=9 {
            let all = nodes(count);
            let cuts = GrudgeShape::MajorityMinority.grudge(&all, 1);
            assert!(
                2 * heard_by("n1", &all, &cuts) < count + 1,
                "{count} nodes: {cuts:?}"
            );
            assert!(!cuts.is_empty());
        }
    }

    #[test]
    fn on_the_ring_every_node_hears_a_majority_and_some_link_is_cut() {
        for count in 3..=9 {
            let all = nodes(count);
            let cuts = GrudgeShape::MajoritiesRing.grudge(&all, 1);
            assert!(!cuts.is_empty(), "{count} nodes");
            for node in &all {
                assert!(
                    heard_by(node, &all, &cuts) > count / 2,
                    "{node} of {count}: {cuts:?}"
                );
            }
        }
    }

    #[test]
    fn the_bridge_hears_everyone_and_the_sides_do_not_hear_each_other() {
        let all = nodes(5);
        let cuts = GrudgeShape::Bridge.grudge(&all, 1);
        assert_eq!(heard_by("n1", &all, &cuts), 5);
        assert!(cuts.contains(&("n2".to_owned(), "n5".to_owned())));
    }

    #[test]
    fn a_one_way_cut_leaves_the_other_direction_alone() {
        let cuts = GrudgeShape::OneWay.grudge(&nodes(3), 1);
        assert!(cuts.contains(&("n1".to_owned(), "n2".to_owned())));
        assert!(!cuts.contains(&("n2".to_owned(), "n1".to_owned())));
    }
}
