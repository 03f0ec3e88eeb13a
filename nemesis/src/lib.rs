//! What is done to a cluster, and where the cluster runs.
//!
//! `faults` holds faults as plain data, `schedule` draws them from a seed,
//! `inject` carries them out and proves that each one took hold, and `lab`
//! makes the rootless namespaces that nodes and clients run in. Nothing here
//! knows what a broker is, reads a clock for a decision, or touches the host's
//! links, rules or clock.

pub mod faults;
pub mod inject;
pub mod lab;
pub mod schedule;
