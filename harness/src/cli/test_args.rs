//! The options of `plimsoll test`. Their names are fixed: scripts rely on them.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use plimsoll_nemesis::faults::{AimAt, FaultKind, Plane};

use super::values::{Duration, parse_duration, parse_rate, parse_topic};
use crate::clients::library::ClientChoice;
use crate::systems::SystemChoice;
use crate::workload::Placement;

/// Where nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// Rootless namespaces on this machine
    Lab,
    /// Plain processes on loopback addresses: kill and pause only
    Local,
}

/// When a send is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Acks {
    #[value(name = "0")]
    None,
    #[value(name = "1")]
    Leader,
    #[value(name = "all", alias = "-1")]
    All,
}

impl Acks {
    pub fn wire(self) -> i16 {
        match self {
            Acks::None => 0,
            Acks::Leader => 1,
            Acks::All => -1,
        }
    }
}

/// When a broker makes its log durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FlushPolicy {
    Never,
    Batch,
}

impl FlushPolicy {
    pub fn name(self) -> &'static str {
        match self {
            FlushPolicy::Never => "never",
            FlushPolicy::Batch => "batch",
        }
    }
}

/// What a fault is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    Random,
    Leader,
    Controller,
    Followers,
    All,
}

impl Target {
    pub fn aim(self) -> AimAt {
        match self {
            Target::Random => AimAt::Random,
            Target::Leader => AimAt::Leader,
            Target::Controller => AimAt::Controller,
            Target::Followers => AimAt::Followers,
            Target::All => AimAt::All,
        }
    }
}

/// A plane of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FaultPlane {
    All,
    Replication,
    Controller,
    Client,
}

impl FaultPlane {
    pub fn plane(self) -> Plane {
        match self {
            FaultPlane::All => Plane::All,
            FaultPlane::Replication => Plane::Replication,
            FaultPlane::Controller => Plane::Controller,
            FaultPlane::Client => Plane::Client,
        }
    }
}

/// What drops the packets of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CutWith {
    /// One table on the lab's bridge
    Nft,
    /// Rules in the network namespace of each node
    Iptables,
}

/// What goes to stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Nothing: what people read goes to stderr and into the report
    Human,
    /// The verdict as JSON
    Json,
}

/// Kinds of faults, separated by commas, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSet(pub Vec<FaultKind>);

fn parse_faults(text: &str) -> Result<FaultSet, String> {
    if text == "none" {
        return Ok(FaultSet(Vec::new()));
    }
    let mut kinds = Vec::new();
    for name in text.split(',') {
        let kind = FaultKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name.trim());
        let kind = kind.ok_or_else(|| {
            format!("no fault is called \"{name}\"; write kill, pause, partition or none")
        })?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(FaultSet(kinds))
}

fn parse_bug(text: &str) -> Result<String, String> {
    plimsoll_broker::core::bugs::Bug::from_str(text).map(|bug| bug.name().to_owned())
}

fn parse_workload(text: &str) -> Result<String, String> {
    match text {
        "log" => Ok(text.to_owned()),
        other => Err(format!("no workload is called \"{other}\"; there is: log")),
    }
}

/// One run of one cluster under one workload.
#[derive(Clone, Debug, Args)]
#[command(args_override_self = true)]
pub struct TestArgs {
    /// What is tested: builtin, kafka, kafka:VERSION, compose:FILE.yml, or a description's FILE.toml
    #[arg(long, default_value = "builtin", value_parser = SystemChoice::parse)]
    pub system: SystemChoice,
    /// An unpacked Kafka distribution, instead of one that Maven resolves
    #[arg(long, value_name = "DIR")]
    pub kafka_home: Option<PathBuf>,
    /// Eligible leader replicas, KIP-966 [default: as that version of Kafka has it]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    pub elr: Option<bool>,
    /// Where nodes run
    #[arg(long = "where", value_enum, default_value = "lab")]
    pub place: Where,
    /// Brokers
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub nodes: u16,
    /// Separate controllers; 0: the brokers are controllers too
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=9))]
    pub controllers: u16,
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub partitions: u16,
    /// Name of the topic, which must not be there yet.
    #[arg(long, default_value = "log", value_parser = parse_topic, value_name = "NAME")]
    pub topic: String,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub replication_factor: u16,
    /// When a send is acknowledged
    #[arg(long, value_enum, default_value = "all", allow_negative_numbers = true)]
    pub acks: Acks,
    /// min.insync.replicas [default: 2, or the replication factor if that is less]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub min_insync: Option<u16>,
    /// unclean.leader.election.enable
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub unclean_elections: bool,
    /// replica.lag.time.max.ms
    #[arg(long, default_value = "2s", value_parser = parse_duration)]
    pub replica_lag_time_max: Duration,
    /// replica.lag.max.messages: a follower that lags by more leaves the ISR, as before Kafka 0.9
    /// (default there: 4000); the built-in broker only [default: off]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub replica_lag_max_messages: Option<u32>,
    /// broker.session.timeout.ms
    #[arg(long, default_value = "1500ms", value_parser = parse_duration)]
    pub session_timeout: Duration,
    /// When a broker makes its log durable
    #[arg(long, value_enum, default_value = "never")]
    pub flush: FlushPolicy,
    /// What clients do: log (producers append, consumers read) is the only one
    #[arg(long, default_value = "log", value_parser = parse_workload)]
    pub workload: String,
    /// Further attempts of a send that was not acknowledged
    /// [default: 0; a client library: as many as it does by itself]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub retries: Option<u32>,
    /// Send with producer ids and sequence numbers
    #[arg(long)]
    pub idempotent: bool,
    /// Who sends the records: raw (each op one request), librdkafka, java, java:VERSION, or exec:COMMAND
    #[arg(long, default_value = "raw", value_parser = ClientChoice::parse)]
    pub client: ClientChoice,
    /// Where clients live
    #[arg(long, value_enum, default_value = "mixed")]
    pub clients: Placement,
    /// Kinds of faults, separated by commas: kill, pause, partition; or none
    #[arg(long, default_value = "kill,pause,partition", value_parser = parse_faults)]
    pub faults: FaultSet,
    #[arg(long, value_enum, default_value = "random")]
    pub fault_target: Target,
    /// Nodes that are killed at some time and never return; the rest must go on
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=10))]
    pub lost_nodes: u16,
    #[arg(long, value_enum, default_value = "all")]
    pub fault_plane: FaultPlane,
    /// What drops the packets of a partition [default: nft; containers: iptables]
    #[arg(long, value_enum)]
    pub cut_with: Option<CutWith>,
    /// Mean time from one fault to the next
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    pub fault_interval: Duration,
    /// How long clients and faults run
    #[arg(long, default_value = "30s", value_parser = parse_duration)]
    pub time_limit: Duration,
    /// How long the cluster may take to settle afterwards [default: 30s; Kafka: 90s]
    #[arg(long, value_parser = parse_duration)]
    pub settle_limit: Option<Duration>,
    /// Operations a second
    #[arg(long, default_value = "500", value_name = "OPS_PER_S", value_parser = parse_rate)]
    pub rate: f64,
    /// Clients, each with one operation in flight at most
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u16).range(2..=2000))]
    pub concurrency: u16,
    /// Seed of everything random [default: drawn and printed]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Faults at set times instead of drawn ones
    #[arg(long, value_name = "FILE.toml")]
    pub scenario: Option<PathBuf>,
    /// Switch a known bug of the built-in broker on: ack-all-on-local-append, ignores-deposition,
    /// read-above-hw, shrink-before-confirm, truncate-to-hw
    #[arg(long, value_name = "NAME", value_parser = parse_bug)]
    pub bug: Option<String>,
    /// Count every loss as a violation
    #[arg(long)]
    pub strict: bool,
    /// Judge while the run goes on and end it, healed and read, at the first violation
    #[arg(long)]
    pub stop_at_violation: bool,
    /// Where runs are kept
    #[arg(long, default_value = "results")]
    pub out: PathBuf,
    #[arg(long, value_enum, default_value = "human")]
    pub format: Format,
}

impl TestArgs {
    pub fn min_insync(&self) -> u16 {
        self.min_insync
            .unwrap_or_else(|| self.replication_factor.min(2))
    }
}
