//! Three nodes, their disks and the network between them, driven by one heap of (time, sequence).

mod deletion;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use plimsoll_broker::core::bugs::Bugs;
use plimsoll_broker::core::config::{NodeConfig, Timers, TopicDefaults};
use plimsoll_broker::core::errors::ErrorCode;
use plimsoll_broker::core::ids::{CallId, ConnId, NodeId, Now, TopicPartition};
use plimsoll_broker::core::messages::client::{
    ClientResponse, CreateTopicsRequest, NewTopic, ProduceRequest,
};
use plimsoll_broker::core::messages::fetch::{FetchPartition, FetchRequest};
use plimsoll_broker::core::messages::{ClientRequest, Request, Response};
use plimsoll_broker::core::node::Node;
use plimsoll_broker::core::seam::{Broken, Event, Input, Op, Output};
use plimsoll_broker::kafka::batch::{self, BatchBuilder};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::disk::Disk;
use super::invariants::Invariants;

const NODES: std::ops::RangeInclusive<NodeId> = 1..=3;
const PARTITIONS: i32 = 2;
const TOPIC: &str = "log";
/// Virtual milliseconds with faults, and after them at the most until all is well again.
const FAULTS_MS: u64 = 5_000;
const HEAL_MS_MAX: u64 = 20_000;
const DISKS_SETTLE_MS: u64 = 200;

/// What a schedule varies.
#[derive(Clone, Debug)]
pub struct Plan {
    /// With it a crash also loses what was not synced.
    pub flush_every_batch: bool,
    pub min_insync_replicas: i32,
    pub bugs: Bugs,
}

/// What is due at a moment. A node's number of starts tells late events from present ones.
enum Due {
    Step {
        to: NodeId,
        start: u64,
        input: Input,
    },
    Disk {
        on: NodeId,
        start: u64,
        id: u64,
        op: Op,
    },
    TimeOut {
        call: (NodeId, u64, CallId),
    },
    Restart {
        node: NodeId,
    },
    Client,
    Fault,
}

/// Who waits for the answer on a connection.
enum Asker {
    Node {
        node: NodeId,
        start: u64,
        call: CallId,
    },
    Producer {
        tp: TopicPartition,
        acks: i16,
        value: Bytes,
    },
    Consumer,
    Creator,
}

pub struct Cluster {
    plan: Plan,
    rng: ChaCha8Rng,
    now: u64,
    sequence: u64,
    heap: BTreeMap<(u64, u64), Due>,
    nodes: BTreeMap<NodeId, Node>,
    starts: BTreeMap<NodeId, u64>,
    disks: BTreeMap<NodeId, Disk>,
    disk_free_at: BTreeMap<NodeId, u64>,
    cuts: BTreeSet<(NodeId, NodeId)>,
    askers: BTreeMap<ConnId, Asker>,
    open_calls: BTreeSet<(NodeId, u64, CallId)>,
    next_conn: ConnId,
    next_value: u64,
    faults: bool,
    invariants: Invariants,
    trace: u64,
}

impl Cluster {
    pub fn new(seed: u64, plan: Plan) -> Self {
        let mut cluster = Self {
            plan,
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: 0,
            sequence: 0,
            heap: BTreeMap::new(),
            nodes: BTreeMap::new(),
            starts: BTreeMap::new(),
            disks: NODES.map(|id| (id, Disk::default())).collect(),
            disk_free_at: BTreeMap::new(),
            cuts: BTreeSet::new(),
            askers: BTreeMap::new(),
            open_calls: BTreeSet::new(),
            next_conn: 0,
            next_value: 0,
            faults: false,
            invariants: Invariants::default(),
            trace: 0,
        };
        NODES.for_each(|id| cluster.start(id));
        cluster
    }

    /// A number that any difference in the order of events changes.
    pub fn trace(&self) -> u64 {
        self.trace
    }

    /// Tells how many acks=all sends were acknowledged, or what was violated.
    pub fn run(&mut self) -> Result<usize, String> {
        self.set_up()?;
        self.faults = true;
        self.schedule(1, Due::Client);
        self.schedule(1, Due::Fault);
        let end = self.now + FAULTS_MS;
        self.run_until(end, |_| false)?;
        self.heal();
        let deadline = self.now + HEAL_MS_MAX;
        if !self.run_until(deadline, Self::is_well)? {
            return Err(format!(
                "not well {HEAL_MS_MAX} ms after the heal: {}",
                self.describe()
            ));
        }
        // Truncations that the logs' ends already count on are still on their way to the disks.
        self.run_until(self.now + DISKS_SETTLE_MS, |_| false)?;
        self.invariants.check_healed(&self.disks)?;
        Ok(self.invariants.acked_len())
    }

    fn set_up(&mut self) -> Result<(), String> {
        let up = |cluster: &Self| {
            cluster
                .nodes
                .values()
                .all(|node| node.image().live_brokers().count() == 3)
        };
        if !self.run_until(5_000, up)? {
            return Err("the brokers do not come up".to_owned());
        }
        let config = |name: &str, value: String| (name.to_owned(), Some(value));
        let flush = if self.plan.flush_every_batch {
            "1"
        } else {
            "100000"
        };
        let request = CreateTopicsRequest {
            topics: vec![NewTopic {
                name: TOPIC.to_owned(),
                partitions: PARTITIONS,
                replication_factor: 3,
                assignments: Vec::new(),
                configs: vec![
                    config(
                        "min.insync.replicas",
                        self.plan.min_insync_replicas.to_string(),
                    ),
                    config("flush.messages", flush.to_owned()),
                ],
            }],
            validate_only: false,
            timeout_ms: 5_000,
        };
        self.ask(1, Asker::Creator, ClientRequest::CreateTopics(request));
        let created = |cluster: &Self| {
            cluster
                .nodes
                .values()
                .all(|node| node.replicas().len() == 2)
        };
        match self.run_until(10_000, created)? {
            true => Ok(()),
            false => Err("the topic is not created".to_owned()),
        }
    }

    /// Every replica of the topic, on the disks of these nodes, has this many records.
    fn logs_end_at(&self, end: i64, nodes: &[NodeId]) -> bool {
        (0..PARTITIONS).all(|partition| {
            let tp = TopicPartition::new(TOPIC, partition);
            let ends = |disk: &Disk| disk.logs.get(&tp).is_some_and(|log| log.end() == end);
            nodes.iter().all(|node| ends(&self.disks[node]))
        })
    }

    /// Runs until `done` or the time is up; true where it is done.
    fn run_until(&mut self, deadline: u64, done: impl Fn(&Self) -> bool) -> Result<bool, String> {
        while let Some((&(at, sequence), _)) = self.heap.first_key_value() {
            if at > deadline {
                self.now = deadline;
                return Ok(done(self));
            }
            let Some((_, due)) = self.heap.pop_first() else {
                break;
            };
            self.now = at;
            self.trace = self
                .trace
                .wrapping_mul(31)
                .wrapping_add(at ^ (sequence << 20));
            self.carry_out(due)?;
            if done(self) {
                return Ok(true);
            }
        }
        Ok(done(self))
    }

    fn carry_out(&mut self, due: Due) -> Result<(), String> {
        match due {
            Due::Step { to, start, input } => self.step(to, start, input),
            Due::Disk { on, start, id, op } => {
                if self.starts[&on] != start || !self.nodes.contains_key(&on) {
                    return Ok(());
                }
                let done = self.disks.get_mut(&on).unwrap().carry_out(op);
                self.step(on, start, Input::Io { id, done })
            }
            Due::TimeOut { call } => {
                self.fail_call(call, Broken::TimedOut);
                Ok(())
            }
            Due::Restart { node } => {
                if !self.nodes.contains_key(&node) {
                    self.start(node);
                }
                Ok(())
            }
            Due::Client => {
                self.client_op();
                Ok(())
            }
            Due::Fault => {
                self.fault();
                Ok(())
            }
        }
    }

    fn schedule(&mut self, delay: u64, due: Due) {
        self.sequence += 1;
        self.heap.insert((self.now + delay, self.sequence), due);
    }

    fn step(&mut self, id: NodeId, start: u64, input: Input) -> Result<(), String> {
        if self.starts[&id] != start {
            return Ok(());
        }
        let Some(node) = self.nodes.get_mut(&id) else {
            return Ok(());
        };
        let mut out = Vec::new();
        node.step(
            Now {
                mono_ms: self.now,
                wall_ms: 0,
            },
            input,
            &mut out,
        );
        self.invariants
            .check(id, &self.nodes[&id], &self.disks[&id])?;
        for output in out {
            self.on_output(id, start, output)?;
        }
        Ok(())
    }

    fn on_output(&mut self, id: NodeId, start: u64, output: Output) -> Result<(), String> {
        match output {
            Output::Reply { conn, body, .. } => return self.on_answer(id, conn, body),
            Output::Call {
                to,
                call,
                body,
                timeout_ms,
            } => {
                let target: NodeId = to.split(':').next().unwrap().parse().unwrap();
                let key = (id, start, call);
                self.open_calls.insert(key);
                self.schedule(timeout_ms, Due::TimeOut { call: key });
                self.next_conn += 1;
                let conn = self.next_conn;
                self.askers.insert(
                    conn,
                    Asker::Node {
                        node: id,
                        start,
                        call,
                    },
                );
                let input = Input::Request {
                    conn,
                    id: 1,
                    body: Request::Peer(body),
                };
                self.deliver(id, target, input);
            }
            Output::Io { id: io, op } => {
                let free = self
                    .disk_free_at
                    .get(&id)
                    .copied()
                    .unwrap_or(0)
                    .max(self.now);
                let at = free + self.rng.random_range(0..3);
                self.disk_free_at.insert(id, at);
                self.schedule(
                    at - self.now,
                    Due::Disk {
                        on: id,
                        start,
                        id: io,
                        op,
                    },
                );
            }
            Output::WakeAt(at) => {
                let input = Input::Tick;
                self.schedule(
                    at.saturating_sub(self.now),
                    Due::Step {
                        to: id,
                        start,
                        input,
                    },
                );
            }
            Output::Event(Event::Fatal(what)) => return Err(format!("node {id}: {what}")),
            Output::Event(_) | Output::Close { .. } => {}
        }
        Ok(())
    }

    /// Over the network: delayed, and lost where a cut lies between.
    fn deliver(&mut self, from: NodeId, to: NodeId, input: Input) {
        if self.cuts.contains(&(from, to)) || !self.nodes.contains_key(&to) {
            return;
        }
        let slow = self.faults && self.rng.random_ratio(1, 50);
        let delay = if slow {
            self.rng.random_range(20..200)
        } else {
            self.rng.random_range(0..4)
        };
        let start = self.starts[&to];
        self.schedule(delay, Due::Step { to, start, input });
    }

    fn fail_call(&mut self, key: (NodeId, u64, CallId), how: Broken) {
        if self.open_calls.remove(&key) {
            let (to, start, call) = key;
            let input = Input::Reply {
                call,
                result: Err(how),
            };
            self.schedule(0, Due::Step { to, start, input });
        }
    }

    fn on_answer(
        &mut self,
        from: NodeId,
        conn: ConnId,
        body: Option<Response>,
    ) -> Result<(), String> {
        match (self.askers.remove(&conn), body) {
            (Some(Asker::Node { node, start, call }), Some(Response::Peer(response)))
                if !self.cuts.contains(&(from, node))
                    && self.open_calls.remove(&(node, start, call)) =>
            {
                let input = Input::Reply {
                    call,
                    result: Ok(response),
                };
                let delay = self.rng.random_range(0..4);
                let to = node;
                self.schedule(delay, Due::Step { to, start, input });
            }
            (
                Some(Asker::Producer {
                    tp,
                    acks: -1,
                    value,
                }),
                Some(Response::Client(ClientResponse::Produce(results))),
            ) if results[0].error.is_none() => {
                self.invariants.acked(tp, results[0].base_offset, value);
            }
            (Some(Asker::Consumer), Some(Response::Client(ClientResponse::Fetch(answer)))) => {
                for partition in answer.partitions {
                    let tp = partition.tp;
                    for (header, bytes) in batch::batches(&partition.records).map(Result::unwrap) {
                        for record in batch::records(&header, &bytes) {
                            self.invariants
                                .read(&tp, record.offset, &record.value.unwrap())?;
                        }
                    }
                }
            }
            (
                Some(Asker::Creator),
                Some(Response::Client(ClientResponse::CreateTopics(results))),
            ) => {
                assert_eq!(
                    results[0].error,
                    ErrorCode::NONE,
                    "{:?}",
                    results[0].message
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn ask(&mut self, node: NodeId, asker: Asker, request: ClientRequest) {
        self.next_conn += 1;
        let conn = self.next_conn;
        self.askers.insert(conn, asker);
        if let Some(start) = self.starts.get(&node).copied() {
            let input = Input::Request {
                conn,
                id: 1,
                body: Request::Client(request),
            };
            self.schedule(
                0,
                Due::Step {
                    to: node,
                    start,
                    input,
                },
            );
        }
    }

    /// A send to whoever takes itself for the leader, or a read from anyone.
    fn client_op(&mut self) {
        if !self.faults {
            return;
        }
        let delay = self.rng.random_range(1..15);
        self.schedule(delay, Due::Client);
        let tp = TopicPartition::new(TOPIC, self.rng.random_range(0..PARTITIONS));
        if self.rng.random_ratio(1, 4) {
            let node = self.rng.random_range(NODES);
            let request = read_from(&tp, self.rng.random_range(0..20));
            self.ask(node, Asker::Consumer, ClientRequest::Fetch(request));
            return;
        }
        let leads = |node: &Node| {
            node.replicas()
                .get(&tp)
                .is_some_and(|replica| replica.is_leader())
        };
        let leaders: Vec<NodeId> = self
            .nodes
            .iter()
            .filter(|(_, node)| leads(node))
            .map(|(id, _)| *id)
            .collect();
        if leaders.is_empty() {
            return;
        }
        let leader = leaders[self.rng.random_range(0..leaders.len())];
        let acks = if self.rng.random_ratio(1, 4) { 1 } else { -1 };
        self.next_value += 1;
        let value = Bytes::from(self.next_value.to_string());
        let request = ProduceRequest {
            acks,
            timeout_ms: 1_000,
            partitions: vec![(tp.clone(), BatchBuilder::plain(0).build(&[&value]))],
        };
        self.ask(
            leader,
            Asker::Producer { tp, acks, value },
            ClientRequest::Produce(request),
        );
    }

    fn fault(&mut self) {
        if !self.faults {
            return;
        }
        let delay = self.rng.random_range(50..600);
        self.schedule(delay, Due::Fault);
        let (a, b) = (self.rng.random_range(NODES), self.rng.random_range(NODES));
        match self.rng.random_range(0..6) {
            0 | 1 => self.crash(a),
            2 => {
                self.cuts.insert((a, b));
            }
            3 => {
                for other in NODES {
                    self.cuts.insert((a, other));
                    self.cuts.insert((other, a));
                }
                self.cuts.remove(&(a, a));
            }
            _ => self.cuts.clear(),
        }
    }

    fn crash(&mut self, node: NodeId) {
        if self.nodes.remove(&node).is_some() {
            let delay = self.rng.random_range(10..1_500);
            self.schedule(delay, Due::Restart { node });
            self.invariants.forget(node);
        }
    }

    fn start(&mut self, id: NodeId) {
        let power_loss = self.plan.flush_every_batch && self.starts.contains_key(&id);
        let recovered = self.disks.get_mut(&id).unwrap().recover(power_loss);
        let start = self.starts.get(&id).copied().unwrap_or(0) + 1;
        self.starts.insert(id, start);
        self.disk_free_at.remove(&id);
        let config = NodeConfig {
            node_id: id,
            controllers: NODES
                .map(|id| (id, format!("{id}:controller").into()))
                .collect(),
            is_broker: true,
            client_addr: format!("{id}:9092").into(),
            replication_addr: format!("{id}:replication").into(),
            incarnation: start,
            seed: self.rng.random(),
            timers: timers(),
            replica_lag_max_messages: None,
            topic_defaults: TopicDefaults::default(),
            bugs: self.plan.bugs.clone(),
        };
        let now = Now {
            mono_ms: self.now,
            wall_ms: 0,
        };
        self.nodes.insert(id, Node::new(config, recovered, now));
        self.schedule(
            0,
            Due::Step {
                to: id,
                start,
                input: Input::Tick,
            },
        );
    }

    fn heal(&mut self) {
        self.faults = false;
        self.cuts.clear();
        for node in NODES {
            self.schedule(0, Due::Restart { node });
        }
    }

    /// Every replica alike, everything committed, every ISR full.
    fn is_well(&self) -> bool {
        let state = |node: NodeId, tp: &TopicPartition| {
            self.nodes
                .get(&node)
                .and_then(|node| node.replicas().get(tp))
                .map(|replica| replica.state())
        };
        (0..PARTITIONS).all(|partition| {
            let tp = TopicPartition::new(TOPIC, partition);
            let states: Vec<_> = NODES.filter_map(|node| state(node, &tp)).collect();
            let Some(first) = states.first() else {
                return false;
            };
            states.len() == 3
                && states.iter().filter(|state| state.role == "leader").count() == 1
                && states.iter().all(|state| {
                    state.isr.len() == 3
                        && state.hw == state.leo
                        && state.leo == first.leo
                        && state.leader_epoch == first.leader_epoch
                })
        })
    }

    fn describe(&self) -> String {
        let states: Vec<_> = self
            .nodes
            .iter()
            .flat_map(|(id, node)| {
                node.replicas()
                    .values()
                    .map(move |replica| (id, replica.state()))
            })
            .map(|(id, state)| {
                format!(
                    "node {id} p{} {} of {} epoch {}.{} LEO {} HW {} ISR {:?}",
                    state.partition,
                    state.role,
                    state.leader,
                    state.leader_epoch,
                    state.partition_epoch,
                    state.leo,
                    state.hw,
                    state.isr
                )
            })
            .collect();
        states.join("; ")
    }
}

fn read_from(tp: &TopicPartition, offset: i64) -> FetchRequest {
    FetchRequest {
        follower: None,
        any_replica: true,
        max_wait_ms: 100,
        max_bytes: 10_000,
        partitions: vec![FetchPartition {
            tp: tp.clone(),
            topic_id: 0,
            current_leader_epoch: -1,
            fetch_offset: offset,
            last_fetched_epoch: -1,
            max_bytes: 10_000,
            high_watermark: -1,
        }],
    }
}

fn timers() -> Timers {
    Timers {
        replica_lag_time_max_ms: 400,
        session_timeout_ms: 300,
        heartbeat_interval_ms: 60,
        election_timeout_ms: 120,
        raft_heartbeat_ms: 30,
        fetch_wait_max_ms: 80,
        request_timeout_ms: 200,
        checkpoint_interval_ms: 500,
        tick_ms: 10,
    }
}
