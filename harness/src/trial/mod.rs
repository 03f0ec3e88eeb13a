//! One run, from a command to a verdict: the lab, the nodes, the session, the
//! journal, the judgement and the report.

mod conclude;
mod containers;
mod enter;
mod plan;
mod progress;
mod system;

pub use enter::{in_lab, own_exe};
pub use plan::quoted;
pub use system::find;

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use plimsoll_nemesis::inject::{
    Composed, CutMeans, CutNemesis, CutTable, KillNemesis, Nemesis, PauseNemesis, RuleTable,
};
use plimsoll_nemesis::lab::{Lab, LabPlan};

use self::plan::Plan;
use self::progress::Progress;
use self::system::Found;
use crate::cli::{CutWith, Invocation, Where};
use crate::evidence;
use crate::exit::Exit;
use crate::journal::Recorder;
use crate::runner::real::{self, Ended, Live, Run};
use crate::session::Session;
use crate::store::RunFolder;
use crate::systems::{Layout, NodeSet, System, SystemChoice};
use crate::workload::Placement;

/// Runs `test`: as the front it makes the lab, inside it does the work.
pub fn test(invocation: &Invocation) -> anyhow::Result<Exit> {
    let found = system::find(&invocation.args)?;
    if let SystemChoice::Compose(file) = &invocation.args.system {
        return containers::run(invocation, found, file);
    }
    match invocation.args.place {
        Where::Local => run(invocation, found, None),
        Where::Lab => in_lab(|| {
            let layout = Layout::new(invocation.args.nodes, invocation.args.controllers);
            let lab = Lab::build(&LabPlan::with_client_places(layout.names()))?;
            run(invocation, found, Some(&lab))
        }),
    }
}

fn run(invocation: &Invocation, found: Found, lab: Option<&Lab>) -> anyhow::Result<Exit> {
    let args = &invocation.args;
    let seed = args.seed.unwrap_or_else(drawn_seed);
    let (folder, started_utc) = RunFolder::create(&args.out, &args.workload, seed)
        .with_context(|| format!("making a folder for the run in {}", args.out.display()))?;
    let layout = Layout::new(args.nodes, args.controllers);
    let layout = match lab {
        Some(lab) => layout.in_lab(lab)?,
        None => {
            let ports = &found.description.ports;
            layout.on_loopback(ports).map_err(anyhow::Error::msg)?
        }
    };
    let plan = Plan {
        invocation,
        found,
        seed,
        layout,
        started_utc,
        folder,
    };
    plan.folder.write_json("test.json", &plan.test_json())?;
    let ended = run_processes(&plan, lab)?;
    conclude::conclude(&plan, ended)
}

fn run_processes(plan: &Plan<'_>, lab: Option<&Lab>) -> anyhow::Result<Ended> {
    let nodes_folder = plan.folder.nodes();
    let system: Arc<dyn System> = Arc::new(plan.found.system(
        &plan.layout,
        &plan.broker_settings(),
        std::path::absolute(&nodes_folder)?,
    ));
    let nodes = NodeSet::new(&system, &plan.layout, lab, &nodes_folder)?;
    let ground = Ground {
        nodes: &nodes,
        nemesis: nemesis(plan, lab)?,
        lab,
        title: system.describe(),
    };
    let ended = carry_out(plan, ground);
    nodes.end_all();
    let kept = keep_evidence(plan, system.as_ref());
    let ended = ended?;
    // Why the run failed matters more than what is missing of it.
    match (&ended.failure, kept) {
        (None, Err(why)) => Err(why),
        (Some(_), Err(why)) => {
            say!("plimsoll: {why:#}");
            Ok(ended)
        }
        (_, Ok(())) => Ok(ended),
    }
}

/// What a run stands on.
struct Ground<'a> {
    nodes: &'a NodeSet,
    nemesis: Box<dyn Nemesis>,
    lab: Option<&'a Lab>,
    /// The system's name and version.
    title: String,
}

fn carry_out(plan: &Plan<'_>, ground: Ground<'_>) -> anyhow::Result<Ended> {
    let start = Instant::now();
    ground.nodes.start_all().context("starting the nodes")?;
    let session = Session::new(plan.session_config());
    let header = plan.header(&session, &ground.title);
    let recorder =
        Recorder::create(&plan.folder.journal(), &header, start).context("opening the journal")?;
    let wiring = plan.wiring(&session, ground.lab)?;
    let mut progress = Progress::new(&plan.invocation.args);
    let ended = real::run(Run {
        session,
        nodes: ground.nodes,
        nemesis: ground.nemesis,
        wiring,
        recorder,
        live: plan
            .invocation
            .args
            .stop_at_violation
            .then(|| Live::new(&header)),
        start,
        watcher: &mut progress,
    });
    progress.finish();
    Ok(ended?)
}

/// What the stopped nodes have on their disks, for the report.
fn keep_evidence(plan: &Plan<'_>, system: &dyn System) -> anyhow::Result<()> {
    let partitions = i32::from(plan.invocation.args.partitions);
    let nodes = &plan.layout.nodes;
    if let Some(found) = evidence::read(system, nodes, &plan.invocation.args.topic, partitions) {
        found
            .store(plan.folder.path())
            .context("keeping what the disks show")?;
    }
    Ok(())
}

/// A seed that is short enough to be typed again. The hasher's keys are the
/// standard library's own random numbers.
pub fn drawn_seed() -> u64 {
    let drawn = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    1 + (drawn >> 33)
}

/// Without a lab there is nothing to cut.
fn nemesis(plan: &Plan<'_>, lab: Option<&Lab>) -> anyhow::Result<Box<dyn Nemesis>> {
    let mut members: Vec<Box<dyn Nemesis>> = vec![
        Box::<KillNemesis>::default(),
        Box::<PauseNemesis>::default(),
    ];
    // Where nothing will be cut, nft may be missing.
    if let Some(lab) = lab.filter(|_| plan.cuts_the_network()) {
        let pinned = plan.invocation.args.clients != Placement::Everywhere;
        let planes = plan.found.description.ports.planes();
        let means: Box<dyn CutMeans> = match plan.invocation.args.cut_with.unwrap_or(CutWith::Nft) {
            CutWith::Nft => Box::new(CutTable::create()?),
            CutWith::Iptables => Box::<RuleTable>::default(),
        };
        members.push(Box::new(CutNemesis::new(means, lab, planes, pinned)));
    }
    Ok(Box::new(Composed::new(members)))
}
