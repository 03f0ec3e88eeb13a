//! The end of a run: wait until every broker names the same leader and epoch
//! with a full ISR twice, a second apart; append a barrier to each partition;
//! read every replica until it shows the barrier. All of it is bounded by the
//! settle limit; what was not reached by then stays unverified.

use std::collections::BTreeMap;

use plimsoll_checkers::history::{OpType, Outcome};
use serde_json::json;

use super::cluster::Agreement;
use super::config::key;
use super::messages::{ClientId, Command, NodeIndex};
use super::phase::Phase;
use super::timers::TimerKind;
use super::{Out, Reply, Session, record};
use crate::clients::{Fetch, Produce, Request, Response, outcome};

const MS: u64 = 1_000_000;
/// Two polls that agree must be this far apart.
const STABLE_NS: u64 = 1000 * MS;
const RETRY_NS: u64 = 100 * MS;
const BARRIER_TIMEOUT_MS: i32 = 3000;
const READ_WAIT_MS: i32 = 100;
const READ_BYTES: i32 = 1024 * 1024;
const READ_TIMEOUT_MS: u64 = 3000;
const ACKS_ALL: i16 = -1;

/// A barrier or a final reader that has an op open.
#[derive(Clone, Debug)]
struct Open {
    process: u64,
    node: NodeIndex,
    leader_epoch: i32,
}

/// One replica being read to its end.
#[derive(Clone, Debug, Default)]
struct FinalRead {
    position: i64,
    done: bool,
    process: Option<u64>,
}

/// What the last phases remember.
#[derive(Debug, Default)]
pub struct Endgame {
    deadline_ns: u64,
    settled: bool,
    stable: Option<(u64, Agreement)>,
    barriers: BTreeMap<i32, i64>,
    reads: BTreeMap<ClientId, FinalRead>,
    open: BTreeMap<ClientId, Open>,
}

impl Endgame {
    pub fn begin(&mut self, deadline_ns: u64) {
        self.deadline_ns = deadline_ns;
    }
}

impl Session {
    fn partitions(&self) -> usize {
        usize::try_from(self.config.topic.partitions).unwrap_or(0)
    }

    fn barrier_client(&self, partition: i32) -> ClientId {
        self.setup_client() + 1 + usize::try_from(partition).unwrap_or(0)
    }

    fn read_client(&self, partition: i32, node: NodeIndex) -> ClientId {
        let first = self.setup_client() + 1 + self.partitions();
        first + usize::try_from(partition).unwrap_or(0) * self.config.nodes.len() + node
    }

    pub(super) fn client_count(&self) -> usize {
        self.setup_client() + 1 + self.partitions() * (1 + self.config.nodes.len())
    }

    /// The partition of a client of the endgame, and the node where it reads one.
    fn purpose(&self, client: ClientId) -> (i32, Option<NodeIndex>) {
        let first_barrier = self.setup_client() + 1;
        let first_read = first_barrier + self.partitions();
        let nodes = self.config.nodes.len().max(1);
        let (partition, node) = if client < first_read {
            (client - first_barrier, None)
        } else {
            (
                (client - first_read) / nodes,
                Some((client - first_read) % nodes),
            )
        };
        (i32::try_from(partition).unwrap_or(0), node)
    }

    /// Looks whether the cluster has settled, at each poll of a node.
    pub(super) fn settle(&mut self, out: Out<'_>) {
        if self.phase != Phase::Settle || self.endgame.settled {
            return;
        }
        let agreement = self.cluster.agreement();
        let oldest = self.cluster.oldest_report_ns();
        let (Some(oldest), true) = (oldest, agreement.len() == self.partitions()) else {
            self.endgame.stable = None;
            return;
        };
        match &self.endgame.stable {
            Some((since, before)) if *before == agreement => {
                if oldest >= since + STABLE_NS {
                    self.settled(out);
                }
            }
            _ => self.endgame.stable = Some((self.now_ns, agreement)),
        }
    }

    fn settled(&mut self, out: Out<'_>) {
        self.endgame.settled = true;
        let value = json!({ "settled": true, "unsettled": [], "two_leaders": [] });
        out.push(Command::Record(Box::new(record::nemesis("settled", value))));
        for partition in 0..self.config.topic.partitions {
            self.send_barrier(partition, out);
        }
    }

    /// The time is up: says what is not settled, and who still claims to lead.
    fn not_settled(&mut self, out: Out<'_>) {
        let agreement = self.cluster.agreement();
        let keys = self.keys().into_iter().zip(0..);
        let unsettled: Vec<String> = keys
            .filter(|(_, p)| !agreement.contains_key(p))
            .map(|(key, _)| key)
            .collect();
        let value = json!({ "settled": false, "unsettled": unsettled,
            "two_leaders": self.cluster.older_leaders() });
        out.push(Command::Record(Box::new(record::nemesis("settled", value))));
    }

    fn current_leader(&self, partition: i32) -> Option<(NodeIndex, i32)> {
        let view = self.cluster.agreement();
        let agreed = view.get(&partition).or_else(|| {
            self.endgame
                .stable
                .as_ref()
                .and_then(|(_, before)| before.get(&partition))
        })?;
        Some((self.cluster.node_of_id(agreed.leader)?, agreed.leader_epoch))
    }

    fn send_barrier(&mut self, partition: i32, out: Out<'_>) {
        let client = self.barrier_client(partition);
        let Some((node, leader_epoch)) = self.current_leader(partition) else {
            return self
                .timers
                .set(TimerKind::Client(client), self.now_ns + RETRY_NS);
        };
        let process = self.take_process();
        self.endgame.open.insert(
            client,
            Open {
                process,
                node,
                leader_epoch,
            },
        );
        self.record_barrier(partition, process, node, OpType::Invoke, (None, None), out);
        let request = Request::Produce(Produce {
            partition,
            value: barrier_value(partition),
            acks: ACKS_ALL,
            timeout_ms: BARRIER_TIMEOUT_MS,
            sequence: None,
        });
        let timeout_ms = u64::try_from(BARRIER_TIMEOUT_MS).unwrap_or(0) + 500;
        out.push(Command::Send {
            client,
            node,
            request,
            timeout_ms,
        });
    }

    fn record_barrier(
        &self,
        partition: i32,
        process: u64,
        node: NodeIndex,
        kind: OpType,
        (offset, error): (Option<i64>, Option<String>),
        out: Out<'_>,
    ) {
        let key = key(&self.config.topic.name, partition);
        let client = format!("barrier-{key}");
        let node = self.cluster.name(node);
        let actor = record::Actor {
            process,
            client: &client,
            node: Some(node),
        };
        let value = barrier_value(partition);
        let mut line = record::send(&actor, kind, "barrier", &key, value, offset);
        line.acks = Some(ACKS_ALL);
        line.error = error;
        out.push(Command::Record(Box::new(line)));
    }

    pub(super) fn endgame_reply(&mut self, client: ClientId, result: Reply, out: Out<'_>) {
        let Some(open) = self.endgame.open.remove(&client) else {
            return;
        };
        match self.purpose(client) {
            (partition, None) => self.barrier_reply(client, partition, &open, result, out),
            (partition, Some(node)) => {
                self.final_reply(client, partition, node, &open, result, out);
            }
        }
    }

    fn barrier_reply(
        &mut self,
        client: ClientId,
        partition: i32,
        open: &Open,
        result: Reply,
        out: Out<'_>,
    ) {
        let (outcome, offset, error) = match result {
            Ok(Response::Produced { code: 0, offset }) => (Outcome::Ok, Some(offset), None),
            Ok(Response::Produced { code, .. }) => (
                outcome::of_produce(code, ACKS_ALL),
                None,
                Some(outcome::name(code)),
            ),
            Ok(_) => (
                Outcome::Info,
                None,
                Some("an answer of another kind".to_owned()),
            ),
            Err(broken) => (
                outcome::of_broken(&broken),
                None,
                Some(broken.text().to_owned()),
            ),
        };
        let kind = record::kind_of(outcome);
        self.record_barrier(
            partition,
            open.process,
            open.node,
            kind,
            (offset, error),
            out,
        );
        match offset {
            Some(offset) => {
                self.endgame.barriers.insert(partition, offset);
                if self.endgame.barriers.len() == self.partitions() {
                    self.start_final_reads(out);
                }
            }
            None => self
                .timers
                .set(TimerKind::Client(client), self.now_ns + RETRY_NS),
        }
    }

    fn start_final_reads(&mut self, out: Out<'_>) {
        self.enter(Phase::FinalRead, out);
        let agreement = match &self.endgame.stable {
            Some((_, agreement)) => agreement.clone(),
            None => self.cluster.agreement(),
        };
        for (partition, agreed) in agreement {
            for node in agreed
                .replicas
                .iter()
                .filter_map(|id| self.cluster.node_of_id(*id))
            {
                let client = self.read_client(partition, node);
                self.endgame.reads.insert(client, FinalRead::default());
            }
        }
        let clients: Vec<ClientId> = self.endgame.reads.keys().copied().collect();
        for client in clients {
            self.read_on(client, out);
        }
    }

    /// Reads the next stretch of one replica.
    fn read_on(&mut self, client: ClientId, out: Out<'_>) {
        let (partition, Some(node)) = self.purpose(client) else {
            return;
        };
        let Some((_, leader_epoch)) = self.current_leader(partition) else {
            return self
                .timers
                .set(TimerKind::Client(client), self.now_ns + RETRY_NS);
        };
        let known = self.endgame.reads.get(&client).cloned().unwrap_or_default();
        let process = known.process.unwrap_or_else(|| self.take_process());
        if let Some(read) = self.endgame.reads.get_mut(&client) {
            read.process = Some(process);
        }
        self.endgame.open.insert(
            client,
            Open {
                process,
                node,
                leader_epoch,
            },
        );
        let name = self.final_name(partition, node);
        let key = key(&self.config.topic.name, partition);
        let node_name = self.cluster.name(node);
        let actor = record::Actor {
            process,
            client: &name,
            node: Some(node_name),
        };
        out.push(Command::Record(Box::new(record::poll_invoke(
            &actor,
            &key,
            known.position,
        ))));
        let request = Request::Fetch(Fetch {
            partition,
            offset: known.position,
            leader_epoch,
            max_wait_ms: READ_WAIT_MS,
            max_bytes: READ_BYTES,
        });
        out.push(Command::Send {
            client,
            node,
            request,
            timeout_ms: READ_TIMEOUT_MS,
        });
    }

    fn final_name(&self, partition: i32, node: NodeIndex) -> String {
        let key = key(&self.config.topic.name, partition);
        format!("final-{}-{key}", self.cluster.name(node))
    }

    fn final_reply(
        &mut self,
        client: ClientId,
        partition: i32,
        node: NodeIndex,
        open: &Open,
        result: Reply,
        out: Out<'_>,
    ) {
        let name = self.final_name(partition, node);
        let node_name = self.cluster.name(node).to_owned();
        let actor = record::Actor {
            process: open.process,
            client: &name,
            node: Some(&node_name),
        };
        let error = match result {
            Ok(Response::Fetched { code: 0, fetched }) => {
                let from = self
                    .endgame
                    .reads
                    .get(&client)
                    .map_or(0, |read| read.position);
                let info = self.read_info(node, from, open.leader_epoch, &fetched, true);
                let next = fetched.next_offset;
                let key = key(&self.config.topic.name, partition);
                let line = record::poll_ok(&actor, &key, fetched, info);
                out.push(Command::Record(Box::new(line)));
                return self.read_to(client, partition, next, out);
            }
            Ok(Response::Fetched { code, .. }) => outcome::name(code),
            Ok(_) => "an answer of another kind".to_owned(),
            Err(broken) => broken.text().to_owned(),
        };
        out.push(Command::Record(Box::new(record::poll_fail(&actor, error))));
        self.timers
            .set(TimerKind::Client(client), self.now_ns + RETRY_NS);
    }

    fn read_to(&mut self, client: ClientId, partition: i32, next: i64, out: Out<'_>) {
        let barrier = self
            .endgame
            .barriers
            .get(&partition)
            .copied()
            .unwrap_or(i64::MAX);
        if let Some(read) = self.endgame.reads.get_mut(&client) {
            read.position = next;
            read.done = next > barrier;
            if !read.done && self.now_ns < self.endgame.deadline_ns {
                self.read_on(client, out);
            }
        }
    }

    pub(super) fn endgame_timer(&mut self, client: ClientId, out: Out<'_>) {
        if self.now_ns >= self.endgame.deadline_ns {
            return;
        }
        match (self.phase, self.purpose(client)) {
            (Phase::Settle, (partition, None)) => self.send_barrier(partition, out),
            (Phase::FinalRead, (_, Some(_))) => self.read_on(client, out),
            _ => {}
        }
    }

    /// Ends the run when every replica is read, or when the time is up.
    pub(super) fn advance_endgame(&mut self, out: Out<'_>) {
        let reads = &self.endgame.reads;
        let complete = self.phase == Phase::FinalRead && reads.values().all(|read| read.done);
        if !complete {
            if self.now_ns < self.endgame.deadline_ns {
                return;
            }
            self.give_up_settling(out);
        }
        self.enter(Phase::Done, out);
        out.push(Command::Finished);
    }

    fn give_up_settling(&mut self, out: Out<'_>) {
        let limit = "the settle limit was reached".to_owned();
        for (client, open) in std::mem::take(&mut self.endgame.open) {
            match self.purpose(client) {
                (partition, None) => {
                    let ended = (None, Some(limit.clone()));
                    self.record_barrier(
                        partition,
                        open.process,
                        open.node,
                        OpType::Info,
                        ended,
                        out,
                    );
                }
                (partition, Some(node)) => {
                    let name = self.final_name(partition, node);
                    let node = Some(self.cluster.name(node));
                    let actor = record::Actor {
                        process: open.process,
                        client: &name,
                        node,
                    };
                    let line = record::poll_fail(&actor, limit.clone());
                    out.push(Command::Record(Box::new(line)));
                }
            }
        }
        if !self.endgame.settled {
            self.not_settled(out);
        }
    }
}

/// Barriers are negative, so that no workload ever sends one.
fn barrier_value(partition: i32) -> i64 {
    -i64::from(partition) - 1
}
