//! Where clients live: everywhere (never cut off), pinned to a node's side
//! (they share its cuts and get their metadata from it), or some of each.

use super::Role;

/// The choice for a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Placement {
    Everywhere,
    Pinned,
    Mixed,
}

/// The side on which one client lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Everywhere,
    /// With the broker of this position.
    With(usize),
}

/// One client of the workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientPlan {
    pub name: String,
    pub role: Role,
    pub side: Side,
}

/// Half producers, half consumers (one of each at least), spread over sides.
pub fn plan_clients(count: usize, placement: Placement, brokers: usize) -> Vec<ClientPlan> {
    let producers = count.div_ceil(2).max(1);
    let consumers = count.saturating_sub(producers).max(1);
    let of_role = |role: Role, letter: char, count: usize| {
        (0..count).map(move |i| ClientPlan {
            name: format!("{letter}{}", i + 1),
            role,
            side: side_of(i, placement, brokers),
        })
    };
    of_role(Role::Producer, 'p', producers)
        .chain(of_role(Role::Consumer, 'c', consumers))
        .collect()
}

fn side_of(position: usize, placement: Placement, brokers: usize) -> Side {
    let pinned = |i: usize| Side::With(i % brokers.max(1));
    match placement {
        Placement::Everywhere => Side::Everywhere,
        Placement::Pinned => pinned(position),
        Placement::Mixed if position.is_multiple_of(2) => Side::Everywhere,
        Placement::Mixed => pinned(position / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_clients_live_on_both_kinds_of_sides() {
        let clients = plan_clients(12, Placement::Mixed, 3);
        for role in [Role::Producer, Role::Consumer] {
            let sides: std::collections::BTreeSet<_> = clients
                .iter()
                .filter(|c| c.role == role)
                .map(|c| c.side)
                .collect();
            assert!(sides.contains(&Side::Everywhere), "{role:?}");
            assert!(
                sides.contains(&Side::With(0)) && sides.contains(&Side::With(2)),
                "{role:?}"
            );
        }
    }

    #[test]
    fn there_is_always_a_producer_and_a_consumer() {
        assert_eq!(plan_clients(1, Placement::Everywhere, 3).len(), 2);
    }
}
