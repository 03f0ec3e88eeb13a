//! The broker's command line and its TOML file, and what they add up to.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::BrokerError;
use crate::core::bugs::{Bug, Bugs};
use crate::core::config::{NodeConfig, Timers, TopicDefaults};
use crate::core::ids::{Addr, NodeId};

/// Run one broker of the built-in replicated log (Kafka's wire protocol).
#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct BrokerArgs {
    /// Take settings from this TOML file too; flags win over it
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// This node's id, from 1
    #[arg(long)]
    pub node_id: Option<NodeId>,
    /// Where clients connect; also what they are told
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// Where other brokers fetch [default: the client port + 1]
    #[arg(long, value_name = "HOST:PORT")]
    pub replication_listen: Option<String>,
    /// Where controllers and brokers meet [default: the client port + 2]
    #[arg(long, value_name = "HOST:PORT")]
    pub controller_listen: Option<String>,
    /// Where the admin HTTP port is [default: the client port + 3]
    #[arg(long, value_name = "HOST:PORT")]
    pub admin_listen: Option<String>,
    /// The voters of the controller quorum and their controller ports
    #[arg(long, value_name = "ID@HOST:PORT,...")]
    pub controllers: Option<String>,
    /// What this node is [default: a broker; a controller too if --controllers names it]
    #[arg(long, value_name = "ROLE,...", value_delimiter = ',')]
    pub roles: Vec<Role>,
    /// Where the logs are kept
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// How long a follower may be behind before it leaves the ISR [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    #[serde(deserialize_with = "time_from_text")]
    pub replica_lag_time_max: Option<Duration>,
    /// A follower that lags by more messages leaves the ISR, as before Kafka 0.9 [default: off]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub replica_lag_max_messages: Option<i64>,
    /// How long a broker may be silent before it is fenced [default: 1500ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    #[serde(deserialize_with = "time_from_text")]
    pub session_timeout: Option<Duration>,
    /// Period of a broker's heartbeats [default: a fifth of the session time-out]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    #[serde(deserialize_with = "time_from_text")]
    pub heartbeat_interval: Option<Duration>,
    /// Least silence of the quorum's leader before an election [default: 600ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    #[serde(deserialize_with = "time_from_text")]
    pub election_timeout: Option<Duration>,
    /// How long a peer's answer may take [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    #[serde(deserialize_with = "time_from_text")]
    pub request_timeout: Option<Duration>,
    /// When a batch goes to disk, where the topic does not say [default: never]
    #[arg(long)]
    pub flush: Option<Flush>,
    /// min.insync.replicas where the topic does not say [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub min_insync: Option<i32>,
    /// Let a replica outside the ISR lead, where the topic does not say [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    pub unclean_elections: Option<bool>,
    /// Partitions of a topic created without a number [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub default_partitions: Option<i32>,
    /// Replicas of a topic created without a number [default: 3, or all brokers]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(1..))]
    pub default_replication_factor: Option<i16>,
    /// Switch a known bug on (may be repeated): ack-all-on-local-append, ignores-deposition,
    /// read-above-hw, shrink-before-confirm, truncate-to-hw
    #[arg(long, value_name = "NAME")]
    pub bug: Vec<Bug>,
    /// Seed of election time-outs and topic ids [default: drawn]
    #[arg(long)]
    pub seed: Option<u64>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Carries partitions.
    Broker,
    /// Votes in the controller quorum.
    Controller,
}

/// When a batch is put on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// When the system sees fit.
    Never,
    /// Before it is acknowledged or counted as replicated.
    Batch,
}

/// A checked set of settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the core is told.
    pub node: NodeConfig,
    /// Client listener.
    pub listen: String,
    /// Replication listener.
    pub replication_listen: String,
    /// Controller listener.
    pub controller_listen: String,
    /// Admin listener.
    pub admin_listen: String,
    /// Where the logs are kept.
    pub data_dir: PathBuf,
}

impl BrokerArgs {
    /// Adds the file's settings, fills in defaults, and checks that all fit.
    ///
    /// # Errors
    /// Where something is missing, malformed or contradictory; the message says which flag.
    pub fn resolve(self) -> Result<Settings, BrokerError> {
        let args = match &self.config {
            Some(path) => {
                let file = read_file(path)?;
                self.over(file)
            }
            None => self,
        };
        let node_id = args.node_id.ok_or_else(|| missing("--node-id"))?;
        if node_id < 0 {
            return Err(usage(format!(
                "--node-id is {node_id}; it must not be negative"
            )));
        }
        let listen = args.listen.clone().ok_or_else(|| missing("--listen"))?;
        let (host, port) = split_addr("--listen", &listen)?;
        let nearby = |given: &Option<String>, flag: &'static str, offset: u16| match given {
            Some(addr) => split_addr(flag, addr).map(|_| addr.clone()),
            None => port
                .checked_add(offset)
                .map(|port| format!("{host}:{port}"))
                .ok_or_else(|| {
                    usage(format!(
                        "{flag} is not given and {port} + {offset} is no port"
                    ))
                }),
        };
        let replication_listen = nearby(&args.replication_listen, "--replication-listen", 1)?;
        let controller_listen = nearby(&args.controller_listen, "--controller-listen", 2)?;
        let admin_listen = nearby(&args.admin_listen, "--admin-listen", 3)?;
        let controllers = args
            .controllers
            .as_deref()
            .ok_or_else(|| missing("--controllers"))?;
        let controllers = parse_controllers(controllers)?;
        let is_broker = check_roles(&args.roles, node_id, &controllers)?;
        let data_dir = args.data_dir.clone().ok_or_else(|| missing("--data-dir"))?;
        let drawn = RandomState::new().hash_one(std::process::id());
        let node = NodeConfig {
            node_id,
            controllers,
            is_broker,
            client_addr: Addr::from(listen.as_str()),
            replication_addr: Addr::from(replication_listen.as_str()),
            incarnation: RandomState::new()
                .hash_one((std::process::id(), std::time::SystemTime::now())),
            seed: args.seed.unwrap_or(drawn),
            timers: args.timers()?,
            replica_lag_max_messages: args.replica_lag_max_messages,
            topic_defaults: args.topic_defaults(),
            bugs: Bugs::new(args.bug),
        };
        Ok(Settings {
            node,
            listen,
            replication_listen,
            controller_listen,
            admin_listen,
            data_dir,
        })
    }

    fn timers(&self) -> Result<Timers, BrokerError> {
        let mut timers = Timers::default();
        let set = |flag: &str, given: Option<Duration>, into: &mut u64| match given {
            Some(time) => {
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                if !(1..=86_400_000).contains(&millis) {
                    return Err(usage(format!("{flag} must be between 1ms and 1day")));
                }
                *into = millis;
                Ok(())
            }
            None => Ok(()),
        };
        set(
            "--replica-lag-time-max",
            self.replica_lag_time_max,
            &mut timers.replica_lag_time_max_ms,
        )?;
        set(
            "--session-timeout",
            self.session_timeout,
            &mut timers.session_timeout_ms,
        )?;
        timers.heartbeat_interval_ms = (timers.session_timeout_ms / 5).max(1);
        set(
            "--heartbeat-interval",
            self.heartbeat_interval,
            &mut timers.heartbeat_interval_ms,
        )?;
        set(
            "--election-timeout",
            self.election_timeout,
            &mut timers.election_timeout_ms,
        )?;
        timers.raft_heartbeat_ms = (timers.election_timeout_ms / 6).max(1);
        set(
            "--request-timeout",
            self.request_timeout,
            &mut timers.request_timeout_ms,
        )?;
        // A follower that fetches in time must be seen to within the lag limit.
        timers.fetch_wait_max_ms = timers
            .fetch_wait_max_ms
            .min(timers.replica_lag_time_max_ms / 4)
            .max(1);
        Ok(timers)
    }

    fn topic_defaults(&self) -> TopicDefaults {
        let defaults = TopicDefaults::default();
        TopicDefaults {
            partitions: self.default_partitions.unwrap_or(defaults.partitions),
            replication_factor: self
                .default_replication_factor
                .unwrap_or(defaults.replication_factor),
            min_insync_replicas: self.min_insync.unwrap_or(defaults.min_insync_replicas),
            unclean_leader_election: self
                .unclean_elections
                .unwrap_or(defaults.unclean_leader_election),
            flush_every_batch: self.flush == Some(Flush::Batch),
            auto_create: defaults.auto_create,
        }
    }

    fn over(self, file: BrokerArgs) -> Self {
        Self {
            config: self.config,
            node_id: self.node_id.or(file.node_id),
            listen: self.listen.or(file.listen),
            replication_listen: self.replication_listen.or(file.replication_listen),
            controller_listen: self.controller_listen.or(file.controller_listen),
            admin_listen: self.admin_listen.or(file.admin_listen),
            controllers: self.controllers.or(file.controllers),
            roles: if self.roles.is_empty() {
                file.roles
            } else {
                self.roles
            },
            data_dir: self.data_dir.or(file.data_dir),
            replica_lag_time_max: self.replica_lag_time_max.or(file.replica_lag_time_max),
            replica_lag_max_messages: self
                .replica_lag_max_messages
                .or(file.replica_lag_max_messages),
            session_timeout: self.session_timeout.or(file.session_timeout),
            heartbeat_interval: self.heartbeat_interval.or(file.heartbeat_interval),
            election_timeout: self.election_timeout.or(file.election_timeout),
            request_timeout: self.request_timeout.or(file.request_timeout),
            flush: self.flush.or(file.flush),
            min_insync: self.min_insync.or(file.min_insync),
            unclean_elections: self.unclean_elections.or(file.unclean_elections),
            default_partitions: self.default_partitions.or(file.default_partitions),
            default_replication_factor: self
                .default_replication_factor
                .or(file.default_replication_factor),
            bug: if self.bug.is_empty() {
                file.bug
            } else {
                self.bug
            },
            seed: self.seed.or(file.seed),
        }
    }
}

fn read_file(path: &Path) -> Result<BrokerArgs, BrokerError> {
    let text = crate::small_file::read(path)
        .map_err(|error| usage(format!("cannot read --config {}: {error}", path.display())))?;
    toml::from_str(&text).map_err(|error| usage(format!("{}: {error}", path.display())))
}

fn check_roles(
    roles: &[Role],
    node_id: NodeId,
    controllers: &BTreeMap<NodeId, Addr>,
) -> Result<bool, BrokerError> {
    let listed = controllers.contains_key(&node_id);
    if roles.contains(&Role::Controller) && !listed {
        return Err(usage(format!(
            "--roles says controller, but --controllers does not name node {node_id}"
        )));
    }
    if !roles.is_empty() && !roles.contains(&Role::Controller) && listed {
        return Err(usage(format!(
            "--controllers names node {node_id}, but --roles does not say controller"
        )));
    }
    Ok(roles.is_empty() || roles.contains(&Role::Broker))
}

fn parse_controllers(text: &str) -> Result<BTreeMap<NodeId, Addr>, BrokerError> {
    let mut controllers = BTreeMap::new();
    for part in text.split(',') {
        let wrong = || usage(format!("--controllers: {part:?} is not ID@HOST:PORT"));
        let (id, addr) = part.trim().split_once('@').ok_or_else(wrong)?;
        let id: NodeId = id.parse().map_err(|_| wrong())?;
        split_addr("--controllers", addr)?;
        if controllers.insert(id, Addr::from(addr)).is_some() {
            return Err(usage(format!("--controllers names node {id} twice")));
        }
    }
    Ok(controllers)
}

fn split_addr(flag: &str, addr: &str) -> Result<(String, u16), BrokerError> {
    addr.rsplit_once(':')
        .filter(|(host, _)| !host.is_empty())
        .and_then(|(host, port)| {
            Some((host.to_owned(), port.parse().ok().filter(|port| *port > 0)?))
        })
        .ok_or_else(|| usage(format!("{flag}: {addr:?} is not HOST:PORT")))
}

/// Reads `2s`, `1500ms` and the like; a number without a unit is seconds.
fn parse_time(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string());
    }
    humantime::parse_duration(text).map_err(|error| error.to_string())
}

fn time_from_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    parse_time(&text)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

fn missing(flag: &str) -> BrokerError {
    usage(format!(
        "{flag} is missing; give it as a flag or in the --config file"
    ))
}

fn usage(message: String) -> BrokerError {
    BrokerError::Usage(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args() -> BrokerArgs {
        BrokerArgs {
            node_id: Some(2),
            listen: Some("127.0.0.1:9092".to_owned()),
            controllers: Some("1@127.0.0.1:9094,2@127.0.0.2:9094".to_owned()),
            data_dir: Some(PathBuf::from("data")),
            ..BrokerArgs::default()
        }
    }

    #[test]
    fn ports_that_are_not_given_follow_the_client_port() {
        let settings = args().resolve().unwrap();
        assert_eq!(settings.replication_listen, "127.0.0.1:9093");
        assert_eq!(settings.admin_listen, "127.0.0.1:9095");
        assert!(settings.node.is_broker && settings.node.is_controller());
    }

    #[test]
    fn a_flag_wins_over_the_file_and_an_unknown_key_in_it_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broker.toml");
        std::fs::write(&path, "node-id = 7\nsession-timeout = \"3s\"\n").unwrap();
        let settings = BrokerArgs {
            config: Some(path.clone()),
            ..args()
        }
        .resolve()
        .unwrap();
        assert_eq!(settings.node.node_id, 2);
        assert_eq!(settings.node.timers.session_timeout_ms, 3_000);
        std::fs::write(&path, "nod-id = 7\n").unwrap();
        let error = BrokerArgs {
            config: Some(path),
            ..args()
        }
        .resolve()
        .unwrap_err();
        assert!(error.to_string().contains("nod-id"), "{error}");
    }

    #[test]
    fn malformed_addresses_and_contradictory_roles_say_which_flag() {
        let bad = BrokerArgs {
            listen: Some("nowhere".to_owned()),
            ..args()
        };
        assert!(bad.resolve().unwrap_err().to_string().contains("--listen"));
        let bad = BrokerArgs {
            roles: vec![Role::Broker],
            ..args()
        };
        assert!(bad.resolve().unwrap_err().to_string().contains("--roles"));
        let bad = BrokerArgs {
            controllers: Some("1@a:1,1@b:2".to_owned()),
            ..args()
        };
        assert!(bad.resolve().unwrap_err().to_string().contains("twice"));
    }
}
