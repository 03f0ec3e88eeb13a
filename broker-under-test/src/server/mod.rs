//! The process around the core: sockets, timers, threads, files.
//!
//! Threads: one for the core, two for the disk, and a small tokio runtime for sockets. The four
//! planes have a port each, so that they can be cut apart: clients, replication, controllers, admin.

mod admin;
pub mod args;
mod clients;
mod core_loop;
mod peer_calls;
mod peer_frames;
mod peers;
mod wiring;

use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

pub use self::args::BrokerArgs;
use self::args::Settings;
use self::core_loop::{CoreHandle, Ended};
use self::wiring::Wiring;
use crate::core::ids::NodeId;
use crate::core::seam::Input;
use crate::storage::recovery;
use crate::storage::{Doing, StorageError};

const LOCK_TRIES: u32 = 40;
const LOCK_RETRY: std::time::Duration = std::time::Duration::from_millis(50);
/// Connections that may be open at once, where the system allows so many.
const CONNECTIONS_MAX: usize = 4_096;
/// A controlled shutdown that has not ended by then is cut short.
const STOP_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(10);

/// Why a broker could not start, or had to stop.
#[derive(Debug, Error)]
pub enum BrokerError {
    /// The settings make no sense.
    #[error("{0}")]
    Usage(String),
    /// A port could not be had.
    #[error("cannot listen on {addr} for {plane}: {source}")]
    Listen {
        /// For which plane.
        plane: &'static str,
        /// Where.
        addr: String,
        /// Why.
        source: std::io::Error,
    },
    /// The data directory could not be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The system refused something that a process needs.
    #[error("cannot {what}: {source}")]
    System {
        /// What.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Another process uses the data directory.
    #[error("{0} is in use by another broker")]
    Locked(PathBuf),
    /// The node could not go on.
    #[error("{0}")]
    Fatal(String),
}

/// Runs a broker until it is told to stop (SIGTERM or SIGINT) or cannot go on.
///
/// # Errors
/// Where it cannot start, or cannot go on.
pub fn run(args: BrokerArgs) -> Result<(), BrokerError> {
    let settings = args.resolve()?;
    init_log();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|source| BrokerError::System {
            what: "start the runtime",
            source,
        })?;
    runtime.block_on(serve(settings))
}

fn init_log() {
    let wanted = std::env::var("PLIMSOLL_LOG").ok();
    let level = wanted
        .and_then(|level| level.parse().ok())
        .unwrap_or(tracing::Level::INFO);
    // Under a test runner a subscriber may be there already; then that one serves.
    let _present = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .try_init();
}

async fn serve(settings: Settings) -> Result<(), BrokerError> {
    let _lock = lock(&settings.data_dir).await?;
    claim(&settings.data_dir, settings.node.node_id)?;
    let (data_dir, recovered, notes) = recovery::open(&settings.data_dir)?;
    notes
        .iter()
        .for_each(|note| tracing::warn!("recovery: {note}"));
    let listeners = Listeners::bind(&settings).await?;
    let wiring = Arc::new(Wiring::new(connections_max()));
    let (core, ended) = CoreHandle::start(&settings, data_dir, recovered, Arc::clone(&wiring))?;
    tracing::info!(
        "node {} listens on {} (clients), {} (replication), {} (controllers), {} (admin)",
        settings.node.node_id,
        settings.listen,
        settings.replication_listen,
        settings.controller_listen,
        settings.admin_listen
    );
    if settings.node.is_broker {
        tokio::spawn(clients::serve(
            listeners.clients,
            core.clone(),
            Arc::clone(&wiring),
        ));
        tokio::spawn(peers::serve(
            listeners.replication,
            peers::Plane::Replication,
            core.clone(),
            Arc::clone(&wiring),
        ));
    }
    tokio::spawn(peers::serve(
        listeners.controllers,
        peers::Plane::Controllers,
        core.clone(),
        Arc::clone(&wiring),
    ));
    tokio::spawn(admin::serve(listeners.admin, core.clone(), wiring));
    until_stopped(&core, ended).await
}

async fn until_stopped(
    core: &CoreHandle,
    mut ended: tokio::sync::oneshot::Receiver<Ended>,
) -> Result<(), BrokerError> {
    let system = |source| BrokerError::System {
        what: "listen for signals",
        source,
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(system)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(system)?;
    let end = tokio::select! {
        end = &mut ended => end,
        _ = terminate.recv() => stop(core, &mut ended).await,
        _ = interrupt.recv() => stop(core, &mut ended).await,
    };
    match end {
        Ok(Ended::Stopped) => {
            tracing::info!("stopped");
            Ok(())
        }
        Ok(Ended::Fatal(reason)) => Err(BrokerError::Fatal(reason)),
        Err(_) => Err(BrokerError::Fatal(
            "the core has panicked; see above".to_owned(),
        )),
    }
}

/// Hands leadership over, as far as time allows, and then stops in any case.
async fn stop(
    core: &CoreHandle,
    ended: &mut tokio::sync::oneshot::Receiver<Ended>,
) -> Result<Ended, tokio::sync::oneshot::error::RecvError> {
    tracing::info!("asked to stop: handing leadership over");
    core.send(Input::Stop);
    if let Ok(end) = tokio::time::timeout(STOP_TIME_MAX, &mut *ended).await {
        return end;
    }
    tracing::warn!("leadership was not handed over in time: stopping all the same");
    core.finish();
    ended.await
}

struct Listeners {
    clients: TcpListener,
    replication: TcpListener,
    controllers: TcpListener,
    admin: TcpListener,
}

impl Listeners {
    async fn bind(settings: &Settings) -> Result<Self, BrokerError> {
        Ok(Self {
            clients: bind("clients", &settings.listen).await?,
            replication: bind("replication", &settings.replication_listen).await?,
            controllers: bind("controllers", &settings.controller_listen).await?,
            admin: bind("admin", &settings.admin_listen).await?,
        })
    }
}

async fn bind(plane: &'static str, addr: &str) -> Result<TcpListener, BrokerError> {
    TcpListener::bind(addr)
        .await
        .map_err(|source| BrokerError::Listen {
            plane,
            addr: addr.to_owned(),
            source,
        })
}

/// Two brokers on one data directory would ruin it; the lock goes with the process, which the
/// system may still be burying when a supervisor starts the next.
async fn lock(dir: &std::path::Path) -> Result<std::fs::File, BrokerError> {
    std::fs::create_dir_all(dir).doing("create the data directory", dir)?;
    let path = dir.join("lock");
    let file = std::fs::File::create(&path).doing("create", &path)?;
    for _ in 0..LOCK_TRIES {
        if file.try_lock().is_ok() {
            return Ok(file);
        }
        tokio::time::sleep(LOCK_RETRY).await;
    }
    Err(BrokerError::Locked(dir.to_owned()))
}

/// A data directory belongs to one node: another's would bring a stranger's vote and records.
fn claim(dir: &std::path::Path, node: NodeId) -> Result<(), BrokerError> {
    let path = dir.join("node-id");
    match std::fs::read_to_string(&path) {
        Ok(owner) if owner.trim() == node.to_string() => Ok(()),
        Ok(owner) => Err(BrokerError::Usage(format!(
            "--data-dir {} belongs to node {}, not to node {node}",
            dir.display(),
            owner.trim()
        ))),
        Err(_) => Ok(std::fs::write(&path, node.to_string()).doing("write", &path)?),
    }
}

/// Sockets and segments take descriptors: as many as the system allows are asked for, and
/// connections get at most half of them, so that storage never runs out.
fn connections_max() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where that is refused, the present limit stays and is what counts.
    let _refused = setrlimit(Resource::Nofile, raised);
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(now / 2)
        .unwrap_or(usize::MAX)
        .clamp(8, CONNECTIONS_MAX)
}
