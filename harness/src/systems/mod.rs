//! What is tested: how its nodes are started and where their ports are. How a
//! node lives, dies and comes back is the same for all systems (`process`).

mod choice;
mod compose;
mod described;
mod description;
mod kafka;
mod last_words;
mod layout;
mod node_set;
mod preparation;
mod process;

pub use choice::SystemChoice;
pub use compose::{Cluster, keep_logs};
pub use described::{ClusterSettings, Described};
pub use description::{Description, State};
pub use kafka::{Kafka, cache_folder, check_version, elr_by_default};
pub use last_words::{last_words, shortened};
pub use layout::{Layout, NodeSpec, Ports};
pub use node_set::NodeSet;
pub use process::die_with_parent;

use std::path::PathBuf;
use std::process::Command;

/// A system under test.
pub trait System: Send + Sync {
    /// Its name and version, for the history and the report.
    fn describe(&self) -> String;
    /// What is to be done once, before the node's first start.
    fn prepare(&self, node: &NodeSpec) -> anyhow::Result<()>;
    /// The command that starts a node; it logs to stderr and stays in the
    /// foreground.
    fn command(&self, node: &NodeSpec) -> anyhow::Result<Command>;
    /// The signal that asks a node to end cleanly.
    fn stop_signal(&self) -> i32 {
        libc::SIGTERM
    }
    /// Log files of a node beside what it prints.
    fn logs(&self, _node: &NodeSpec) -> Vec<PathBuf> {
        Vec::new()
    }
    /// Where a node keeps the segments of a partition, when they are Kafka's.
    fn partition_folder(&self, node: &NodeSpec, topic: &str, partition: i32) -> Option<PathBuf>;
}
