//! The quorum's side of a node: Raft, the controller on top of it, and learners beside it.

use std::collections::BTreeMap;

use super::{Asker, CallContext, IoContext, Node, reply};
use crate::core::controller::{Controller, ControllerEffect};
use crate::core::ids::{Addr, NodeId};
use crate::core::messages::Response;
use crate::core::messages::peer::{Entry, PeerRequest, PeerResponse, VoteRequest};
use crate::core::metadata::Record;
use crate::core::raft::{Raft, RaftEffect};
use crate::core::seam::{Broken, Event, LogId, MetaKey, Op, Output};

/// How long a learner's question is held where nothing is new.
const OBSERVE_WAIT_MS: u64 = 300;
/// Wait of a learner before it asks the next controller.
const OBSERVE_RETRY_MS: u64 = 50;

/// What a node knows as a learner, and which learners wait for it as a voter.
#[derive(Debug, Default)]
pub(super) struct Observer {
    /// The leader as the last answer had it.
    pub leader: Option<NodeId>,
    turn: usize,
    in_flight: bool,
    retry_at_ms: u64,
    pub waiting: Vec<Waiting>,
}

/// A learner that waits for entries.
#[derive(Debug)]
pub(super) struct Waiting {
    pub asker: Asker,
    after: u64,
    deadline_ms: u64,
}

impl Observer {
    pub(super) fn next_in_turn(&mut self, controllers: &BTreeMap<NodeId, Addr>) -> Option<NodeId> {
        self.turn += 1;
        controllers
            .keys()
            .nth(self.turn % controllers.len().max(1))
            .copied()
    }
}

impl Node {
    pub(super) fn with_raft(
        &mut self,
        out: &mut Vec<Output>,
        step: impl FnOnce(&mut Raft, u64, &mut Vec<RaftEffect>),
    ) {
        let now_ms = self.now.mono_ms;
        let Some(raft) = &mut self.raft else { return };
        let mut fx = Vec::new();
        step(raft, now_ms, &mut fx);
        for effect in fx {
            self.on_raft_effect(effect, out);
        }
    }

    fn on_raft_effect(&mut self, effect: RaftEffect, out: &mut Vec<Output>) {
        let timeout_ms = self.config.timers.election_timeout_ms;
        match effect {
            RaftEffect::SendVote(to, request) => {
                let context = CallContext::Vote {
                    to,
                    request: request.clone(),
                };
                self.call_voter(to, context, PeerRequest::Vote(request), timeout_ms, out);
            }
            RaftEffect::SendAppend(to, request) => {
                let context = CallContext::Append {
                    to,
                    term: request.term,
                };
                self.call_voter(to, context, PeerRequest::Append(request), timeout_ms, out);
            }
            RaftEffect::ReplyVote(token, response) => {
                self.reply_to_peer(token, PeerResponse::Vote(response), out);
            }
            RaftEffect::ReplyAppend(token, response) => {
                self.reply_to_peer(token, PeerResponse::Append(response), out);
            }
            RaftEffect::SaveHardState(hard) => {
                let version = self.raft.as_ref().map_or(0, Raft::hard_state_version);
                let bytes = postcard::to_stdvec(&hard).unwrap_or_default().into();
                let key = MetaKey::HardState;
                self.io(
                    IoContext::HardState { version },
                    Op::SaveMeta { key, bytes },
                    out,
                );
            }
            RaftEffect::AppendEntries {
                at,
                last,
                bytes,
                generation,
            } => {
                let op = Op::Append {
                    log: LogId::Quorum,
                    at: i64::try_from(at).unwrap_or(i64::MAX),
                    bytes,
                    sync: true,
                };
                self.io(IoContext::Quorum { last, generation }, op, out);
            }
            RaftEffect::Truncate { from, generation } => {
                let op = Op::Truncate {
                    log: LogId::Quorum,
                    to: i64::try_from(from).unwrap_or(i64::MAX),
                    rebuild_producers: false,
                };
                let last = from - 1;
                self.io(IoContext::Quorum { last, generation }, op, out);
            }
            RaftEffect::Committed(index) => self.on_committed(index, out),
            RaftEffect::BecameLeader => self.become_controller(out),
            RaftEffect::SteppedDown => self.resign_controller(out),
        }
    }

    fn call_voter(
        &mut self,
        to: NodeId,
        context: CallContext,
        body: PeerRequest,
        timeout_ms: u64,
        out: &mut Vec<Output>,
    ) {
        if let Some(addr) = self.config.controllers.get(&to).cloned() {
            self.call(addr, context, body, timeout_ms, out);
        }
    }

    fn reply_to_peer(&mut self, token: u64, response: PeerResponse, out: &mut Vec<Output>) {
        if let Some(asker) = self.askers.remove(&token) {
            out.push(reply(asker, Response::Peer(response)));
        }
    }

    /// A request of a peer on the controller port.
    pub(super) fn on_quorum_request(
        &mut self,
        asker: Asker,
        request: PeerRequest,
        out: &mut Vec<Output>,
    ) {
        if self.raft.is_none() {
            let refused = PeerResponse::NotController {
                leader: self.observer.leader,
            };
            out.push(reply(asker, Response::Peer(refused)));
            return;
        }
        let token = self.token(asker);
        match request {
            PeerRequest::Vote(request) => {
                self.with_raft(out, |raft, now, fx| {
                    raft.on_vote_request(token, &request, now, fx)
                });
            }
            PeerRequest::Append(request) => {
                self.with_raft(out, |raft, now, fx| {
                    raft.on_append_request(token, request, now, fx)
                });
            }
            PeerRequest::Observe { after } => {
                self.askers.remove(&token);
                let deadline_ms = self.now.mono_ms + OBSERVE_WAIT_MS;
                self.observer.waiting.push(Waiting {
                    asker,
                    after,
                    deadline_ms,
                });
                self.answer_learners(out);
            }
            request => self.ask_controller(token, request, out),
        }
    }

    fn ask_controller(&mut self, token: u64, request: PeerRequest, out: &mut Vec<Output>) {
        if self.controller.is_none() {
            let leader = self.controller_leader();
            self.reply_to_peer(token, PeerResponse::NotController { leader }, out);
            return;
        }
        self.with_controller(out, |controller, now, fx| {
            controller.on_request(token, request, now, fx);
        });
        // What the answer waits for may be committed already.
        let commit = self.raft.as_ref().map_or(0, Raft::commit);
        self.with_controller(out, |controller, _, fx| controller.on_committed(commit, fx));
    }

    pub(super) fn with_controller(
        &mut self,
        out: &mut Vec<Output>,
        step: impl FnOnce(&mut Controller, u64, &mut Vec<ControllerEffect>),
    ) {
        let now_ms = self.now.mono_ms;
        let Some(controller) = &mut self.controller else {
            return;
        };
        let mut fx = Vec::new();
        step(controller, now_ms, &mut fx);
        for effect in fx {
            match effect {
                ControllerEffect::Propose(index, record) => self.propose(index, &record, out),
                ControllerEffect::Reply(token, response) => {
                    self.reply_to_peer(token, response, out);
                }
                ControllerEffect::Note(note) => {
                    out.push(Output::Event(Event::Info(format!("controller: {note}"))));
                }
            }
        }
    }

    fn propose(&mut self, index: u64, record: &Record, out: &mut Vec<Output>) {
        let data = record.encode();
        self.with_raft(out, |raft, now, fx| {
            // Losing leadership in between ends the controller before it can propose again.
            if let Some(given) = raft.propose(data, now, fx) {
                assert_eq!(given, index, "the controller's image is the whole log");
            }
        });
    }

    /// The controller begins with the image of the whole log, committed or not.
    fn become_controller(&mut self, out: &mut Vec<Output>) {
        let Some(raft) = &self.raft else { return };
        let mut image = self.image.clone();
        for index in image.applied + 1..=raft.last_index() {
            let data = raft
                .entry(index)
                .map(|entry| entry.data.clone())
                .unwrap_or_default();
            image.apply(index, Record::decode(&data).ok().flatten());
        }
        let term = raft.term();
        out.push(Output::Event(Event::Info(format!(
            "controller: node {} leads the quorum in term {term}",
            self.config.node_id
        ))));
        self.controller = Some(Controller::new(
            image,
            self.config.timers.clone(),
            self.config.topic_defaults.clone(),
            self.config.seed,
            self.now.mono_ms,
        ));
    }

    fn resign_controller(&mut self, out: &mut Vec<Output>) {
        if let Some(controller) = self.controller.take() {
            out.push(Output::Event(Event::Info(format!(
                "controller: node {} does not lead the quorum any more",
                self.config.node_id
            ))));
            for token in controller.give_up() {
                self.reply_to_peer(token, PeerResponse::NotController { leader: None }, out);
            }
        }
    }

    fn on_committed(&mut self, index: u64, out: &mut Vec<Output>) {
        while self.image.applied < index {
            let next = self.image.applied + 1;
            let Some(entry) = self
                .raft
                .as_ref()
                .and_then(|raft| raft.entry(next))
                .cloned()
            else {
                return;
            };
            self.apply(next, &entry, out);
        }
        self.with_controller(out, |controller, _, fx| controller.on_committed(index, fx));
        self.answer_learners(out);
        self.publish(out);
    }

    fn apply(&mut self, index: u64, entry: &Entry, out: &mut Vec<Output>) {
        match Record::decode(&entry.data) {
            Ok(record) => self.image.apply(index, record),
            Err(error) => {
                self.failed = true;
                let what = format!("metadata entry {index} cannot be read: {error}");
                out.push(Output::Event(Event::Fatal(what)));
                self.image.apply(index, None);
            }
        }
    }

    fn answer_learners(&mut self, out: &mut Vec<Output>) {
        let Some(raft) = &self.raft else { return };
        let now_ms = self.now.mono_ms;
        let leader = raft.leader();
        self.observer.waiting.retain(|waiting| {
            let entries = raft.committed_after(waiting.after).to_vec();
            let answer_now = !entries.is_empty() || now_ms >= waiting.deadline_ms;
            if answer_now {
                let response = PeerResponse::Observe { leader, entries };
                out.push(reply(waiting.asker, Response::Peer(response)));
            }
            !answer_now
        });
    }

    /// A learner asks for entries; a voter answers those that have waited long enough.
    pub(super) fn tick_observer(&mut self, out: &mut Vec<Output>) {
        if self.raft.is_some() {
            self.answer_learners(out);
            return;
        }
        if self.observer.in_flight || self.now.mono_ms < self.observer.retry_at_ms {
            return;
        }
        let after = self.image.applied;
        if let Some((asked, addr)) = self.controller_to_ask() {
            self.observer.in_flight = true;
            let timeout_ms = OBSERVE_WAIT_MS + self.config.timers.election_timeout_ms;
            let body = PeerRequest::Observe { after };
            self.call(addr, CallContext::Observe { asked }, body, timeout_ms, out);
        }
    }

    pub(super) fn on_observe_reply(
        &mut self,
        asked: NodeId,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        self.observer.in_flight = false;
        let Ok(PeerResponse::Observe { leader, entries }) = result else {
            self.doubt_controller(asked);
            self.observer.retry_at_ms = self.now.mono_ms + OBSERVE_RETRY_MS;
            return;
        };
        self.observer.leader = leader;
        for entry in entries {
            self.apply(self.image.applied + 1, &entry, out);
        }
        self.publish(out);
        self.tick_observer(out);
    }

    /// Whoever was asked did not answer as the controller does: ask another next time.
    pub(super) fn doubt_controller(&mut self, asked: NodeId) {
        if self.observer.leader == Some(asked) {
            self.observer.leader = None;
        }
    }

    pub(super) fn on_vote_reply(
        &mut self,
        to: NodeId,
        request: &VoteRequest,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        if let Ok(PeerResponse::Vote(response)) = result {
            self.with_raft(out, |raft, now, fx| {
                raft.on_vote_response(to, request, &response, now, fx);
            });
        }
    }

    pub(super) fn on_append_reply(
        &mut self,
        to: NodeId,
        term: u64,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        self.with_raft(out, |raft, now, fx| match result {
            Ok(PeerResponse::Append(response)) => {
                raft.on_append_response(to, term, &response, now, fx);
            }
            _ => raft.on_append_lost(to, term),
        });
    }
}
