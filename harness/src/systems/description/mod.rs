//! A system by description: how a Kafka-compatible broker is started, in TOML
//! and without a line of Rust. `docs/SYSTEMS.md` shows how to write one.

mod checking;
mod raw;
mod rehearsal;
mod template;
mod within;

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_broker::small_file;

pub use self::template::Template;
pub use self::within::within;

use self::checking::Checking;
use self::raw::Raw;
use super::Ports;
use crate::cli::Duration;

/// The descriptions that are built in, by the name that `--system` takes.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("builtin", include_str!("../../../../systems/builtin.toml")),
    ("kafka", include_str!("../../../../systems/kafka.toml")),
];

/// A description that cannot be used: which file, which line, which field, why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DescriptionError(pub String);

/// How the state of replicas is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Asked through Kafka's own protocol, on the client port.
    Protocol,
    /// The built-in broker's admin port.
    Admin,
}

/// The roles that a node may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    Combined,
    Broker,
    Controller,
}

/// A file that is written for each node before its first start.
#[derive(Clone, Debug)]
pub struct FileTemplate {
    pub path: Template,
    pub roles: Vec<Roles>,
    pub text: Template,
}

/// Words that are added to the command when a setting has a value.
#[derive(Clone, Debug)]
pub struct Optional {
    pub when: String,
    pub args: Vec<Template>,
}

/// A checked description.
#[derive(Clone, Debug)]
pub struct Description {
    pub name: Template,
    pub state: State,
    pub needs_kafka: bool,
    pub tested: bool,
    pub ports: Ports,
    pub start_limit: Duration,
    pub settle_limit: Duration,
    /// In the order of the file: a later one may use an earlier one.
    pub vars: Vec<(String, Template)>,
    pub prepare: Vec<Vec<Template>>,
    pub command: Vec<Template>,
    pub optional: Vec<Optional>,
    pub env: BTreeMap<String, Template>,
    pub data: String,
    /// The folder of one partition's segments, where they are Kafka's.
    pub partition: Option<Template>,
    pub stop: i32,
    /// Log files, relative to the node's folder, beside `broker.log`.
    pub logs: Vec<String>,
    pub files: Vec<FileTemplate>,
}

impl Description {
    /// Reads a description from a file.
    pub fn read(path: &Path) -> Result<Description, DescriptionError> {
        let shown = path.display().to_string();
        let text = small_file::read(path).map_err(|e| {
            DescriptionError(format!(
                "the system's description {shown} cannot be read: {e}"
            ))
        })?;
        Description::parse(&shown, &text)
    }

    /// Reads one that is built in.
    pub fn built_in(name: &str) -> Result<Description, DescriptionError> {
        let known = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (name, text) = known
            .ok_or_else(|| DescriptionError(format!("no system called {name} is built in")))?;
        Description::parse(&format!("{name}.toml"), text)
    }

    pub fn parse(file: &str, text: &str) -> Result<Description, DescriptionError> {
        let raw: Raw = toml::from_str(text)
            .map_err(|e| DescriptionError(format!("{file}: {}", e.to_string().trim_end())))?;
        Checking::of(file, text, &raw).description(raw)
    }
}

#[cfg(test)]
mod tests;
