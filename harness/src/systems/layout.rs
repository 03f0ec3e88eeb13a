//! Who is who: names, ids, roles and addresses of all nodes. Ports are the
//! same on every node, since each has an address of its own.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use plimsoll_nemesis::faults::PlanePorts;
use plimsoll_nemesis::lab::{Lab, LabError};

/// The ports that every node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub client: u16,
    /// The client port, where replication has none of its own.
    pub replication: Option<u16>,
    pub controller: Option<u16>,
    /// Never cut, where there is one.
    pub admin: Option<u16>,
}

impl Ports {
    /// The ports of each plane.
    pub fn planes(&self) -> PlanePorts {
        PlanePorts {
            client: vec![self.client],
            replication: vec![self.replication.unwrap_or(self.client)],
            controller: self.controller.into_iter().collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = u16> {
        let more = [self.replication, self.controller, self.admin];
        std::iter::once(self.client).chain(more.into_iter().flatten())
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSpec {
    pub name: String,
    pub id: i32,
    pub is_broker: bool,
    pub is_controller: bool,
    pub addr: Ipv4Addr,
}

impl NodeSpec {
    pub fn socket(&self, port: u16) -> SocketAddr {
        SocketAddr::from((self.addr, port))
    }
}

/// All nodes, brokers first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub nodes: Vec<NodeSpec>,
}

impl Layout {
    /// Brokers n1, n2, ...; with separate controllers also c1, c2, ...
    pub fn new(brokers: u16, controllers: u16) -> Layout {
        let node = |name: String, id: u16, is_broker, is_controller| NodeSpec {
            name,
            id: i32::from(id),
            is_broker,
            is_controller,
            addr: Ipv4Addr::LOCALHOST,
        };
        let combined = controllers == 0;
        let first = (1..=brokers).map(|i| node(format!("n{i}"), i, true, combined));
        let rest = (1..=controllers).map(|i| node(format!("c{i}"), brokers + i, false, true));
        Layout {
            nodes: first.chain(rest).collect(),
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// Puts each node at its place's address.
    pub fn in_lab(mut self, lab: &Lab) -> Result<Layout, LabError> {
        for node in &mut self.nodes {
            node.addr = lab.place(&node.name)?.addr();
        }
        Ok(self)
    }

    /// Puts the nodes at loopback addresses of their own, away from other runs.
    pub fn on_loopback(mut self, ports: &Ports) -> Result<Layout, String> {
        let own = std::process::id();
        let mut last = String::new();
        for attempt in 0..50 {
            let mixed = own.wrapping_mul(2_654_435_761).wrapping_add(attempt * 977);
            let [a, b, ..] = mixed.to_le_bytes();
            for (node, n) in self.nodes.iter_mut().zip(1u8..) {
                node.addr = Ipv4Addr::new(127, 10 + a % 240, b, n);
            }
            match self.ports_in_use(ports) {
                None => return Ok(self),
                Some(error) => last = error,
            }
        }
        Err(format!(
            "no loopback addresses with free ports were found; the last try: {last}"
        ))
    }

    fn ports_in_use(&self, ports: &Ports) -> Option<String> {
        let sockets = self
            .nodes
            .iter()
            .flat_map(|n| ports.all().map(|port| n.socket(port)));
        sockets
            .filter_map(|socket| {
                TcpListener::bind(socket)
                    .err()
                    .map(|e| format!("{socket}: {e}"))
            })
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_combined_unless_controllers_are_asked_for() {
        assert!(
            Layout::new(3, 0)
                .nodes
                .iter()
                .all(|n| n.is_broker && n.is_controller)
        );
        let apart = Layout::new(3, 3);
        assert_eq!(apart.names(), ["n1", "n2", "n3", "c1", "c2", "c3"]);
        assert!(apart.nodes.iter().all(|n| n.is_broker != n.is_controller));
    }
}
