//! The typed messages that a node takes and gives. Bytes on a socket are the shell's matter.

pub mod admin;
pub mod client;
pub mod configs;
pub mod delete_topics;
pub mod describe;
pub mod elect_leaders;
pub mod fetch;
pub mod peer;

pub use admin::{AdminRequest, AdminResponse};
pub use client::{ClientRequest, ClientResponse};
pub use peer::{PeerRequest, PeerResponse};

/// A request from anyone.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// From a Kafka client.
    Client(ClientRequest),
    /// From another node of the cluster.
    Peer(PeerRequest),
    /// From the admin port.
    Admin(AdminRequest),
}

/// The answer to a [`Request`] of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Response {
    /// To a Kafka client.
    Client(ClientResponse),
    /// To another node of the cluster.
    Peer(PeerResponse),
    /// To the admin port.
    Admin(AdminResponse),
}
