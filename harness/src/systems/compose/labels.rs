//! The labels that make a container a node.

use anyhow::{Context, bail};

use super::docker::Inspected;
use crate::systems::Ports;

/// What a container's labels say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    pub name: String,
    pub id: i32,
    pub is_broker: bool,
    pub is_controller: bool,
    pub ports: Ports,
    /// The system's name and version, for the report.
    pub title: Option<String>,
}

impl Labels {
    /// Reads them; none for a container that is no node.
    pub fn of(container: &Inspected) -> anyhow::Result<Option<Labels>> {
        let label = |name: &str| {
            let value = container
                .labels
                .get(&format!("plimsoll.{name}"))?
                .as_str()?;
            Some(value.to_owned())
        };
        let Some(id) = label("node-id") else {
            return Ok(None);
        };
        let broken = |name: &str, value: &str| {
            format!(
                "container {}: the label plimsoll.{name} is \"{value}\"",
                container.name
            )
        };
        let number = |name: &str| -> anyhow::Result<Option<u16>> {
            let Some(value) = label(name) else {
                return Ok(None);
            };
            let port = value
                .parse()
                .with_context(|| format!("{}, no port", broken(name, &value)))?;
            Ok(Some(port))
        };
        let parsed = id.parse::<i32>().ok().filter(|id| *id >= 0);
        let parsed = parsed.with_context(|| format!("{}, no broker id", broken("node-id", &id)))?;
        let roles = label("roles").unwrap_or_else(|| "broker,controller".to_owned());
        let (mut is_broker, mut is_controller) = (false, false);
        for role in roles.split(',') {
            match role.trim() {
                "broker" => is_broker = true,
                "controller" => is_controller = true,
                _ => bail!(
                    "{}; write broker, controller or both",
                    broken("roles", &roles)
                ),
            }
        }
        let client = number("client-port")?.unwrap_or(9092);
        Ok(Some(Labels {
            name: if is_broker {
                format!("n{parsed}")
            } else {
                format!("c{parsed}")
            },
            id: parsed,
            is_broker,
            is_controller,
            ports: Ports {
                client,
                replication: number("replication-port")?,
                controller: number("controller-port")?,
                admin: number("admin-port")?,
            },
            title: label("title"),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(labels: &[(&str, &str)]) -> Inspected {
        Inspected {
            id: "ab".into(),
            name: "broker-1".into(),
            pid: Some(1),
            paused: false,
            status: "running".into(),
            addr: None,
            labels: labels
                .iter()
                .map(|(k, v)| (format!("plimsoll.{k}"), (*v).into()))
                .collect(),
        }
    }

    #[test]
    fn a_container_without_the_label_is_no_node() {
        assert_eq!(Labels::of(&container(&[])).expect("no error"), None);
    }

    #[test]
    fn ports_and_roles_are_read_and_have_defaults() {
        let plain = Labels::of(&container(&[("node-id", "2")]))
            .expect("sound")
            .expect("a node");
        assert_eq!(
            (plain.name.as_str(), plain.ports.client, plain.ports.admin),
            ("n2", 9092, None)
        );
        assert!(plain.is_broker && plain.is_controller);
        let labels = [
            ("node-id", "4"),
            ("roles", "controller"),
            ("controller-port", "9094"),
        ];
        let apart = Labels::of(&container(&labels))
            .expect("sound")
            .expect("a node");
        assert_eq!(
            (apart.name.as_str(), apart.ports.controller),
            ("c4", Some(9094))
        );
    }

    #[test]
    fn a_label_that_makes_no_sense_is_named_with_its_container() {
        for (name, value) in [
            ("node-id", "one"),
            ("client-port", "99999"),
            ("roles", "king"),
        ] {
            let labels = [("node-id", "1"), (name, value)];
            let error = format!("{:#}", Labels::of(&container(&labels)).expect_err(value));
            assert!(
                error.contains("broker-1") && error.contains(value),
                "{error}"
            );
        }
    }
}
