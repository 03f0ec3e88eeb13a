//! A system that is run as its description says.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::description::{FileTemplate, Roles, Template, within};
use super::{Description, Layout, NodeSpec, System, preparation};

/// What every node is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSettings {
    pub replica_lag_time_max_ms: u64,
    /// The rule of Kafka before 0.9; the built-in broker has it.
    pub replica_lag_max_messages: Option<u32>,
    pub session_timeout_ms: u64,
    pub flush: String,
    pub flush_messages: String,
    pub unclean_elections: bool,
    pub min_insync: u16,
    pub replication_factor: u16,
    /// Eligible leader replicas (KIP-966).
    pub elr: bool,
    pub bug: Option<String>,
    pub seed: u64,
    /// The version of the system, where it is known.
    pub version: String,
}

/// A described system with all that its templates may ask for.
pub struct Described {
    description: Description,
    folder: PathBuf,
    values: BTreeMap<String, String>,
}

impl Described {
    /// `folder` is where every node has a folder of its own; `found` are the values that had to
    /// be looked for, such as the path of Java.
    pub fn new(
        description: Description,
        layout: &Layout,
        settings: &ClusterSettings,
        folder: PathBuf,
        found: BTreeMap<String, String>,
    ) -> Described {
        let mut values = of_cluster(&description, layout, settings);
        values.extend(found);
        Described {
            description,
            folder,
            values,
        }
    }

    fn node_folder(&self, node: &NodeSpec) -> PathBuf {
        self.folder.join(&node.name)
    }

    /// Everything that a template of this node may use.
    fn values(&self, node: &NodeSpec) -> anyhow::Result<BTreeMap<String, String>> {
        let mut values = self.values.clone();
        let dir = self.node_folder(node);
        let data = dir.join(&self.description.data);
        let roles = match roles_of(node) {
            Roles::Combined => "broker,controller",
            Roles::Broker => "broker",
            Roles::Controller => "controller",
        };
        values.extend([
            ("id".to_owned(), node.id.to_string()),
            ("name".to_owned(), node.name.clone()),
            ("addr".to_owned(), node.addr.to_string()),
            ("dir".to_owned(), dir.display().to_string()),
            ("data".to_owned(), data.display().to_string()),
            ("roles".to_owned(), roles.to_owned()),
        ]);
        for (name, template) in &self.description.vars {
            let value = fill(template, &values, name)?;
            values.insert(name.clone(), value);
        }
        Ok(values)
    }

    fn words(&self, words: &[Template], node: &NodeSpec) -> anyhow::Result<Command> {
        let values = self.values(node)?;
        let mut filled = words.iter().map(|word| fill(word, &values, "the command"));
        let program = filled.next().context("a command without a word")??;
        let mut command = Command::new(program);
        for word in filled {
            command.arg(word?);
        }
        for (key, value) in &self.description.env {
            command.env(key, fill(value, &values, key)?);
        }
        Ok(command)
    }

    fn write_files(&self, node: &NodeSpec) -> anyhow::Result<()> {
        let values = self.values(node)?;
        let own = roles_of(node);
        let wanted = |file: &&FileTemplate| file.roles.is_empty() || file.roles.contains(&own);
        let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
        for file in self.description.files.iter().filter(wanted) {
            let path = fill(&file.path, &values, "file.path")?;
            // Checked when the description was read, but then with other values.
            within(&path).map_err(|why| anyhow!("the system's description: file.path: {why}"))?;
            let path = self.node_folder(node).join(path);
            let text = fill(&file.text, &values, "file.text")?;
            texts.entry(path).or_default().push_str(&text);
        }
        for (path, text) in texts {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }
}

impl System for Described {
    fn describe(&self) -> String {
        let name = fill(&self.description.name, &self.values, "name");
        let mut name = name.unwrap_or_else(|_| "a system without a name".to_owned());
        if !self.description.tested {
            name.push_str(" (by a description that is marked untested)");
        }
        name
    }

    fn prepare(&self, node: &NodeSpec) -> anyhow::Result<()> {
        self.write_files(node)?;
        let log = self.node_folder(node).join("prepare.log");
        let limit = Duration::from_millis(self.description.start_limit.ms);
        let begun = Instant::now();
        for words in &self.description.prepare {
            let left = limit.saturating_sub(begun.elapsed());
            preparation::run(self.words(words, node)?, &log, limit, left)
                .with_context(|| format!("preparing node {}", node.name))?;
        }
        Ok(())
    }

    fn command(&self, node: &NodeSpec) -> anyhow::Result<Command> {
        let mut words = self.description.command.clone();
        let values = self.values(node)?;
        for optional in &self.description.optional {
            if values
                .get(&optional.when)
                .is_some_and(|value| !value.is_empty())
            {
                words.extend_from_slice(&optional.args);
            }
        }
        self.words(&words, node)
    }

    fn stop_signal(&self) -> i32 {
        self.description.stop
    }

    fn logs(&self, node: &NodeSpec) -> Vec<PathBuf> {
        let folder = self.node_folder(node);
        self.description
            .logs
            .iter()
            .map(|log| folder.join(log))
            .collect()
    }

    fn partition_folder(&self, node: &NodeSpec, topic: &str, partition: i32) -> Option<PathBuf> {
        let template = self.description.partition.as_ref()?;
        let mut values = self.values(node).ok()?;
        values.insert("topic".to_owned(), topic.to_owned());
        values.insert("partition".to_owned(), partition.to_string());
        template.fill(&values).ok().map(PathBuf::from)
    }
}

fn fill(
    template: &Template,
    values: &BTreeMap<String, String>,
    what: &str,
) -> anyhow::Result<String> {
    template
        .fill(values)
        .map_err(|why| anyhow!("the system's description: {what}: {why}"))
}

fn roles_of(node: &NodeSpec) -> Roles {
    match (node.is_broker, node.is_controller) {
        (true, true) => Roles::Combined,
        (true, false) => Roles::Broker,
        (false, _) => Roles::Controller,
    }
}

/// The values that are the same on every node.
fn of_cluster(
    description: &Description,
    layout: &Layout,
    settings: &ClusterSettings,
) -> BTreeMap<String, String> {
    let ports = description.ports;
    let replication = ports.replication.unwrap_or(ports.client);
    let of = |port: u16, wanted: &dyn Fn(&NodeSpec) -> bool, with_id: bool| {
        let each = layout.nodes.iter().filter(|node| wanted(node));
        let each = each.map(|node| match with_id {
            true => format!("{}@{}", node.id, node.socket(port)),
            false => node.socket(port).to_string(),
        });
        each.collect::<Vec<_>>().join(",")
    };
    let quorum = of(
        ports.controller.unwrap_or(replication),
        &|node| node.is_controller,
        true,
    );
    let bootstrap = of(ports.client, &|node| node.is_broker, false);
    let port = |port: Option<u16>| port.map_or(String::new(), |port| port.to_string());
    let pairs = [
        ("quorum", quorum),
        ("bootstrap", bootstrap),
        (
            "first_addr",
            layout
                .nodes
                .first()
                .map_or(String::new(), |node| node.addr.to_string()),
        ),
        ("nodes", layout.nodes.len().to_string()),
        ("cluster_id", cluster_id(settings.seed)),
        ("client_port", ports.client.to_string()),
        ("replication_port", replication.to_string()),
        ("controller_port", port(ports.controller)),
        ("admin_port", port(ports.admin)),
        (
            "session_timeout_ms",
            settings.session_timeout_ms.to_string(),
        ),
        (
            "heartbeat_ms",
            (settings.session_timeout_ms / 4).max(1).to_string(),
        ),
        (
            "replica_lag_time_max_ms",
            settings.replica_lag_time_max_ms.to_string(),
        ),
        (
            "replica_lag_max_messages",
            settings
                .replica_lag_max_messages
                .map_or_else(String::new, |limit| limit.to_string()),
        ),
        ("min_insync", settings.min_insync.to_string()),
        (
            "replication_factor",
            settings.replication_factor.to_string(),
        ),
        ("unclean_elections", settings.unclean_elections.to_string()),
        ("flush", settings.flush.clone()),
        ("flush_messages", settings.flush_messages.clone()),
        ("elr", settings.elr.to_string()),
        ("elr_version", u8::from(settings.elr).to_string()),
        ("bug", settings.bug.clone().unwrap_or_default()),
        ("seed", settings.seed.to_string()),
        ("version", settings.version.clone()),
        ("java", String::new()),
        ("kafka_libs", String::new()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

/// 22 letters of URL-safe base64, as Kafka's tools take them; from the seed, so that a run can be
/// repeated.
fn cluster_id(seed: u64) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut bits = u128::from(seed) | (0x706c_696d_736f_6c6c_u128 << 64);
    // 22 letters hold 132 bits: the last one carries only two.
    let mut id = String::new();
    for left in (0..22).rev() {
        let letter = if left == 0 {
            (bits & 3) << 4
        } else {
            bits & 63
        };
        id.push(char::from(LETTERS[usize::try_from(letter).unwrap_or(0)]));
        bits >>= 6;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ClusterSettings {
        ClusterSettings {
            replica_lag_time_max_ms: 2000,
            replica_lag_max_messages: None,
            session_timeout_ms: 1500,
            flush: "never".into(),
            flush_messages: "1".into(),
            unclean_elections: false,
            min_insync: 2,
            replication_factor: 3,
            elr: true,
            bug: None,
            seed: 7,
            version: "4.4.0".into(),
        }
    }

    fn described(name: &str, controllers: u16, folder: &std::path::Path) -> Described {
        let found = [
            ("plimsoll", "/bin/plimsoll"),
            ("java", "java"),
            ("kafka_libs", "libs/*"),
        ];
        let found = found.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let description = Description::built_in(name).expect("it is sound");
        Described::new(
            description,
            &Layout::new(3, controllers),
            &settings(),
            folder.into(),
            found,
        )
    }

    fn line(command: &Command) -> String {
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect();
        words.join(" ")
    }

    #[test]
    fn a_bug_is_part_of_the_command_only_where_one_is_switched_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut system = described("builtin", 0, folder.path());
        let node = Layout::new(3, 0).nodes[1].clone();
        let plain = line(&system.command(&node).expect("sound"));
        assert!(
            plain.contains("--node-id 2 ") && !plain.contains("--bug"),
            "{plain}"
        );
        system
            .values
            .insert("bug".into(), "ignores-deposition".into());
        let bugged = line(&system.command(&node).expect("sound"));
        assert!(bugged.ends_with("--bug ignores-deposition"), "{bugged}");
    }

    #[test]
    fn kafka_s_files_differ_by_role() {
        let folder = tempfile::tempdir().expect("a folder");
        for (controllers, node, listeners) in [(0, 0, 3), (3, 0, 2), (3, 3, 1)] {
            let system = described("kafka", controllers, folder.path());
            let node = Layout::new(3, controllers).nodes[node].clone();
            system.write_files(&node).expect("written");
            let path = folder.path().join(&node.name).join("server.properties");
            let text = fs::read_to_string(path).expect("it is there");
            let line = text
                .lines()
                .find(|line| line.starts_with("listeners="))
                .expect("there");
            assert_eq!(line.matches("://").count(), listeners, "{line}");
        }
    }

    #[test]
    fn a_cluster_id_is_sixteen_bytes_of_base64() {
        let id = cluster_id(42);
        assert_eq!(id.len(), 22);
        assert!("AQgw".contains(id.chars().last().expect("letters")), "{id}");
        assert_ne!(id, cluster_id(43));
    }
}
