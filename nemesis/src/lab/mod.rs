//! A laboratory made of namespaces: one bridge, and for each node and each
//! place of clients a network namespace with an address of its own.
//!
//! Three processes share the work. The *front* is what the user started; it
//! holds the writing end of a pipe. *Pid 1* of the lab reaps children and
//! watches the pipe. The *runner* does the work in the lab's outer network
//! namespace. When the front or the runner ends, in whatever way, pid 1 ends
//! and the kernel takes every process, namespace, mount and rule with it.
//! The host's links, rules, mounts and clock are never touched.

mod entry;
mod front;
mod init;
mod network;
mod place;
mod steps;

pub use front::{Launch, Stage, launch, stage};
pub use init::run_init;
pub use network::{Lab, LabPlan, PLACE_EVERYWHERE, pinned_place};
pub use place::Place;
pub use steps::{LabError, Step, ways_out};
