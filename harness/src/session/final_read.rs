//! The final read: every replica of every partition from its first offset,
//! until it shows the acknowledged barrier.

use super::config::key;
use super::endgame::{FinalRead, Open, RETRY_NS};
use super::messages::{ClientId, Command, NodeIndex};
use super::phase::Phase;
use super::timers::TimerKind;
use super::{Out, Reply, Session, record};
use crate::clients::{Fetch, Request, Response, outcome};

const READ_WAIT_MS: i32 = 100;
const READ_BYTES: i32 = 1024 * 1024;
const READ_TIMEOUT_MS: u64 = 3000;

impl Session {
    pub(super) fn start_final_reads(&mut self, out: Out<'_>) {
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
    pub(super) fn read_on(&mut self, client: ClientId, out: Out<'_>) {
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

    pub(super) fn final_name(&self, partition: i32, node: NodeIndex) -> String {
        let key = key(&self.config.topic.name, partition);
        format!("final-{}-{key}", self.cluster.name(node))
    }

    pub(super) fn final_reply(
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

    pub(super) fn read_to(&mut self, client: ClientId, partition: i32, next: i64, out: Out<'_>) {
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
}
