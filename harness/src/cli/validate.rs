//! Combinations that cannot work, each with what to do instead.

use super::test_args::{Acks, CutWith, TestArgs, Where};
use super::values::Duration;
use crate::clients::library::{ClientChoice, DELIVERY_TIMEOUT_MS};
use crate::systems::SystemChoice;
use plimsoll_nemesis::faults::FaultKind;

impl TestArgs {
    /// Why these options cannot be used together, if they cannot.
    pub fn conflict(&self, faults_were_given: bool) -> Option<String> {
        let (nodes, factor) = (self.nodes, self.replication_factor);
        if factor > nodes {
            return Some(format!(
                "Replication factor: {factor} larger than available brokers: {nodes}; \
                 raise --nodes or lower --replication-factor"
            ));
        }
        if self.min_insync() > factor {
            return Some(format!(
                "--min-insync {} can never be met by --replication-factor {factor}; \
                 lower the one or raise the other",
                self.min_insync()
            ));
        }
        if self.idempotent && self.acks != Acks::All {
            return Some(
                "--idempotent needs --acks all, as in Kafka: a lost answer must be told \
                 from a lost record"
                    .to_owned(),
            );
        }
        self.conflict_of_system()
            .or_else(|| self.conflict_of_client())
            .or_else(|| self.conflict_of_times())
            .or_else(|| self.conflict_of_faults(faults_were_given))
    }

    fn conflict_of_system(&self) -> Option<String> {
        if self.bug.is_some()
            && !matches!(self.system, SystemChoice::Builtin | SystemChoice::File(_))
        {
            return Some(
                "--bug switches a bug of the built-in broker on; leave --system out".to_owned(),
            );
        }
        if self.replica_lag_max_messages.is_some()
            && !matches!(self.system, SystemChoice::Builtin | SystemChoice::File(_))
        {
            return Some(
                "--replica-lag-max-messages is a rule of the built-in broker; leave --system out"
                    .to_owned(),
            );
        }
        let compose = matches!(self.system, SystemChoice::Compose(_));
        if compose
            && (self.cut_with == Some(CutWith::Nft)
                || self.place == Where::Local
                || self.controllers > 0)
        {
            return Some(
                "a compose cluster runs where its file says and is cut with iptables; leave --cut-with, --where and --controllers out"
                    .to_owned(),
            );
        }
        let of_kafka = matches!(self.system, SystemChoice::Kafka(_) | SystemChoice::File(_));
        let needs_libs = matches!(self.client, ClientChoice::Java(_));
        if (self.kafka_home.is_some() && !needs_libs || self.elr.is_some()) && !of_kafka {
            return Some("--kafka-home and --elr are for --system kafka".to_owned());
        }
        None
    }

    fn conflict_of_client(&self) -> Option<String> {
        if !self.client.is_library() {
            return None;
        }
        if self.idempotent && self.retries == Some(0) {
            return Some(format!(
                "--idempotent with --client {} needs retries, since the library asks for them; leave --retries out",
                self.client
            ));
        }
        let least_ms = 2 * DELIVERY_TIMEOUT_MS;
        match self.settle_limit {
            Some(limit) if limit.ms < least_ms => Some(format!(
                "--client {} may hold a record back for {} s, so --settle-limit must be {} s or more",
                self.client,
                DELIVERY_TIMEOUT_MS / 1000,
                least_ms / 1000
            )),
            _ => None,
        }
    }

    fn conflict_of_times(&self) -> Option<String> {
        let positive = [
            ("--replica-lag-time-max", self.replica_lag_time_max, 100),
            ("--session-timeout", self.session_timeout, 100),
            ("--fault-interval", self.fault_interval, 100),
            ("--time-limit", self.time_limit, 100),
            (
                "--settle-limit",
                self.settle_limit.unwrap_or(Duration { ms: 1000 }),
                1000,
            ),
        ];
        let (name, _, least) = positive
            .into_iter()
            .find(|(_, got, least)| got.ms < *least)?;
        Some(format!(
            "{name} must be {least} ms or more; a number without a unit is seconds"
        ))
    }

    fn conflict_of_faults(&self, faults_were_given: bool) -> Option<String> {
        if self.lost_nodes > 0 && 2 * self.lost_nodes >= self.nodes {
            return Some(format!(
                "--lost-nodes {} leaves no majority of {} nodes; raise --nodes",
                self.lost_nodes, self.nodes
            ));
        }
        let left = self.replication_factor.saturating_sub(self.lost_nodes);
        if left < self.min_insync() {
            return Some(format!(
                "--lost-nodes {} may leave {left} of {} replicas, with which nothing can be \
                 acknowledged at --min-insync {}; raise --replication-factor or lower --min-insync",
                self.lost_nodes,
                self.replication_factor,
                self.min_insync()
            ));
        }
        if self.place == Where::Local && self.cut_with.is_some() {
            return Some("--where local cuts nothing; leave --cut-with out".to_owned());
        }
        let cuts = self.faults.0.contains(&FaultKind::Partition);
        if self.place == Where::Local && cuts && faults_were_given {
            return Some(
                "--where local knows kill and pause only; leave partition out of --faults, \
                 or use --where lab"
                    .to_owned(),
            );
        }
        None
    }
}
