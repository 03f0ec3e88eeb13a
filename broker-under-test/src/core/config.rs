//! What a node is told when it starts: who it is, who the controllers are, and every timer.

use std::collections::BTreeMap;

use super::bugs::Bugs;
use super::ids::{Addr, NodeId};

/// Time-outs and periods, all in milliseconds. Defaults are Kafka's, scaled down for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timers {
    /// replica.lag.time.max.ms: how long a follower may be behind before it leaves the ISR.
    pub replica_lag_time_max_ms: u64,
    /// broker.session.timeout.ms: how long a broker may be silent before it is fenced.
    pub session_timeout_ms: u64,
    /// broker.heartbeat.interval.ms.
    pub heartbeat_interval_ms: u64,
    /// Least time without a word from the Raft leader before an election; each wait is drawn
    /// from this to twice this.
    pub election_timeout_ms: u64,
    /// Period of the Raft leader's heartbeats.
    pub raft_heartbeat_ms: u64,
    /// replica.fetch.wait.max.ms: how long a leader holds a follower's empty fetch.
    pub fetch_wait_max_ms: u64,
    /// How long a peer's answer may take before its connection is given up.
    pub request_timeout_ms: u64,
    /// replica.high.watermark.checkpoint.interval.ms.
    pub checkpoint_interval_ms: u64,
    /// Period of [`super::seam::Input::Tick`]; bounds how late any timer may fire.
    pub tick_ms: u64,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            replica_lag_time_max_ms: 2_000,
            session_timeout_ms: 1_500,
            heartbeat_interval_ms: 300,
            election_timeout_ms: 600,
            raft_heartbeat_ms: 100,
            fetch_wait_max_ms: 250,
            request_timeout_ms: 1_000,
            checkpoint_interval_ms: 5_000,
            tick_ms: 10,
        }
    }
}

/// Settings that a topic inherits where it does not set its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicDefaults {
    /// num.partitions.
    pub partitions: i32,
    /// default.replication.factor; the number of live brokers where that is smaller.
    pub replication_factor: i16,
    /// min.insync.replicas.
    pub min_insync_replicas: i32,
    /// unclean.leader.election.enable.
    pub unclean_leader_election: bool,
    /// True: every batch is on disk before it is acknowledged or replicated (flush.messages=1).
    pub flush_every_batch: bool,
    /// auto.create.topics.enable.
    pub auto_create: bool,
}

impl Default for TopicDefaults {
    fn default() -> Self {
        Self {
            partitions: 1,
            replication_factor: 3,
            min_insync_replicas: 1,
            unclean_leader_election: false,
            flush_every_batch: false,
            auto_create: true,
        }
    }
}

/// Everything that the core of one node is told at its start.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// This node.
    pub node_id: NodeId,
    /// The voters of the controller quorum and their listeners.
    pub controllers: BTreeMap<NodeId, Addr>,
    /// Whether this node carries partitions.
    pub is_broker: bool,
    /// What clients are told to connect to.
    pub client_addr: Addr,
    /// Where other brokers fetch from this one.
    pub replication_addr: Addr,
    /// Names this start of the process apart from earlier ones; never repeated.
    pub incarnation: u64,
    /// Seed of the election time-outs and of topic ids.
    pub seed: u64,
    /// Time-outs.
    pub timers: Timers,
    /// replica.lag.max.messages, the rule of Kafka before 0.9: a follower that lags by more leaves
    /// the ISR, however short the time. None: the rule is off.
    pub replica_lag_max_messages: Option<i64>,
    /// Defaults of topics.
    pub topic_defaults: TopicDefaults,
    /// Bugs that are switched on.
    pub bugs: Bugs,
}

impl NodeConfig {
    /// Whether this node votes in the controller quorum.
    #[must_use]
    pub fn is_controller(&self) -> bool {
        self.controllers.contains_key(&self.node_id)
    }
}
