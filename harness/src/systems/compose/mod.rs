//! A Docker Compose cluster: started (or found running), its containers taken
//! as nodes by their labels, healed and taken down afterwards.
//!
//! A container is a node when it has the label `plimsoll.node-id`;
//! `docs/SYSTEMS.md` lists the others.

mod container;
mod docker;
mod guard;
mod labels;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

pub use self::container::Container;

use self::docker::Compose;
use self::guard::Guard;
use self::labels::Labels;
use super::description::Description;
use super::{Layout, NodeSpec, State};

/// What of a description a cluster of containers does not need.
const DESCRIPTION: &str = r#"
name = "containers"
[ports]
client = 9092
[limits]
start = "120s"
settle = "90s"
[node]
command = ["docker"]
"#;

/// A cluster of containers that stands.
pub struct Cluster {
    compose: Compose,
    pub layout: Layout,
    pub description: Description,
    pub containers: Vec<Container>,
    pub title: String,
    /// Ends what was started, should this process be killed; none for a cluster that ran before.
    guard: Option<Guard>,
}

impl Cluster {
    /// Takes a running cluster, or starts one of its own; `settings` reach the file as variables.
    pub fn up(file: &Path, settings: &[(String, String)]) -> anyhow::Result<Cluster> {
        if !file.is_file() {
            bail!("--system compose:{}: there is no such file", file.display());
        }
        let file = std::path::absolute(file)?;
        let mut compose = Compose::find(&file, settings)?;
        docker::engine_answers()?;
        let mut guard = None;
        if compose.containers()?.is_empty() {
            compose = compose.with_project(format!("plimsoll-{}", std::process::id()));
            guard = Some(Guard::start(&compose)?);
            say!("starting the containers of {}", file.display());
            compose.up()?;
        } else {
            say!(
                "the containers of {} run already; they are left running afterwards",
                file.display()
            );
        }
        let mut cluster = Cluster::of(compose, &file)?;
        cluster.guard = guard;
        Ok(cluster)
    }

    fn of(compose: Compose, file: &Path) -> anyhow::Result<Cluster> {
        let mut found = Vec::new();
        for inspected in docker::inspect(&compose.containers()?)? {
            if let Some(labels) = Labels::of(&inspected)? {
                found.push((labels, inspected));
            }
        }
        found.sort_by_key(|(labels, _)| (!labels.is_broker, labels.id));
        let Some((first, _)) = found.first() else {
            bail!(
                "{}: no container has the label plimsoll.node-id; docs/SYSTEMS.md shows which labels make a container a node",
                file.display()
            );
        };
        let (ports, has_admin) = (first.ports, first.ports.admin.is_some());
        if let Some((other, _)) = found.iter().find(|(labels, _)| labels.ports != ports) {
            bail!(
                "{}: node {} has other ports than node {}; all nodes have the same ones",
                file.display(),
                other.id,
                first.id
            );
        }
        let title = first
            .title
            .clone()
            .unwrap_or_else(|| "containers".to_owned());
        let (mut nodes, mut containers) = (Vec::new(), Vec::new());
        for (labels, inspected) in &found {
            let addr = inspected.addr.with_context(|| {
                format!(
                    "container {} has no address; is it running? {}",
                    inspected.name,
                    compose.logs_hint()
                )
            })?;
            let spec = NodeSpec {
                name: labels.name.clone(),
                id: labels.id,
                is_broker: labels.is_broker,
                is_controller: labels.is_controller,
                addr,
            };
            containers.push(Container::new(&spec, inspected));
            nodes.push(spec);
        }
        let mut description = Description::parse("containers", DESCRIPTION)?;
        description.ports = ports;
        description.state = if has_admin {
            State::Admin
        } else {
            State::Protocol
        };
        Ok(Cluster {
            compose,
            layout: Layout { nodes },
            description,
            containers,
            title,
            guard: None,
        })
    }

    /// Takes the cluster down, where it was started here.
    pub fn down(mut self) -> anyhow::Result<()> {
        if let Some(guard) = self.guard.take() {
            self.compose.down()?;
            guard.dismiss();
        }
        Ok(())
    }
}

/// What the containers printed, a file a node.
pub fn keep_logs(containers: &[Container], folder: &Path) -> anyhow::Result<()> {
    for container in containers {
        let own: PathBuf = folder.join(container.name());
        std::fs::create_dir_all(&own)?;
        docker::logs(container.id(), &own.join("broker.log"))?;
    }
    Ok(())
}
