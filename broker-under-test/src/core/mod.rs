//! The replicated log itself, without any IO: Raft, the controller, the replicas of partitions,
//! and [`node::Node`], which routes between them.
//!
//! Nothing below this module reads a clock, a file, a socket, a thread or a random source, and no
//! map in it has an order that depends on a hash. Time, recovered state and seeds come in as
//! arguments, so the same inputs give the same outputs byte for byte; the process shell
//! ([`crate::server`]) and the simulation drive the same code. A test scans the sources for it.

pub mod bugs;
pub mod config;
pub mod controller;
pub mod errors;
pub mod ids;
pub mod messages;
pub mod metadata;
pub mod node;
pub mod raft;
pub mod replica;
pub mod seam;
