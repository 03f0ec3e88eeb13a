//! From options to what each part needs to know: the session's configuration,
//! the promise in the history's header, the brokers' settings.

use std::collections::BTreeMap;

use plimsoll_checkers::history::{Header, TopicInfo};
use plimsoll_checkers::promise::{Acks, FaultClasses, Flush, Promise, Settings};
use plimsoll_nemesis::faults::FaultKind;
use plimsoll_nemesis::lab::{Lab, PLACE_EVERYWHERE, pinned_place};
use plimsoll_nemesis::schedule::{Schedule, ScheduleSettings, Timers};
use serde_json::{Map, json};

use super::system::Found;
use crate::cli::{self, FlushPolicy, Invocation, TestArgs};
use crate::clients::NewTopic;
use crate::clients::library::{Hello, PROTOCOL, Tuning, config};
use crate::runner::real::{LibraryPlan, StateSource, Wiring};
use crate::session::{NodeInfo, SendBy, SendPolicy, Session, SessionConfig, key};
use crate::store::RunFolder;
use crate::systems::{ClusterSettings, Layout, State};
use crate::workload::{Role, Side, plan_clients};

const STREAM_FAULTS: u64 = 0x6661_756c_7473;
/// A broker may take longer than the slowest ISR change over an acks=all
/// request, yet a client must not be stuck for good.
const REQUEST_TIMEOUT_MS: u64 = 1500;

/// One run, laid out.
pub struct Plan<'a> {
    pub invocation: &'a Invocation,
    pub found: Found,
    pub seed: u64,
    pub layout: Layout,
    pub started_utc: String,
    pub folder: RunFolder,
}

impl Plan<'_> {
    fn args(&self) -> &TestArgs {
        &self.invocation.args
    }

    /// How often a record may be sent again.
    fn retries(&self) -> u32 {
        let args = self.args();
        args.client.retries(args.retries)
    }

    pub fn broker_settings(&self) -> ClusterSettings {
        let args = self.args();
        ClusterSettings {
            replica_lag_time_max_ms: args.replica_lag_time_max.ms,
            replica_lag_max_messages: args.replica_lag_max_messages,
            session_timeout_ms: args.session_timeout.ms,
            flush: args.flush.name().to_owned(),
            flush_messages: flush_messages(args.flush).to_owned(),
            unclean_elections: args.unclean_elections,
            min_insync: args.min_insync(),
            replication_factor: args.replication_factor,
            elr: self.found.elr,
            bug: args.bug.clone(),
            seed: self.seed,
            version: self.found.version.clone(),
        }
    }

    pub fn session_config(&self) -> SessionConfig {
        let args = self.args();
        let brokers = usize::from(args.nodes);
        let node = |spec: &crate::systems::NodeSpec| NodeInfo {
            name: spec.name.clone(),
            id: spec.id,
            is_broker: spec.is_broker,
        };
        SessionConfig {
            seed: self.seed,
            topic: self.topic(),
            nodes: self.layout.nodes.iter().map(node).collect(),
            clients: plan_clients(usize::from(args.concurrency), args.clients, brokers),
            send: SendPolicy {
                by: match self.found.library {
                    None => SendBy::Request,
                    Some(_) => SendBy::Library {
                        may_resend: self.retries() > 0,
                    },
                },
                acks: args.acks.wire(),
                retries: self.retries(),
                idempotent: args.idempotent,
                request_timeout_ms: REQUEST_TIMEOUT_MS,
            },
            rate: args.rate,
            time_limit_ms: args.time_limit.ms,
            starts_settled: self.found.description.state == State::Protocol,
            setup_limit_ms: self.found.description.start_limit.ms,
            settle_limit_ms: args
                .settle_limit
                .unwrap_or(self.found.description.settle_limit)
                .ms,
            schedule: self.schedule(),
        }
    }

    fn topic(&self) -> NewTopic {
        let args = self.args();
        let flush = flush_messages(args.flush);
        let configs = [
            ("min.insync.replicas", args.min_insync().to_string()),
            (
                "unclean.leader.election.enable",
                args.unclean_elections.to_string(),
            ),
            ("flush.messages", flush.to_owned()),
        ];
        NewTopic {
            name: args.topic.clone(),
            partitions: i32::from(args.partitions),
            replication_factor: i16::try_from(args.replication_factor).unwrap_or(i16::MAX),
            configs: configs.map(|(name, value)| (name.to_owned(), value)).into(),
        }
    }

    fn schedule(&self) -> Schedule {
        let args = self.args();
        if let Some(scenario) = &self.invocation.scenario {
            return Schedule::set(scenario.faults.clone());
        }
        let settings = ScheduleSettings {
            kinds: args.faults.0.clone(),
            lost_nodes: args.lost_nodes,
            target: args.fault_target.aim(),
            plane: args.fault_plane.plane(),
            interval_ms: args.fault_interval.ms,
            end_ms: args.time_limit.ms,
            timers: Timers {
                session_timeout_ms: args.session_timeout.ms,
                replica_lag_time_max_ms: args.replica_lag_time_max.ms,
            },
        };
        Schedule::drawn(self.seed ^ STREAM_FAULTS, settings)
    }

    /// Whether any fault of this run may be a partition.
    pub fn cuts_the_network(&self) -> bool {
        match &self.invocation.scenario {
            Some(scenario) => {
                let mut faults = scenario.faults.iter();
                faults.any(|planned| planned.fault.kind() == FaultKind::Partition)
            }
            None => self.args().faults.0.contains(&FaultKind::Partition),
        }
    }

    pub fn promise(&self) -> Promise {
        let args = self.args();
        let settings = Settings {
            acks: match args.acks {
                cli::Acks::None => Acks::None,
                cli::Acks::Leader => Acks::Leader,
                cli::Acks::All => Acks::All,
            },
            min_insync: args.min_insync(),
            replication_factor: args.replication_factor,
            unclean_elections: args.unclean_elections,
            flush: match args.flush {
                FlushPolicy::Never => Flush::Never,
                FlushPolicy::Batch => Flush::Batch,
            },
            elr: self.found.elr,
            idempotent: args.idempotent,
            retries: self.retries(),
        };
        let faults = self
            .invocation
            .scenario
            .as_ref()
            .map_or(args.faults.0.len() + usize::from(args.lost_nodes), |s| {
                s.faults.len()
            });
        let classes = FaultClasses {
            process: faults > 0,
            disk: false,
        };
        Promise::resolve(&settings, classes, args.strict)
    }

    pub fn header(&self, session: &Session, system: &str) -> Header {
        let args = self.args();
        let info = || TopicInfo {
            replication_factor: args.replication_factor,
            ..TopicInfo::default()
        };
        let topics = (0..i32::from(args.partitions)).map(|p| (key(&args.topic, p), info()));
        let clients = session.workers().map(|client| {
            let role = match client.role {
                Role::Producer => "producer",
                Role::Consumer => "consumer",
            };
            let place = match client.side {
                Side::Everywhere => PLACE_EVERYWHERE.to_owned(),
                Side::With(node) => self
                    .layout
                    .nodes
                    .get(node)
                    .map_or_else(String::new, |n| n.name.clone()),
            };
            (client.name.clone(), json!({ "role": role, "place": place }))
        });
        let mut extra = Map::new();
        extra.insert("nodes".to_owned(), json!(self.layout.names()));
        extra.insert("settings".to_owned(), json!(self.settings()));
        let environment = crate::report::environment::of_this_machine();
        extra.insert("environment".to_owned(), json!(environment));
        match &self.invocation.scenario {
            None => extra.insert("fault_kinds".to_owned(), json!(args.faults.0)),
            Some(scenario) => extra.insert(
                "scenario".to_owned(),
                json!({ "name": scenario.name, "title": scenario.title, "expect": scenario.expect }),
            ),
        };
        extra.insert("replay".to_owned(), json!(self.replay()));
        extra.insert("started_utc".to_owned(), json!(self.started_utc));
        extra.insert("time_limit_ms".to_owned(), json!(args.time_limit.ms));
        Header {
            plimsoll: 1,
            promise: self.promise(),
            topics: topics.collect(),
            clients: clients.collect::<BTreeMap<_, _>>(),
            system: system.to_owned(),
            seed: self.seed,
            extra,
        }
    }

    /// Addresses and places for the runner.
    pub fn wiring(&self, session: &Session, lab: Option<&Lab>) -> anyhow::Result<Wiring> {
        let nodes = &self.layout.nodes;
        let ports = self.found.description.ports;
        let place = |side: Side| -> anyhow::Result<_> {
            let Some(lab) = lab else { return Ok(None) };
            let name = match side {
                Side::Everywhere => PLACE_EVERYWHERE.to_owned(),
                Side::With(node) => nodes
                    .get(node)
                    .map(|n| pinned_place(&n.name))
                    .unwrap_or_default(),
            };
            Ok(Some(lab.place(&name)?.clone()))
        };
        Ok(Wiring {
            client_addrs: nodes.iter().map(|node| node.socket(ports.client)).collect(),
            state: match (self.found.description.state, ports.admin) {
                (State::Admin, Some(port)) => {
                    StateSource::Admin(nodes.iter().map(|node| node.socket(port)).collect())
                }
                _ => StateSource::Protocol(
                    nodes.iter().filter(|n| n.is_broker).map(|n| n.id).collect(),
                ),
            },
            places: session
                .client_sides()
                .into_iter()
                .map(place)
                .collect::<Result<_, _>>()?,
            topic: self.args().topic.clone(),
            library: self.library_plan(session),
        })
    }

    fn library_plan(&self, session: &Session) -> Option<LibraryPlan> {
        let library = self.found.library.as_ref()?;
        let args = self.args();
        let port = self.found.description.ports.client;
        let brokers = self.layout.nodes.iter().filter(|node| node.is_broker);
        let brokers: Vec<_> = brokers.map(|node| node.socket(port)).collect();
        let tuning = Tuning {
            acks: args.acks.wire(),
            idempotent: args.idempotent,
            retries: args.retries,
            request_timeout_ms: REQUEST_TIMEOUT_MS,
        };
        let workers = session.workers().enumerate();
        let producers = workers.filter(|(_, client)| client.role == Role::Producer);
        Some(LibraryPlan {
            command: library.command.clone(),
            hello: Hello {
                plimsoll_producer: PROTOCOL,
                topic: args.topic.clone(),
                config: config(tuning, &brokers),
            },
            one_attempt: self.retries() == 0,
            logs: self.folder.path().join("clients"),
            clients: producers.map(|(client, _)| client).collect(),
        })
    }

    /// What the report shows of the settings, in reading order.
    pub fn settings(&self) -> Vec<(String, String)> {
        let args = self.args();
        let acks = match args.acks {
            cli::Acks::None => "0",
            cli::Acks::Leader => "1",
            cli::Acks::All => "all",
        };
        let scenario = self.invocation.scenario.as_ref();
        let scenario = scenario.map(|s| format!("those of the scenario {}", s.name));
        let faults: Vec<&str> = args.faults.0.iter().map(|kind| kind.name()).collect();
        let faults = scenario.unwrap_or_else(|| match faults.len() {
            0 => "none".to_owned(),
            _ => format!(
                "{} at {}, plane {}",
                faults.join(", "),
                args.fault_target.aim(),
                args.fault_plane.plane().name()
            ),
        });
        let pairs = [
            ("nodes", args.nodes.to_string()),
            (
                "controllers",
                match args.controllers {
                    0 => "combined".to_owned(),
                    count => count.to_string(),
                },
            ),
            ("partitions", args.partitions.to_string()),
            ("replication factor", args.replication_factor.to_string()),
            ("acks", acks.to_owned()),
            ("min.insync.replicas", args.min_insync().to_string()),
            ("unclean elections", args.unclean_elections.to_string()),
            ("flush", args.flush.name().to_owned()),
            (
                "replica.lag.time.max",
                args.replica_lag_time_max.to_string(),
            ),
            (
                "replica.lag.max.messages",
                args.replica_lag_max_messages
                    .map_or_else(|| "off".to_owned(), |limit| limit.to_string()),
            ),
            ("session timeout", args.session_timeout.to_string()),
            (
                "client",
                match &self.found.library {
                    Some(library) => library.title.clone(),
                    None => args.client.to_string(),
                },
            ),
            (
                "retries",
                match args.retries {
                    None if args.client.is_library() => "the library's own".to_owned(),
                    _ => self.retries().to_string(),
                },
            ),
            ("idempotent", args.idempotent.to_string()),
            (
                "eligible leader replicas",
                if self.found.elr { "on" } else { "off" }.to_owned(),
            ),
            ("clients", format!("{:?}", args.clients).to_lowercase()),
            ("concurrency", args.concurrency.to_string()),
            ("rate", format!("{} ops/s", args.rate)),
            ("faults", faults),
            (
                "fault interval",
                match (&self.invocation.scenario, args.faults.0.is_empty()) {
                    (None, false) => args.fault_interval.to_string(),
                    _ => "none".to_owned(),
                },
            ),
            ("lost nodes", args.lost_nodes.to_string()),
            ("time limit", args.time_limit.to_string()),
            ("bug", args.bug.clone().unwrap_or_else(|| "none".to_owned())),
            ("seed", self.seed.to_string()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The command that repeats this run with the same seed.
    pub fn replay(&self) -> String {
        let mut words = vec!["plimsoll".to_owned(), "test".to_owned()];
        let mut given = self.invocation.words.iter();
        while let Some(word) = given.next() {
            match word.as_str() {
                "--seed" => drop(given.next()),
                word if word.starts_with("--seed=") => {}
                word => words.push(quoted(word)),
            }
        }
        words.extend(["--seed".to_owned(), self.seed.to_string()]);
        words.join(" ")
    }

    pub fn test_json(&self) -> serde_json::Value {
        json!({
            "plimsoll": env!("CARGO_PKG_VERSION"),
            "started_utc": self.started_utc,
            "seed": self.seed,
            "replay": self.replay(),
            "settings": self.settings().into_iter().collect::<BTreeMap<_, _>>(),
            "scenario": self.invocation.scenario.as_ref().map(|s| json!({
                "name": s.name, "title": s.title, "expect": s.expect, "faults": s.faults })),
            "nodes": self.layout.nodes.iter().map(|node| json!({
                "name": node.name, "id": node.id, "addr": node.addr.to_string(),
                "broker": node.is_broker, "controller": node.is_controller,
            })).collect::<Vec<_>>(),
        })
    }
}

/// flush.messages: how many records may be written before they are synced.
fn flush_messages(policy: FlushPolicy) -> &'static str {
    match policy {
        FlushPolicy::Batch => "1",
        FlushPolicy::Never => "9223372036854775807",
    }
}

/// A word as a shell would need it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(quoted("--acks=all"), "--acks=all");
        assert_eq!(quoted("my file's"), "'my file'\\''s'");
    }
}
