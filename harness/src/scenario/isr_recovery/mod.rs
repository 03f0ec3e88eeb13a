//! `plimsoll scenario isr-recovery`: how a committed record survives and an
//! uncommitted one goes, on real processes, step by step. Followers are held at
//! an offset by the broker's admin port, so that the story is the same each
//! time; every step prints each replica's log, LEO, HW and ISR, and asserts
//! them.
//!
//! A, B and C are the replicas in the order of their assignment.

mod stage;
mod story;
mod view;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use plimsoll_nemesis::lab::{Lab, LabPlan};

use self::stage::Stage;
use crate::exit::Exit;
use crate::store::RunFolder;
use crate::systems::{ClusterSettings, Described, Description, Layout, NodeSet, System};
use crate::trial::{in_lab, own_exe};

/// The name on the command line.
pub const NAME: &str = "isr-recovery";
/// Followers are held for as long as the story needs: no lag limit may throw
/// them out meanwhile.
const LAG_LIMIT_MS: u64 = 60_000;
const SESSION_TIMEOUT_MS: u64 = 1500;

/// What the command line may say about it.
#[derive(Debug, clap::Parser)]
#[command(name = "plimsoll scenario isr-recovery", no_binary_name = true)]
struct Options {
    /// Where nodes run
    #[arg(long = "where", value_enum, default_value = "lab")]
    place: crate::cli::Where,
    /// Where the nodes' logs are kept
    #[arg(long, default_value = "results")]
    out: std::path::PathBuf,
}

/// Tells the story; 0 when every step came out as it must.
pub fn run(words: &[String]) -> anyhow::Result<Exit> {
    let options = <Options as clap::Parser>::try_parse_from(words)?;
    match options.place {
        crate::cli::Where::Local => play(&options, None),
        crate::cli::Where::Lab => in_lab(|| {
            let lab = Lab::build(&LabPlan::with_client_places(Layout::new(3, 0).names()))?;
            play(&options, Some(&lab))
        }),
    }
}

fn play(options: &Options, lab: Option<&Lab>) -> anyhow::Result<Exit> {
    let (folder, _) = RunFolder::create(&options.out, NAME, 0)
        .with_context(|| format!("making a folder in {}", options.out.display()))?;
    let description = Description::built_in("builtin")?;
    let ports = description.ports;
    let layout = Layout::new(3, 0);
    let layout = match lab {
        Some(lab) => layout.in_lab(lab)?,
        None => layout
            .on_loopback(&description.ports)
            .map_err(anyhow::Error::msg)?,
    };
    let settings = ClusterSettings {
        replica_lag_time_max_ms: LAG_LIMIT_MS,
        replica_lag_max_messages: None,
        session_timeout_ms: SESSION_TIMEOUT_MS,
        flush: "never".to_owned(),
        unclean_elections: false,
        flush_messages: String::new(),
        min_insync: 1,
        replication_factor: 3,
        elr: false,
        bug: None,
        seed: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let nodes_folder = std::path::absolute(folder.nodes())?;
    let exe = own_exe()?.display().to_string();
    let system: Arc<dyn System> = Arc::new(Described::new(
        description,
        &layout,
        &settings,
        nodes_folder.clone(),
        [("plimsoll".to_owned(), exe)].into(),
    ));
    let nodes = NodeSet::new(&system, &layout, lab, &nodes_folder)?;
    nodes.start_all().context("starting the nodes")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let told = runtime.block_on(async {
        let stage = Stage::set(&layout, ports, lab, &nodes).await?;
        story::tell(stage).await
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    let fallen = nodes.fallen();
    nodes.end_all();
    match (told, fallen) {
        (Ok(()), _) => Ok(Exit::Valid),
        (Err(error), Some(fallen)) => Err(error.context(fallen)),
        (Err(error), None) if error.is::<story::WentWrong>() => {
            say!(
                "{error:#}\nThe nodes' logs are in {}",
                folder.nodes().display()
            );
            Ok(Exit::Violation)
        }
        (Err(error), None) => Err(error),
    }
}
