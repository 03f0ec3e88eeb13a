//! A system by description: how a Kafka-compatible broker is started, in TOML
//! and without a line of Rust. `docs/SYSTEMS.md` shows how to write one.

mod raw;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;

pub use self::template::Template;

use self::raw::{Raw, RawFile, RawNode};
use super::Ports;
use crate::cli::{Duration, parse_duration};

/// The descriptions that are built in, by the name that `--system` takes.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("builtin", include_str!("../../../../systems/builtin.toml")),
    ("kafka", include_str!("../../../../systems/kafka.toml")),
];

/// What every description may use in braces, beside its own `[vars]`.
const PLACEHOLDERS: [&str; 32] = [
    "id",
    "name",
    "addr",
    "first_addr",
    "dir",
    "data",
    "roles",
    "quorum",
    "bootstrap",
    "cluster_id",
    "client_port",
    "replication_port",
    "controller_port",
    "admin_port",
    "nodes",
    "session_timeout_ms",
    "heartbeat_ms",
    "replica_lag_time_max_ms",
    "replica_lag_max_messages",
    "min_insync",
    "replication_factor",
    "unclean_elections",
    "flush",
    "flush_messages",
    "elr",
    "elr_version",
    "bug",
    "plimsoll",
    "java",
    "kafka_libs",
    "version",
    "seed",
];
/// What the name of a partition's folder may use too.
const OF_A_PARTITION: [&str; 2] = ["topic", "partition"];

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
        let broken = |e: std::io::Error| {
            DescriptionError(format!(
                "the system's description {shown} cannot be read: {e}"
            ))
        };
        // A device without an end is no description.
        let meta = std::fs::metadata(path).map_err(broken)?;
        if !meta.is_file() || meta.len() > (1 << 20) {
            return Err(DescriptionError(format!(
                "the system's description {shown} is no file of at most 1 MiB"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(broken)?;
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
        Checking {
            file,
            text,
            known: known_names(&raw),
        }
        .description(raw)
    }
}

fn known_names(raw: &Raw) -> BTreeSet<String> {
    let own = raw.vars.keys().map(|key| key.get_ref().clone());
    PLACEHOLDERS
        .iter()
        .map(|name| (*name).to_owned())
        .chain(own)
        .collect()
}

/// The text that is being checked, for errors that say where.
struct Checking<'a> {
    file: &'a str,
    text: &'a str,
    known: BTreeSet<String>,
}

type Checked<T> = Result<T, DescriptionError>;

impl Checking<'_> {
    fn error<T>(&self, field: &str, at: usize, why: &str) -> Checked<T> {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        Err(DescriptionError(format!(
            "{}: line {line}: {field}: {why}",
            self.file
        )))
    }

    fn template(&self, field: &str, text: &Spanned<String>) -> Checked<Template> {
        self.template_with(field, text, &[])
    }

    fn template_with(
        &self,
        field: &str,
        text: &Spanned<String>,
        more: &[&str],
    ) -> Checked<Template> {
        let at = text.span().start;
        let template = match Template::parse(text.get_ref()) {
            Ok(template) => template,
            Err(why) => return self.error(field, at, &why),
        };
        for name in template.names() {
            if !self.known.contains(name) && !more.contains(&name) {
                let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
                let known = known.join(", ");
                let why = format!(
                    "nothing is called {{{name}}}; known are {known}; a plain brace is written twice"
                );
                return self.error(field, at, &why);
            }
        }
        Ok(template)
    }

    fn templates(&self, field: &str, words: &[Spanned<String>]) -> Checked<Vec<Template>> {
        words
            .iter()
            .map(|word| self.template(field, word))
            .collect()
    }

    fn duration(
        &self,
        field: &str,
        text: Option<&Spanned<String>>,
        default: u64,
    ) -> Checked<Duration> {
        let Some(text) = text else {
            return Ok(Duration { ms: default * 1000 });
        };
        match parse_duration(text.get_ref()) {
            Ok(duration) => Ok(duration),
            Err(why) => self.error(field, text.span().start, &why),
        }
    }

    fn description(&self, raw: Raw) -> Checked<Description> {
        let node = raw.node;
        if node.command.is_empty() {
            return self.error("node.command", 0, "is empty; it starts a node");
        }
        let state = self.state(raw.state.as_ref(), raw.ports.admin)?;
        let needs_kafka = match raw
            .needs
            .as_ref()
            .map(|needs| (needs.get_ref().as_str(), needs.span().start))
        {
            None => false,
            Some(("kafka", _)) => true,
            Some((other, at)) => {
                return self.error(
                    "needs",
                    at,
                    &format!("\"{other}\" is not known; there is: kafka"),
                );
            }
        };
        Ok(Description {
            name: self.template("name", &raw.name)?,
            state,
            needs_kafka,
            tested: raw.tested,
            ports: Ports {
                client: raw.ports.client,
                replication: raw.ports.replication,
                controller: raw.ports.controller,
                admin: raw.ports.admin,
            },
            start_limit: self.duration("limits.start", raw.limits.start.as_ref(), 60)?,
            settle_limit: self.duration("limits.settle", raw.limits.settle.as_ref(), 60)?,
            vars: self.vars(&raw.vars)?,
            prepare: node
                .prepare
                .iter()
                .map(|words| self.templates("node.prepare", words))
                .collect::<Checked<_>>()?,
            command: self.templates("node.command", &node.command)?,
            optional: self.optional(&node)?,
            env: node
                .env
                .iter()
                .map(|(key, value)| Ok((key.clone(), self.template("node.env", value)?)))
                .collect::<Checked<_>>()?,
            partition: node
                .partition
                .as_ref()
                .map(|p| self.template_with("node.partition", p, &OF_A_PARTITION))
                .transpose()?,
            stop: self.stop(node.stop.as_ref())?,
            data: node.data,
            logs: node.logs,
            files: raw
                .file
                .iter()
                .map(|file| self.file(file))
                .collect::<Checked<_>>()?,
        })
    }

    fn state(&self, state: Option<&Spanned<String>>, admin: Option<u16>) -> Checked<State> {
        let Some(state) = state else {
            return Ok(State::Protocol);
        };
        match (state.get_ref().as_str(), admin) {
            ("protocol", _) => Ok(State::Protocol),
            ("admin", Some(_)) => Ok(State::Admin),
            ("admin", None) => {
                self.error("state", state.span().start, "\"admin\" needs ports.admin")
            }
            (other, _) => self.error(
                "state",
                state.span().start,
                &format!("\"{other}\" is not known; write protocol or admin"),
            ),
        }
    }

    fn vars(
        &self,
        vars: &BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> Checked<Vec<(String, Template)>> {
        // A map of spans is not in the file's order; later ones may use earlier ones.
        let mut in_order: Vec<_> = vars.iter().collect();
        in_order.sort_by_key(|(key, _)| key.span().start);
        let mut checked: Vec<(String, Template)> = Vec::new();
        for (key, value) in in_order {
            let name = key.get_ref();
            if PLACEHOLDERS.contains(&name.as_str()) {
                return self.error(
                    &format!("vars.{name}"),
                    key.span().start,
                    "has the name of something that is always known",
                );
            }
            let template = self.template(&format!("vars.{name}"), value)?;
            let is_later = |used: &&str| {
                vars.keys().any(|key| key.get_ref() == used)
                    && !checked.iter().any(|(known, _)| known == used)
            };
            if let Some(later) = template.names().find(is_later) {
                return self.error(
                    &format!("vars.{name}"),
                    value.span().start,
                    &format!("uses {{{later}}}, which is not set before it"),
                );
            }
            checked.push((name.clone(), template));
        }
        Ok(checked)
    }

    fn optional(&self, node: &RawNode) -> Checked<Vec<Optional>> {
        let mut all = Vec::new();
        for raw in &node.optional {
            let when = raw.when.get_ref();
            if !self.known.contains(when) {
                let why = format!("nothing is called {when}");
                return self.error("node.optional.when", raw.when.span().start, &why);
            }
            all.push(Optional {
                when: when.clone(),
                args: self.templates("node.optional.args", &raw.args)?,
            });
        }
        Ok(all)
    }

    fn stop(&self, stop: Option<&Spanned<String>>) -> Checked<i32> {
        let Some(stop) = stop else {
            return Ok(libc::SIGTERM);
        };
        match stop.get_ref().as_str() {
            "SIGTERM" => Ok(libc::SIGTERM),
            "SIGINT" => Ok(libc::SIGINT),
            "SIGQUIT" => Ok(libc::SIGQUIT),
            other => self.error(
                "node.stop",
                stop.span().start,
                &format!("\"{other}\" is not known; write SIGTERM, SIGINT or SIGQUIT"),
            ),
        }
    }

    fn file(&self, raw: &RawFile) -> Checked<FileTemplate> {
        let mut roles = Vec::new();
        for role in &raw.roles {
            roles.push(match role.get_ref().as_str() {
                "combined" => Roles::Combined,
                "broker" => Roles::Broker,
                "controller" => Roles::Controller,
                other => {
                    return self.error(
                        "file.for",
                        role.span().start,
                        &format!("\"{other}\" is not known; write combined, broker or controller"),
                    );
                }
            });
        }
        let path = raw.path.get_ref();
        if Path::new(path).is_absolute() || path.split('/').any(|part| part == "..") {
            return self.error(
                "file.path",
                raw.path.span().start,
                "is within the node's own folder: relative, and without \"..\"",
            );
        }
        Ok(FileTemplate {
            path: self.template("file.path", &raw.path)?,
            roles,
            text: self.template("file.text", &raw.text)?,
        })
    }
}

#[cfg(test)]
mod tests;
