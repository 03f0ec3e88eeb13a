//! Planes: what flows between nodes, told apart by port, so that a leader can
//! be cut from its followers and still reach the controller.

use serde::{Deserialize, Serialize};

/// A plane of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plane {
    #[default]
    All,
    Replication,
    Controller,
    Client,
}

impl Plane {
    pub fn name(self) -> &'static str {
        match self {
            Plane::All => "all",
            Plane::Replication => "replication",
            Plane::Controller => "controller",
            Plane::Client => "client",
        }
    }

    /// Clients that share a node's fate are cut off with it on these planes.
    pub fn concerns_clients(self) -> bool {
        matches!(self, Plane::All | Plane::Client)
    }
}

/// Which ports make up which plane. The admin port is in none of them: the
/// harness must go on seeing every node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanePorts {
    pub client: Vec<u16>,
    pub replication: Vec<u16>,
    pub controller: Vec<u16>,
}

impl PlanePorts {
    /// The ports that a cut of this plane drops.
    pub fn of(&self, plane: Plane) -> Vec<u16> {
        match plane {
            Plane::All => [&self.client[..], &self.replication, &self.controller].concat(),
            Plane::Replication => self.replication.clone(),
            Plane::Controller => self.controller.clone(),
            Plane::Client => self.client.clone(),
        }
    }
}
