//! `plimsoll bench produce`: single-record produce requests a second at real
//! Kafka, by this harness and by kafka-clients' own producer, side by side: the
//! same brokers, the same concurrency, one request in flight for each
//! connection, round about.

mod java;
mod raw;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use serde::Deserialize;
use tabled::builder::Builder;
use tabled::settings::Style;

use self::java::JavaProducers;
use super::count;
use crate::cli::Invocation;
use crate::exit::Exit;
use crate::systems::{ClusterSettings, Kafka, Layout, NodeSet, System};
use crate::trial::find;

const TOPIC: &str = "log";
const PARTITIONS: i32 = 12;

/// How long and how wide to measure.
#[derive(Debug, Args)]
pub struct ProduceArgs {
    /// Seconds of a round
    #[arg(long, default_value_t = 4.0)]
    pub seconds: f64,
    /// Rounds of each client, of which the median counts; one more comes before them
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub rounds: u16,
    /// Connections, each with one request in flight
    #[arg(long, value_delimiter = ',', default_value = "1,8,24")]
    pub connections: Vec<usize>,
    /// Brokers
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=9))]
    pub nodes: u16,
    /// kafka, or kafka:VERSION
    #[arg(long, default_value = "kafka")]
    pub system: String,
    /// An unpacked Kafka distribution, instead of one that Maven resolves
    #[arg(long, value_name = "DIR")]
    pub kafka_home: Option<PathBuf>,
}

/// What one line of the table measures.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub acks: i16,
    pub connections: usize,
}

impl Kind {
    fn acks_name(self) -> &'static str {
        if self.acks == 1 { "1" } else { "all" }
    }
}

/// What one round came to.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Measured {
    acked: u64,
    failed: u64,
}

/// Starts Kafka, measures, prints the table.
pub fn produce(args: &ProduceArgs) -> anyhow::Result<Exit> {
    let folder = std::env::temp_dir().join(format!("plimsoll-produce-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(args, &folder);
    let removed = std::fs::remove_dir_all(&folder);
    println!("{}", measured?);
    removed.with_context(|| format!("removing {}", folder.display()))?;
    Ok(Exit::Valid)
}

fn measure(args: &ProduceArgs, folder: &Path) -> anyhow::Result<String> {
    let nodes = args.nodes.to_string();
    let line = [
        "--where=local",
        "--faults=none",
        &format!("--system={}", args.system),
        &format!("--nodes={nodes}"),
        &format!("--replication-factor={nodes}"),
    ]
    .map(str::to_owned);
    let mut invocation = Invocation::parse(&line)?;
    invocation.args.kafka_home.clone_from(&args.kafka_home);
    let options = &invocation.args;
    let found = find(options)?;
    let kafka = Kafka::find(args.kafka_home.as_deref(), options.system.kafka_version())?;
    let ports = &found.description.ports;
    let layout = Layout::new(args.nodes, 0)
        .on_loopback(ports)
        .map_err(anyhow::Error::msg)?;
    let settings = ClusterSettings {
        replica_lag_time_max_ms: 30_000,
        session_timeout_ms: 9000,
        flush: "never".to_owned(),
        flush_messages: i64::MAX.to_string(),
        unclean_elections: false,
        min_insync: 1,
        replication_factor: args.nodes,
        elr: found.elr,
        bug: None,
        replica_lag_max_messages: None,
        seed: 1,
        version: found.version.clone(),
    };
    let system: Arc<dyn System> = Arc::new(found.system(&layout, &settings, folder.to_path_buf()));
    let nodes = NodeSet::new(&system, &layout, None, folder)?;
    say!("starting {} on {} nodes", system.describe(), args.nodes);
    nodes.start_all().context("starting the nodes")?;
    let addrs = layout.nodes.iter().map(|node| node.socket(ports.client));
    let bench = Bench {
        args,
        addrs: addrs.collect(),
        layout: &layout,
        journal: folder.join("history.jsonl"),
    };
    let table = bench.table(&kafka);
    nodes.end_all();
    table
}

struct Bench<'a> {
    args: &'a ProduceArgs,
    layout: &'a Layout,
    addrs: Vec<std::net::SocketAddr>,
    journal: PathBuf,
}

impl Bench<'_> {
    fn table(&self, kafka: &Kafka) -> anyhow::Result<String> {
        let bootstrap: Vec<String> = self.addrs.iter().map(ToString::to_string).collect();
        let mut java = JavaProducers::start(kafka, &bootstrap.join(","))?;
        let mut rows = Builder::new();
        rows.push_record([
            "acks",
            "connections",
            "plimsoll, req/s",
            "kafka-clients, req/s",
            "ratio",
        ]);
        for acks in [1, -1] {
            for connections in &self.args.connections {
                let kind = Kind {
                    acks,
                    connections: *connections,
                };
                let (own, theirs) = self.compare(kind, &mut java)?;
                rows.push_record([
                    kind.acks_name().to_owned(),
                    connections.to_string(),
                    format!("{own:.0}"),
                    format!("{theirs:.0}"),
                    format!("{:.2}", own / theirs),
                ]);
            }
        }
        Ok(rows.build().with(Style::markdown()).to_string())
    }

    /// Medians of both, in requests a second. Whoever is first in one round is second in the next.
    fn compare(&self, kind: Kind, java: &mut JavaProducers) -> anyhow::Result<(f64, f64)> {
        let seconds = self.args.seconds;
        let (mut own, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..=self.args.rounds {
            let raw = || raw::round(kind, seconds, self.layout, &self.addrs, &self.journal);
            let (of_raw, of_java) = if round % 2 == 0 {
                let of_raw = raw()?;
                (of_raw, java.round(kind, seconds)?)
            } else {
                let of_java = java.round(kind, seconds)?;
                (raw()?, of_java)
            };
            let acks = kind.acks_name();
            let per_second = |round: Measured| count(round.acked) / seconds;
            say!(
                "acks={acks}, {} connections, round {round}: plimsoll {:.0}/s, kafka-clients {:.0}/s",
                kind.connections,
                per_second(of_raw),
                per_second(of_java)
            );
            // The first is there to warm both and the brokers up.
            if round > 0 {
                let failed = of_raw.failed + of_java.failed;
                if failed > 0 {
                    bail!("{failed} records were not acknowledged, so this measures no speed");
                }
                own.push(per_second(of_raw));
                theirs.push(per_second(of_java));
            }
        }
        Ok((median(own), median(theirs)))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle_of_what_was_measured() {
        assert!((median(vec![3.0, 100.0, 1.0]) - 3.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 2.0, 100.0]) - 3.0).abs() < 1e-9);
    }
}
