//! The lab's network: one bridge with the runner's address, and per place a
//! namespace joined to it by a veth pair. Made with `ip -batch`, since one
//! process for many commands is what keeps the start short.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

use super::place::Place;
use super::steps::{LabError, Step};

/// The bridge's name, inside the lab only.
const BRIDGE: &str = "plimsoll0";
/// The place of clients that no fault cuts off.
pub const PLACE_EVERYWHERE: &str = "everywhere";

/// The place of clients that share the fate of one node.
pub fn pinned_place(node: &str) -> String {
    format!("at-{node}")
}

/// Who is to live in the lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabPlan {
    /// Nodes, in the order of their addresses.
    pub nodes: Vec<String>,
    /// Places of clients.
    pub places: Vec<String>,
}

impl LabPlan {
    /// Nodes with the names given and every place that clients of them may need.
    pub fn with_client_places(nodes: Vec<String>) -> LabPlan {
        let mut places = vec![PLACE_EVERYWHERE.to_owned()];
        places.extend(nodes.iter().map(|node| pinned_place(node)));
        LabPlan { nodes, places }
    }

    fn addressed(&self) -> impl Iterator<Item = (&str, Ipv4Addr)> {
        let nodes = self
            .nodes
            .iter()
            .zip(1u8..)
            .map(|(n, i)| (n.as_str(), [10, 77, 1, i]));
        let places = self
            .places
            .iter()
            .zip(1u8..)
            .map(|(p, i)| (p.as_str(), [10, 77, 2, i]));
        nodes
            .chain(places)
            .map(|(name, octets)| (name, Ipv4Addr::from(octets)))
    }
}

/// A lab that stands: every place by name.
#[derive(Clone, Debug)]
pub struct Lab {
    places: BTreeMap<String, Place>,
}

impl Lab {
    /// Builds the network inside the lab's outer namespaces. Only the runner
    /// may call this: outside a lab it would act on the host, so it refuses.
    pub fn build(plan: &LabPlan) -> Result<Lab, LabError> {
        if super::stage() != super::Stage::Runner {
            return Err(LabError::Environment(
                "the network is only ever built inside a lab".to_owned(),
            ));
        }
        if plan.nodes.len() + plan.places.len() > 200 {
            return Err(LabError::Environment(format!(
                "{} nodes and {} places do not fit into one lab; ask for fewer nodes",
                plan.nodes.len(),
                plan.places.len()
            )));
        }
        ip_batch(Step::Bridge, None, &bridge_script())?;
        ip_batch(Step::Netns, None, &netns_script(plan))?;
        ip_batch(Step::Veth, None, &veth_script(plan))?;
        configure_insides(plan)?;
        let places = plan
            .addressed()
            .map(|(name, addr)| Ok((name.to_owned(), Place::open(name, addr)?)))
            .collect::<Result<_, LabError>>()?;
        Ok(Lab { places })
    }

    pub fn place(&self, name: &str) -> Result<&Place, LabError> {
        self.places
            .get(name)
            .ok_or_else(|| LabError::NoSuchPlace(name.to_owned()))
    }

    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.values()
    }
}

fn bridge_script() -> String {
    format!(
        "link add {BRIDGE} type bridge forward_delay 0 stp_state 0\n\
         addr add 10.77.0.1/16 dev {BRIDGE}\nlink set {BRIDGE} up\n"
    )
}

fn netns_script(plan: &LabPlan) -> String {
    plan.addressed()
        .fold(String::new(), |mut script, (name, _)| {
            let _ = writeln!(script, "netns add {name}");
            script
        })
}

fn veth_script(plan: &LabPlan) -> String {
    let named = plan.addressed().zip(1..);
    named.fold(String::new(), |mut script, ((name, _), i)| {
        let _ = writeln!(
            script,
            "link add v{i} type veth peer name eth0 netns {name}"
        );
        let _ = writeln!(script, "link set v{i} master {BRIDGE} up");
        script
    })
}

/// The inner halves are made at once, one `ip` a namespace.
fn configure_insides(plan: &LabPlan) -> Result<(), LabError> {
    let running = plan
        .addressed()
        .map(|(name, addr)| {
            let script = format!("link set lo up\naddr add {addr}/16 dev eth0\nlink set eth0 up\n");
            start_ip(Step::Veth, Some(name), &script)
        })
        .collect::<Result<Vec<_>, _>>()?;
    running
        .into_iter()
        .try_for_each(|child| finish_ip(Step::Veth, child))
}

fn ip_batch(step: Step, netns: Option<&str>, script: &str) -> Result<(), LabError> {
    finish_ip(step, start_ip(step, netns, script)?)
}

fn start_ip(
    step: Step,
    netns: Option<&str>,
    script: &str,
) -> Result<std::process::Child, LabError> {
    let missing = |error| LabError::Program {
        step,
        program: "ip",
        error,
    };
    let mut command = Command::new("ip");
    if let Some(netns) = netns {
        command.args(["-n", netns]);
    }
    let mut child = command
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes()).map_err(missing)?;
    }
    Ok(child)
}

fn finish_ip(step: Step, child: std::process::Child) -> Result<(), LabError> {
    let output = child
        .wait_with_output()
        .map_err(|error| LabError::Program {
            step,
            program: "ip",
            error,
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(LabError::Refused {
        step,
        program: "ip",
        said,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_and_place_has_an_address_of_its_own() {
        let plan = LabPlan::with_client_places(vec!["n1".into(), "n2".into(), "n3".into()]);
        let addresses: std::collections::BTreeSet<_> = plan.addressed().map(|(_, a)| a).collect();
        assert_eq!(addresses.len(), 7);
    }

    #[test]
    fn the_network_is_refused_outside_a_lab() {
        let error = Lab::build(&LabPlan::default()).expect_err("this test is not in a lab");
        assert!(error.to_string().contains("only ever built inside a lab"));
    }
}
