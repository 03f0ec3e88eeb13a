//! Consumers: each read names its offset and its replica. A position moves
//! only by what was read; it is never reset, for a reset would hide a loss.

use plimsoll_checkers::history::ReadInfo;

use super::config::key;
use super::messages::{Command, NodeIndex};
use super::worker::{PollOp, State};
use super::{Out, Reply, Session, record};
use crate::clients::{Fetch, Request, Response, outcome};
use crate::workload::ReadFrom;

/// How long a broker may hold a read that has nothing to give.
const MAX_WAIT_MS: i32 = 50;
const MAX_BYTES: i32 = 64 * 1024;
const READ_TIMEOUT_MS: u64 = 1500;

impl Session {
    pub(super) fn start_poll(
        &mut self,
        worker: usize,
        partition: i32,
        from: ReadFrom,
        out: Out<'_>,
    ) {
        let target = self.read_target(worker, partition, from);
        let node = target.map(|(node, _)| self.cluster.name(node).to_owned());
        let offset = self.workers[worker]
            .positions
            .get(&partition)
            .copied()
            .unwrap_or(0);
        let key = key(&self.config.topic.name, partition);
        let line = record::poll_invoke(&self.actor(worker, node.as_deref()), &key, offset);
        out.push(Command::Record(Box::new(line)));
        let Some((node, leader_epoch)) = target else {
            return self.fail_poll(worker, None, "no replica is known here".to_owned(), out);
        };
        let offset = self.workers[worker]
            .positions
            .get(&partition)
            .copied()
            .unwrap_or(0);
        self.workers[worker].state = State::Polling(PollOp {
            partition,
            from: offset,
            node,
            leader_epoch,
        });
        let (max_wait_ms, max_bytes) = (MAX_WAIT_MS, MAX_BYTES);
        let request = Request::Fetch(Fetch {
            partition,
            offset,
            leader_epoch,
            max_wait_ms,
            max_bytes,
        });
        out.push(Command::Send {
            client: worker,
            node,
            request,
            timeout_ms: READ_TIMEOUT_MS,
        });
    }

    fn read_target(
        &self,
        worker: usize,
        partition: i32,
        from: ReadFrom,
    ) -> Option<(NodeIndex, i32)> {
        let side = &self.sides[self.workers[worker].side];
        let known = side.partition(partition)?;
        let id = match from {
            ReadFrom::Leader => side.leader(partition)?.0,
            ReadFrom::Any(pick) => {
                let count = u64::try_from(known.replicas.len())
                    .ok()
                    .filter(|c| *c > 0)?;
                *known.replicas.get(usize::try_from(pick % count).ok()?)?
            }
        };
        Some((self.cluster.node_of_id(id)?, known.leader_epoch))
    }

    pub(super) fn poll_reply(&mut self, worker: usize, op: PollOp, result: Reply, out: Out<'_>) {
        let fetched = match result {
            Ok(Response::Fetched { code: 0, fetched }) => fetched,
            Ok(Response::Fetched { code, .. }) => {
                if code != 1 {
                    self.want_refresh(self.workers[worker].side);
                }
                return self.fail_poll(worker, Some(op.node), outcome::name(code), out);
            }
            Ok(_) => {
                let error = "an answer of another kind".to_owned();
                return self.fail_poll(worker, Some(op.node), error, out);
            }
            Err(broken) => {
                self.want_refresh(self.workers[worker].side);
                return self.fail_poll(worker, Some(op.node), broken.text().to_owned(), out);
            }
        };
        self.workers[worker]
            .positions
            .insert(op.partition, fetched.next_offset);
        let read = self.read_info(op.node, op.from, op.leader_epoch, &fetched, false);
        let node = self.cluster.name(op.node);
        let key = key(&self.config.topic.name, op.partition);
        let line = record::poll_ok(&self.actor(worker, Some(node)), &key, fetched, read);
        out.push(Command::Record(Box::new(line)));
        self.stats.reads += 1;
        self.make_free(worker, out);
    }

    pub(super) fn fail_poll(
        &mut self,
        worker: usize,
        node: Option<NodeIndex>,
        error: String,
        out: Out<'_>,
    ) {
        let node = node.map(|node| self.cluster.name(node));
        let line = record::poll_fail(&self.actor(worker, node), error);
        out.push(Command::Record(Box::new(line)));
        self.workers[worker].state = State::Resting;
        self.rest(worker);
    }

    pub(super) fn read_info(
        &self,
        node: NodeIndex,
        from: i64,
        leader_epoch: i32,
        fetched: &crate::clients::Fetched,
        is_final: bool,
    ) -> ReadInfo {
        ReadInfo {
            from,
            hw: fetched.high_watermark,
            log_start: fetched.log_start,
            replica: self.cluster.node(node).map_or(-1, |node| node.id),
            incarnation: self.cluster.incarnation(node),
            leader_epoch,
            is_final,
        }
    }
}
