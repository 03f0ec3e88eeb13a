//! Barriers: a record in each partition with acks=all, sent again until one is
//! acknowledged; any copy is legal. Replicas are compared below it.

use plimsoll_checkers::history::{OpType, Outcome};

use super::config::key;
use super::endgame::{Open, RETRY_NS};
use super::messages::{ClientId, Command, NodeIndex};
use super::timers::TimerKind;
use super::{Out, Reply, Session, record};
use crate::clients::{Produce, Request, Response, outcome};

const BARRIER_TIMEOUT_MS: i32 = 3000;
const ACKS_ALL: i16 = -1;

impl Session {
    pub(super) fn send_barrier(&mut self, partition: i32, out: Out<'_>) {
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

    pub(super) fn record_barrier(
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

    pub(super) fn barrier_reply(
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
}

/// Barriers are negative, so that no workload ever sends one.
fn barrier_value(partition: i32) -> i64 {
    -i64::from(partition) - 1
}
