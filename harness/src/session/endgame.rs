//! The end of a run: wait until every broker names the same leader and epoch
//! with a full ISR twice, a second apart; append a barrier to each partition;
//! read every replica until it shows the barrier. All of it is bounded by the
//! settle limit; what was not reached by then stays unverified.

use std::collections::BTreeMap;

use plimsoll_checkers::history::OpType;

use super::cluster::Agreement;
use super::messages::{ClientId, Command, NodeIndex};
use super::phase::Phase;
use super::{Out, Reply, Session, record};

const MS: u64 = 1_000_000;
pub(super) const RETRY_NS: u64 = 100 * MS;

/// A barrier or a final reader that has an op open.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) process: u64,
    pub(super) node: NodeIndex,
    pub(super) leader_epoch: i32,
}

/// One replica being read to its end.
#[derive(Clone, Debug, Default)]
pub(super) struct FinalRead {
    pub(super) position: i64,
    pub(super) done: bool,
    pub(super) process: Option<u64>,
}

/// What the last phases remember.
#[derive(Debug, Default)]
pub struct Endgame {
    pub(super) deadline_ns: u64,
    pub(super) settled: bool,
    pub(super) stable: Option<(u64, Agreement)>,
    pub(super) barriers: BTreeMap<i32, i64>,
    pub(super) reads: BTreeMap<ClientId, FinalRead>,
    pub(super) open: BTreeMap<ClientId, Open>,
}

impl Endgame {
    pub fn begin(&mut self, deadline_ns: u64) {
        self.deadline_ns = deadline_ns;
    }
}

impl Session {
    pub(super) fn partitions(&self) -> usize {
        usize::try_from(self.config.topic.partitions).unwrap_or(0)
    }

    pub(super) fn barrier_client(&self, partition: i32) -> ClientId {
        self.setup_client() + 1 + usize::try_from(partition).unwrap_or(0)
    }

    pub(super) fn read_client(&self, partition: i32, node: NodeIndex) -> ClientId {
        let first = self.setup_client() + 1 + self.partitions();
        first + usize::try_from(partition).unwrap_or(0) * self.config.nodes.len() + node
    }

    pub(super) fn client_count(&self) -> usize {
        self.setup_client() + 1 + self.partitions() * (1 + self.config.nodes.len())
    }

    /// The partition of a client of the endgame, and the node where it reads one.
    pub(super) fn purpose(&self, client: ClientId) -> (i32, Option<NodeIndex>) {
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

    pub(super) fn current_leader(&self, partition: i32) -> Option<(NodeIndex, i32)> {
        let view = self.cluster.agreement();
        let agreed = view.get(&partition).or_else(|| {
            self.endgame
                .stable
                .as_ref()
                .and_then(|(_, before)| before.get(&partition))
        })?;
        Some((self.cluster.node_of_id(agreed.leader)?, agreed.leader_epoch))
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

    pub(super) fn give_up_settling(&mut self, out: Out<'_>) {
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
