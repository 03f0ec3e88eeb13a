//! What is tested: how its nodes are started and where their ports are. How a
//! node lives, dies and comes back is the same for all systems (`process`).

mod builtin;
mod layout;
mod process;

pub use builtin::{Builtin, BuiltinSettings};
pub use layout::{Layout, NodeSpec, PORT_ADMIN, PORT_CLIENT, plane_ports};
pub use process::{NodeSet, die_with_parent};

use std::process::Command;

/// A system under test.
pub trait System: Send + Sync {
    /// Its name and version, for the history and the report.
    fn describe(&self) -> String;
    /// The command that starts a node; it logs to stderr and stays in the
    /// foreground.
    fn command(&self, node: &NodeSpec) -> Command;
}
