//! How many operations a second the harness records against a server that does
//! nothing: the whole way from generator to journal, over real sockets.

mod null_server;
mod produce;

use std::time::{Duration, Instant};

use anyhow::Context;
use plimsoll_checkers::history::Header;
use plimsoll_checkers::promise::Promise;
use plimsoll_nemesis::inject::Composed;
use plimsoll_nemesis::schedule::Schedule;

use self::null_server::NullServer;
pub use self::produce::ProduceArgs;
use crate::cli::{BenchArgs, BenchWhat};
use crate::clients::NewTopic;
use crate::exit::Exit;
use crate::journal::Recorder;
use crate::runner::real::{self, Run, StateSource, Watcher, Wiring};
use crate::session::{NodeInfo, SendBy, SendPolicy, Session, SessionConfig};
use crate::systems::NodeSet;
use crate::workload::{Placement, plan_clients};

const TOPIC: &str = "log";

struct Silent;

impl Watcher for Silent {
    fn watch(&mut self, _session: &Session, _elapsed: Duration) {}
}

/// Runs the benchmark and prints what it measured.
pub fn bench(args: &BenchArgs) -> anyhow::Result<Exit> {
    if let Some(BenchWhat::Produce(args)) = &args.what {
        return produce::produce(args);
    }
    let server = NullServer::start(TOPIC).context("starting the null server")?;
    let folder = std::env::temp_dir().join(format!("plimsoll-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(args, &server, &folder);
    let removed = std::fs::remove_dir_all(&folder);
    let (ops, bytes, wall) = measured?;
    removed?;
    let cpu = process_cpu()?.saturating_sub(server.cpu()).as_secs_f64();
    let per_second = count(ops) / wall.as_secs_f64();
    println!(
        "{ops} ops in {:.2} s: {per_second:.0} ops/s, {:.1} MB of journal",
        wall.as_secs_f64(),
        count(bytes) / 1e6
    );
    println!(
        "the harness used {cpu:.2} s of CPU: {:.0} ops per CPU second, {:.2} cores",
        count(ops) / cpu,
        cpu / wall.as_secs_f64()
    );
    Ok(Exit::Valid)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a benchmark are far below 2^52"
)]
fn count(number: u64) -> f64 {
    number as f64
}

fn measure(
    args: &BenchArgs,
    server: &NullServer,
    folder: &std::path::Path,
) -> anyhow::Result<(u64, u64, Duration)> {
    let session = Session::new(config(args));
    let start = Instant::now();
    let path = folder.join("history.jsonl");
    let recorder = Recorder::create(&path, &header(), start)?;
    let wiring = Wiring {
        client_addrs: vec![server.addr()],
        state: StateSource::default(),
        places: Vec::new(),
        topic: TOPIC.to_owned(),
        library: None,
    };
    let ended = real::run(Run {
        session,
        nodes: &NodeSet::empty(),
        nemesis: Box::<Composed>::default(),
        wiring,
        recorder,
        live: None,
        start,
        watcher: &mut Silent,
    })?;
    let stats = *ended.session.stats();
    ended.recorder.close()?;
    let bytes = std::fs::metadata(&path)?.len();
    Ok((
        stats.acked + stats.reads,
        bytes,
        Duration::from_secs_f64(args.seconds),
    ))
}

fn config(args: &BenchArgs) -> SessionConfig {
    SessionConfig {
        seed: 1,
        topic: NewTopic {
            name: TOPIC.to_owned(),
            partitions: 4,
            replication_factor: 1,
            configs: Vec::new(),
        },
        nodes: vec![NodeInfo {
            name: "n1".to_owned(),
            id: 1,
            is_broker: true,
        }],
        clients: plan_clients(args.concurrency, Placement::Everywhere, 1),
        send: SendPolicy {
            by: SendBy::Request,
            acks: 1,
            retries: 0,
            idempotent: false,
            request_timeout_ms: 1000,
        },
        rate: f64::INFINITY,
        time_limit_ms: millis(args.seconds),
        setup_limit_ms: 20_000,
        starts_settled: false,
        settle_limit_ms: 0,
        schedule: Schedule::set(Vec::new()),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds of a benchmark, checked by the command line"
)]
fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0) as u64
}

fn header() -> Header {
    Header {
        plimsoll: 1,
        promise: Promise::unstated(),
        topics: std::collections::BTreeMap::new(),
        clients: std::collections::BTreeMap::new(),
        system: "null".to_owned(),
        seed: 1,
        extra: serde_json::Map::new(),
    }
}

/// CPU time of all threads of this process.
fn process_cpu() -> std::io::Result<Duration> {
    null_server::cpu_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}
