//! A run against containers: on the host itself, since the cluster has its own
//! network; healed and taken down whatever the run came to.

use std::path::Path;

use anyhow::Context;
use plimsoll_nemesis::inject::{
    Composed, CutNemesis, KillNemesis, Nemesis, PauseNemesis, RuleTable,
};

use super::plan::Plan;
use super::system::Found;
use super::{Ground, carry_out, conclude, drawn_seed};
use crate::cli::Invocation;
use crate::exit::Exit;
use crate::runner::real::Ended;
use crate::store::RunFolder;
use crate::systems::{Cluster, NodeSet, keep_logs};

/// Runs against the cluster of a compose file.
pub fn run(invocation: &Invocation, found: Found, file: &Path) -> anyhow::Result<Exit> {
    let args = &invocation.args;
    let seed = args.seed.unwrap_or_else(drawn_seed);
    let settings = [
        (
            "PLIMSOLL_SESSION_TIMEOUT_MS",
            args.session_timeout.ms.to_string(),
        ),
        (
            "PLIMSOLL_REPLICA_LAG_TIME_MAX_MS",
            args.replica_lag_time_max.ms.to_string(),
        ),
        ("PLIMSOLL_MIN_INSYNC", args.min_insync().to_string()),
        ("PLIMSOLL_FLUSH", args.flush.name().to_owned()),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value));
    let cluster = Cluster::up(file, &settings)?;
    let ran = run_in(invocation, found, seed, &cluster);
    for container in &cluster.containers {
        // A run that failed in the midst of a fault leaves nothing paused or stopped.
        if let Err(error) = container.restore() {
            say!("container of node {}: {error:#}", container.name());
        }
    }
    let down = cluster.down().context("taking the containers down");
    let (plan, ended) = ran?;
    down?;
    conclude::conclude(&plan, ended)
}

fn run_in<'a>(
    invocation: &'a Invocation,
    mut found: Found,
    seed: u64,
    cluster: &Cluster,
) -> anyhow::Result<(Plan<'a>, Ended)> {
    let args = &invocation.args;
    let brokers = cluster
        .layout
        .nodes
        .iter()
        .filter(|node| node.is_broker)
        .count();
    if usize::from(args.nodes) != brokers {
        anyhow::bail!("the compose file has {brokers} brokers; say so with --nodes {brokers}");
    }
    found.description = cluster.description.clone();
    found.version = String::new();
    let (folder, started_utc) = RunFolder::create(&args.out, &args.workload, seed)
        .with_context(|| format!("making a folder for the run in {}", args.out.display()))?;
    let plan = Plan {
        invocation,
        found,
        seed,
        layout: cluster.layout.clone(),
        started_utc,
        folder,
    };
    plan.folder.write_json("test.json", &plan.test_json())?;
    let nodes = NodeSet::of_containers(cluster.containers.clone());
    let ground = Ground {
        nodes: &nodes,
        nemesis: nemesis(&plan),
        lab: None,
        title: cluster.title.clone(),
    };
    let ended = carry_out(&plan, ground);
    keep_logs(&cluster.containers, &plan.folder.nodes())
        .context("fetching the containers' logs")?;
    Ok((plan, ended?))
}

fn nemesis(plan: &Plan<'_>) -> Box<dyn Nemesis> {
    let mut members: Vec<Box<dyn Nemesis>> = vec![
        Box::<KillNemesis>::default(),
        Box::<PauseNemesis>::default(),
    ];
    if plan.cuts_the_network() {
        let nodes = plan.layout.nodes.iter();
        let addrs = nodes.map(|node| (node.name.clone(), node.addr)).collect();
        let planes = plan.found.description.ports.planes();
        let means = Box::<RuleTable>::default();
        members.push(Box::new(CutNemesis::of_nodes(means, addrs, planes)));
    }
    Box::new(Composed::new(members))
}
