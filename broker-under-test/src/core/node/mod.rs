//! One node: Raft, the controller while it leads the quorum, and the replicas. It only routes.
//!
//! [`Node::step`] is the whole interface. Everything that waits (long polls, acks=all, answers
//! that wait for a commit) waits here, keyed and with a deadline.

mod admin;
mod changes;
mod configs;
mod describe;
mod fetch;
mod lifecycle;
mod metadata;
mod produce;
mod quorum;
mod replicas;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use self::changes::Change;
use self::fetch::Fetches;
use self::lifecycle::Lifecycle;
use self::produce::Produces;
use self::quorum::Observer;
use super::config::NodeConfig;
use super::controller::Controller;
use super::errors::ErrorCode;
use super::ids::{Addr, CallId, ConnId, IoId, NodeId, Now, RequestId, TopicId, TopicPartition};
use super::messages::describe::DescribeLogDirsRequest;
use super::messages::peer::{Entry, VoteRequest};
use super::messages::{ClientRequest, PeerRequest, PeerResponse, Request, Response};
use super::metadata::Image;
use super::raft::{HardState, Raft, RaftTimers};
use super::replica::{Context, RecoveredLog, Replica};
use super::seam::{Broken, Done, Event, Input, MetaKey, Op, Output};

/// What a node's disk held at the start.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// Raft's term and vote.
    pub hard_state: HardState,
    /// The Raft log.
    pub entries: Vec<Entry>,
    /// The replicas' logs.
    pub logs: BTreeMap<TopicPartition, RecoveredLog>,
}

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asker {
    conn: ConnId,
    id: RequestId,
}

/// What a call to a peer was for.
#[derive(Clone, Debug)]
enum CallContext {
    Vote { to: NodeId, request: VoteRequest },
    Append { to: NodeId, term: u64 },
    Observe { asked: NodeId },
    Register { asked: NodeId },
    Heartbeat { asked: NodeId },
    ProducerIds { asked: NodeId },
    Change { change: u64 },
    Alter { of: ReplicaId, made_on: (i32, i32) },
    Fetch { of: ReplicaId, attempt: u64 },
}

/// What a storage operation was for.
#[derive(Clone, Debug)]
enum IoContext {
    HardState {
        version: u64,
    },
    Quorum {
        last: u64,
        generation: u64,
    },
    Checkpoint,
    Append {
        of: ReplicaId,
    },
    Truncate {
        of: ReplicaId,
    },
    /// A replica's log is begun, or removed.
    Replica,
    LogSizes {
        asker: Asker,
        request: DescribeLogDirsRequest,
    },
    Read {
        fetch: u64,
    },
    AdminRead {
        asker: Asker,
        leo: i64,
        hw: i64,
    },
}

/// A replica, told from one of an earlier topic of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReplicaId {
    tp: TopicPartition,
    topic_id: TopicId,
}

/// One node.
#[derive(Debug)]
pub struct Node {
    config: NodeConfig,
    raft: Option<Raft>,
    controller: Option<Controller>,
    observer: Observer,
    lifecycle: Lifecycle,
    image: Image,
    replicas: BTreeMap<TopicPartition, Replica>,
    recovered: BTreeMap<TopicPartition, RecoveredLog>,
    askers: BTreeMap<u64, Asker>,
    produces: Produces,
    fetches: Fetches,
    changes: BTreeMap<u64, Change>,
    calls: BTreeMap<CallId, CallContext>,
    ios: BTreeMap<IoId, IoContext>,
    next_id: u64,
    next_checkpoint_ms: u64,
    now: Now,
    /// No storage operation is to be trusted after one has failed.
    failed: bool,
}

impl Node {
    /// A node with what its disk held. It acts first at its first [`Input::Tick`].
    #[must_use]
    pub fn new(config: NodeConfig, recovered: Recovered, now: Now) -> Self {
        let timers = RaftTimers {
            election_timeout_ms: config.timers.election_timeout_ms,
            heartbeat_ms: config.timers.raft_heartbeat_ms,
        };
        let voters: BTreeSet<NodeId> = config.controllers.keys().copied().collect();
        let seed = config.seed ^ u64::try_from(config.node_id).unwrap_or(0);
        let raft = config.is_controller().then(|| {
            Raft::new(
                config.node_id,
                voters,
                timers,
                recovered.hard_state,
                recovered.entries,
                seed,
                now.mono_ms,
            )
        });
        Self {
            raft,
            controller: None,
            observer: Observer::default(),
            lifecycle: Lifecycle::default(),
            image: Image::default(),
            replicas: BTreeMap::new(),
            recovered: recovered.logs,
            askers: BTreeMap::new(),
            produces: Produces::default(),
            fetches: Fetches::default(),
            changes: BTreeMap::new(),
            calls: BTreeMap::new(),
            ios: BTreeMap::new(),
            next_id: 0,
            next_checkpoint_ms: now.mono_ms + config.timers.checkpoint_interval_ms,
            now,
            failed: false,
            config,
        }
    }

    /// Takes one input and says what is to be done about it.
    pub fn step(&mut self, now: Now, input: Input, out: &mut Vec<Output>) {
        self.now = now;
        if self.failed {
            return;
        }
        match input {
            Input::Request { conn, id, body } => self.on_request(Asker { conn, id }, body, out),
            Input::Reply { call, result } => self.on_reply(call, result, out),
            Input::Io { id, done } => self.on_io(id, done, out),
            Input::Disconnected { conn } => self.forget_connection(conn),
            Input::Tick => self.tick(out),
            Input::Stop => self.stop(out),
        }
    }

    /// The replicas of this node, for tests and the simulation.
    #[must_use]
    pub fn replicas(&self) -> &BTreeMap<TopicPartition, Replica> {
        &self.replicas
    }

    /// The metadata as applied on this node.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    fn on_request(&mut self, asker: Asker, body: Request, out: &mut Vec<Output>) {
        match body {
            Request::Client(ClientRequest::Produce(request)) => self.produce(asker, request, out),
            Request::Client(ClientRequest::Fetch(request)) => {
                self.fetch(asker, false, request, out)
            }
            Request::Client(ClientRequest::ListOffsets(wants)) => {
                self.list_offsets(asker, wants, out);
            }
            Request::Client(ClientRequest::OffsetForLeaderEpoch(queries)) => {
                self.epoch_ends(asker, queries, out);
            }
            Request::Client(ClientRequest::Metadata(request)) => {
                self.metadata(asker, &request, out);
            }
            Request::Client(
                request @ (ClientRequest::CreateTopics(_)
                | ClientRequest::DeleteTopics(_)
                | ClientRequest::AlterConfigs(_)
                | ClientRequest::ElectLeaders(_)),
            ) => self.change(Some(asker), request, out),
            Request::Client(ClientRequest::DescribeConfigs(request)) => {
                self.describe_configs(asker, request, out);
            }
            Request::Client(ClientRequest::DescribeCluster(request)) => {
                self.describe_cluster(asker, request, out);
            }
            Request::Client(ClientRequest::DescribeLogDirs(request)) => {
                self.describe_log_dirs(asker, request, out);
            }
            Request::Client(ClientRequest::InitProducerId) => self.init_producer_id(asker, out),
            Request::Peer(PeerRequest::Fetch(request)) => self.fetch(asker, true, request, out),
            Request::Peer(request) => self.on_quorum_request(asker, request, out),
            Request::Admin(request) => self.on_admin_request(asker, request, out),
        }
    }

    fn on_reply(
        &mut self,
        call: CallId,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        let Some(context) = self.calls.remove(&call) else {
            return;
        };
        match context {
            CallContext::Vote { to, request } => self.on_vote_reply(to, &request, result, out),
            CallContext::Append { to, term } => self.on_append_reply(to, term, result, out),
            CallContext::Observe { asked } => self.on_observe_reply(asked, result, out),
            CallContext::Register { asked } => self.on_register_reply(asked, result, out),
            CallContext::Heartbeat { asked } => self.on_heartbeat_reply(asked, result, out),
            CallContext::ProducerIds { asked } => self.on_producer_ids(asked, result, out),
            CallContext::Change { change } => self.on_changed(change, result, out),
            CallContext::Alter { of, made_on } => self.on_alter_reply(&of, made_on, result, out),
            CallContext::Fetch { of, attempt } => self.on_fetch_reply(&of, attempt, result, out),
        }
    }

    fn on_io(&mut self, id: IoId, done: Done, out: &mut Vec<Output>) {
        let Some(context) = self.ios.remove(&id) else {
            return;
        };
        if let Done::Failed(error) = done {
            self.failed = true;
            let what = format!("storage failed ({context:?}): {error}");
            out.push(Output::Event(Event::Fatal(what)));
            return;
        }
        match context {
            IoContext::HardState { version } => {
                self.with_raft(out, |raft, now, fx| raft.hard_state_saved(version, now, fx));
            }
            IoContext::Quorum { last, generation } => {
                self.with_raft(out, |raft, _, fx| raft.entries_saved(last, generation, fx));
            }
            IoContext::Checkpoint | IoContext::Replica => {}
            IoContext::LogSizes { asker, request } => {
                self.on_log_sizes(asker, &request, done, out);
            }
            IoContext::Append { of } => {
                self.with_same_replica(&of, out, |replica, ctx, fx| replica.on_appended(ctx, fx));
            }
            IoContext::Truncate { of } => {
                let producers = match done {
                    Done::Truncated(producers) => producers,
                    _ => None,
                };
                self.with_same_replica(&of, out, |replica, ctx, fx| {
                    replica.on_truncated(ctx, producers, fx);
                });
            }
            IoContext::Read { fetch } => self.on_read(fetch, done, out),
            IoContext::AdminRead { asker, leo, hw } => {
                self.on_admin_read(asker, leo, hw, done, out);
            }
        }
    }

    fn tick(&mut self, out: &mut Vec<Output>) {
        let now_ms = self.now.mono_ms;
        out.push(Output::WakeAt(now_ms + self.config.timers.tick_ms));
        self.with_raft(out, |raft, now, fx| raft.tick(now, fx));
        self.with_controller(out, |controller, now, fx| controller.tick(now, fx));
        self.tick_observer(out);
        if self.config.is_broker {
            self.tick_lifecycle(out);
            let tps: Vec<TopicPartition> = self.replicas.keys().cloned().collect();
            for tp in tps {
                self.with_replica(&tp, out, |replica, ctx, fx| replica.tick(ctx, fx));
            }
            self.tick_changes(out);
            self.expire_produces(out);
            self.expire_fetches(out);
            if now_ms >= self.next_checkpoint_ms {
                self.next_checkpoint_ms = now_ms + self.config.timers.checkpoint_interval_ms;
                self.checkpoint(out);
            }
        }
    }

    fn checkpoint(&mut self, out: &mut Vec<Output>) {
        let marks: Vec<(&TopicPartition, TopicId, i64)> = self
            .replicas
            .iter()
            .map(|(tp, replica)| (tp, replica.topic_id(), replica.high_watermark()))
            .collect();
        if marks.is_empty() {
            return;
        }
        let bytes = Bytes::from(postcard::to_stdvec(&marks).unwrap_or_default());
        let key = MetaKey::HighWatermarks;
        self.io(IoContext::Checkpoint, Op::SaveMeta { key, bytes }, out);
    }

    fn forget_connection(&mut self, conn: ConnId) {
        self.fetches.forget(conn);
        self.askers.retain(|_, asker| asker.conn != conn);
        self.observer
            .waiting
            .retain(|waiting| waiting.asker.conn != conn);
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn token(&mut self, asker: Asker) -> u64 {
        let token = self.fresh_id();
        self.askers.insert(token, asker);
        token
    }

    fn io(&mut self, context: IoContext, op: Op, out: &mut Vec<Output>) {
        let id = self.fresh_id();
        self.ios.insert(id, context);
        out.push(Output::Io { id, op });
    }

    fn call(
        &mut self,
        to: Addr,
        context: CallContext,
        body: PeerRequest,
        timeout_ms: u64,
        out: &mut Vec<Output>,
    ) {
        let call = self.fresh_id();
        self.calls.insert(call, context);
        out.push(Output::Call {
            to,
            call,
            body,
            timeout_ms,
        });
    }

    /// The leader of the quorum as far as this node knows.
    fn controller_leader(&self) -> Option<NodeId> {
        match &self.raft {
            Some(raft) => raft.leader(),
            None => self.observer.leader,
        }
    }

    /// Whom to ask as the controller: the leader, or on a learner that knows none, one in turn.
    fn controller_to_ask(&mut self) -> Option<(NodeId, Addr)> {
        let node = match (self.controller_leader(), &self.raft) {
            (Some(leader), _) => leader,
            (None, Some(_)) => return None,
            (None, None) => self.observer.next_in_turn(&self.config.controllers)?,
        };
        self.config
            .controllers
            .get(&node)
            .map(|addr| (node, addr.clone()))
    }

    fn context(&self) -> Context<'_> {
        Context {
            now: self.now,
            node: self.config.node_id,
            broker_epoch: self.lifecycle.broker_epoch(),
            timers: &self.config.timers,
            lag_max_messages: self.config.replica_lag_max_messages,
            bugs: &self.config.bugs,
            image: &self.image,
        }
    }

    /// Where a partition is not here: whether it is elsewhere, or nowhere.
    fn not_here(&self, tp: &TopicPartition) -> ErrorCode {
        if self.image.partition(tp).is_some() {
            ErrorCode::NOT_LEADER_OR_FOLLOWER
        } else {
            ErrorCode::UNKNOWN_TOPIC_OR_PARTITION
        }
    }
}

fn reply(asker: Asker, body: Response) -> Output {
    Output::Reply {
        conn: asker.conn,
        id: asker.id,
        body: Some(body),
    }
}

#[cfg(test)]
mod tests;
