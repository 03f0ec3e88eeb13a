//! From grudges between nodes to links between addresses: which packets a cut
//! drops, on which ports, and which clients' places share a node's fate.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use crate::faults::{Grudge, Plane, PlanePorts};
use crate::lab::{Place, pinned_place};

/// One directed link on one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub port: u16,
}

/// What a partition drops: requests by destination port, replies by source
/// port. Both follow the packet's own direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub requests: BTreeSet<Link>,
    pub replies: BTreeSet<Link>,
}

impl Links {
    pub fn extend(&mut self, other: &Links) {
        self.requests.extend(&other.requests);
        self.replies.extend(&other.replies);
    }
}

/// The addresses of nodes and of places whose clients follow a node.
#[derive(Clone, Debug)]
pub struct LinkMap {
    nodes: BTreeMap<String, Ipv4Addr>,
    clients: BTreeMap<String, Ipv4Addr>,
    ports: PlanePorts,
}

impl LinkMap {
    /// Takes every place of a lab; those named as pinned follow their node.
    pub fn new<'a>(places: impl Iterator<Item = &'a Place>, ports: PlanePorts) -> LinkMap {
        let all: BTreeMap<_, _> = places.map(|p| (p.name().to_owned(), p.addr())).collect();
        let clients = all
            .keys()
            .filter_map(|node| Some((node.clone(), *all.get(&pinned_place(node))?)))
            .collect();
        LinkMap {
            nodes: all,
            clients,
            ports,
        }
    }

    /// Nodes by name, without clients that follow them.
    pub fn of_nodes(nodes: BTreeMap<String, Ipv4Addr>, ports: PlanePorts) -> LinkMap {
        LinkMap {
            nodes,
            clients: BTreeMap::new(),
            ports,
        }
    }

    /// The links that a grudge on a plane cuts.
    pub fn links(&self, grudge: &Grudge, plane: Plane) -> Links {
        let mut links = Links::default();
        for (from, to) in grudge {
            let (Some(a), Some(b)) = (self.nodes.get(from), self.nodes.get(to)) else {
                continue;
            };
            for port in self.ports.of(plane) {
                links.requests.insert(Link {
                    from: *a,
                    to: *b,
                    port,
                });
                links.replies.insert(Link {
                    from: *a,
                    to: *b,
                    port,
                });
            }
            if plane.concerns_clients() {
                self.cut_clients(from, to, &mut links);
            }
        }
        links
    }

    /// Clients of the one side do not reach the other side's node, and its
    /// replies do not reach them.
    fn cut_clients(&self, from: &str, to: &str, links: &mut Links) {
        for port in self.ports.client.iter().copied() {
            if let (Some(client), Some(node)) = (self.clients.get(from), self.nodes.get(to)) {
                links.requests.insert(Link {
                    from: *client,
                    to: *node,
                    port,
                });
            }
            if let (Some(node), Some(client)) = (self.nodes.get(from), self.clients.get(to)) {
                links.replies.insert(Link {
                    from: *node,
                    to: *client,
                    port,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> LinkMap {
        let addr = |last| Ipv4Addr::new(10, 77, 1, last);
        LinkMap {
            nodes: [("n1".to_owned(), addr(1)), ("n2".to_owned(), addr(2))].into(),
            clients: [("n1".to_owned(), addr(101)), ("n2".to_owned(), addr(102))].into(),
            ports: PlanePorts {
                client: vec![9092],
                replication: vec![9093],
                controller: vec![9094],
            },
        }
    }

    fn one_way() -> Grudge {
        [("n1".to_owned(), "n2".to_owned())].into()
    }

    #[test]
    fn a_cut_of_one_plane_leaves_the_other_ports_alone() {
        let links = map().links(&one_way(), Plane::Replication);
        assert!(
            links
                .requests
                .iter()
                .chain(&links.replies)
                .all(|link| link.port == 9093)
        );
        assert_eq!((links.requests.len(), links.replies.len()), (1, 1));
    }

    #[test]
    fn pinned_clients_are_cut_off_with_their_node() {
        let links = map().links(&one_way(), Plane::All);
        let from_client = Ipv4Addr::new(10, 77, 1, 101);
        assert!(
            links
                .requests
                .iter()
                .any(|link| link.from == from_client && link.port == 9092)
        );
        let to_client = Ipv4Addr::new(10, 77, 1, 102);
        assert!(
            links
                .replies
                .iter()
                .any(|link| link.to == to_client && link.port == 9092)
        );
    }

    #[test]
    fn a_one_way_cut_drops_no_packet_of_the_other_direction() {
        let links = map().links(&one_way(), Plane::All);
        let of_n2 = [Ipv4Addr::new(10, 77, 1, 2), Ipv4Addr::new(10, 77, 1, 102)];
        assert!(
            links
                .requests
                .iter()
                .chain(&links.replies)
                .all(|link| !of_n2.contains(&link.from))
        );
    }
}
