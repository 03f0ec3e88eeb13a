//! The broker under test: a replicated log that speaks Kafka's wire protocol.
//!
//! [`core`] holds replication, Raft and the controller as a state machine without IO; [`kafka`]
//! is the wire protocol; [`storage`] the logs on disk; [`server`] the process around them;
//! [`small_file`] reads what a person wrote.

pub mod core;
pub mod kafka;
pub mod server;
pub mod small_file;
pub mod storage;
