//! Whom a fault aims at, and how that is resolved from the cluster's state at
//! the time of injection. The salt is drawn with the schedule, so that the
//! same state gives the same nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::view::ClusterView;

/// A role to aim at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AimAt {
    #[default]
    Random,
    /// The leader of some partition.
    Leader,
    /// The leader of the controllers.
    Controller,
    /// All replicas of some partition but its leader.
    Followers,
    /// The nth replica of some partition that does not lead it, counted from 1,
    /// in the order in which they are candidates for leadership.
    Follower(usize),
    All,
    /// A node by its name.
    Node(String),
}

/// A role and the number that settles every choice it leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    pub at: AimAt,
    #[serde(default)]
    pub salt: u64,
    /// Settles "some partition" where a scenario names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
}

impl Aim {
    pub fn new(at: AimAt, salt: u64) -> Aim {
        Aim {
            at,
            salt,
            partition: None,
        }
    }

    /// The nodes aimed at, or why there are none now.
    pub fn resolve(&self, view: &ClusterView) -> Result<Vec<String>, String> {
        match &self.at {
            AimAt::Random => pick(&view.nodes, self.salt).map(|node| vec![node.clone()]),
            AimAt::Leader => self.partition(view).map(|(leader, _)| vec![leader]),
            AimAt::Controller => {
                let seen = view.controller.clone();
                seen.map(|node| vec![node])
                    .ok_or_else(|| "no controller is known now".to_owned())
            }
            AimAt::Followers => self.followers(view),
            AimAt::Follower(nth) => {
                let found = self.followers(view)?.into_iter().nth(nth.saturating_sub(1));
                let found = found.ok_or_else(|| format!("the partition has no follower {nth}"))?;
                Ok(vec![found])
            }
            AimAt::All => Ok(view.nodes.clone()),
            AimAt::Node(name) if view.nodes.contains(name) => Ok(vec![name.clone()]),
            AimAt::Node(name) => Err(format!("there is no node {name}")),
        }
    }

    fn followers(&self, view: &ClusterView) -> Result<Vec<String>, String> {
        let (leader, replicas) = self.partition(view)?;
        let followers: Vec<_> = replicas
            .into_iter()
            .filter(|node| *node != leader)
            .collect();
        if followers.is_empty() {
            return Err("the partition has no followers".to_owned());
        }
        Ok(followers)
    }

    fn partition(&self, view: &ClusterView) -> Result<(String, Vec<String>), String> {
        let led: Vec<_> = view
            .partitions
            .iter()
            .filter(|(key, _)| self.partition.as_ref().is_none_or(|wanted| wanted == *key))
            .filter_map(|(_, p)| p.leader.clone().map(|leader| (leader, p.replicas.clone())))
            .collect();
        pick(&led, self.salt)
            .cloned()
            .map_err(|_| "no partition has a leader now".to_owned())
    }
}

fn pick<T>(from: &[T], salt: u64) -> Result<&T, String> {
    let count = u64::try_from(from.len()).unwrap_or(u64::MAX).max(1);
    let index = usize::try_from(salt % count).unwrap_or(0);
    from.get(index)
        .ok_or_else(|| "there is no node to aim at".to_owned())
}

impl fmt::Display for AimAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AimAt::Random => f.write_str("random"),
            AimAt::Leader => f.write_str("leader"),
            AimAt::Controller => f.write_str("controller"),
            AimAt::Followers => f.write_str("followers"),
            AimAt::Follower(nth) => write!(f, "follower-{nth}"),
            AimAt::All => f.write_str("all"),
            AimAt::Node(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::PartitionView;

    fn view() -> ClusterView {
        let nodes: Vec<String> = ["n1", "n2", "n3"].map(String::from).into();
        let partition = PartitionView {
            leader: Some("n2".into()),
            replicas: nodes.clone(),
        };
        ClusterView {
            brokers: nodes.clone(),
            nodes,
            controller: Some("n3".into()),
            partitions: [("log-0".to_owned(), partition)].into(),
        }
    }

    #[test]
    fn a_leader_is_resolved_from_what_was_seen() {
        assert_eq!(
            Aim::new(AimAt::Leader, 9).resolve(&view()),
            Ok(vec!["n2".to_owned()])
        );
    }

    #[test]
    fn followers_are_all_replicas_but_the_leader() {
        let followers = Aim::new(AimAt::Followers, 0).resolve(&view());
        assert_eq!(followers, Ok(vec!["n1".to_owned(), "n3".to_owned()]));
    }

    #[test]
    fn one_follower_is_chosen_by_its_place_among_the_candidates() {
        let nth = |nth| Aim::new(AimAt::Follower(nth), 7).resolve(&view());
        assert_eq!(nth(1), Ok(vec!["n1".to_owned()]));
        assert_eq!(nth(2), Ok(vec!["n3".to_owned()]));
        assert!(nth(3).is_err());
    }

    #[test]
    fn an_aim_without_a_target_says_why() {
        let mut blind = view();
        blind.controller = None;
        blind.partitions.clear();
        assert!(Aim::new(AimAt::Controller, 0).resolve(&blind).is_err());
        assert!(Aim::new(AimAt::Leader, 0).resolve(&blind).is_err());
    }
}
