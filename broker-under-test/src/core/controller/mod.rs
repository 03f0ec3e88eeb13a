//! The controller: the leader of the quorum, who decides on brokers, topics and partitions.
//!
//! Every decision becomes a record; an answer goes out only once the record is committed, and
//! anything decided in a term is decided on an image that holds all records before it, committed
//! or not. When leadership of the quorum is lost, all that is pending is answered with
//! NotController and forgotten: the next controller decides anew.

mod brokers;
mod configs;
mod deletion;
mod election;
mod elections_on_demand;
mod partitions;
pub mod placement;
mod topics;

use std::collections::BTreeMap;

use super::config::{Timers, TopicDefaults};
use super::ids::NodeId;
use super::messages::peer::{PeerRequest, PeerResponse};
use super::metadata::{Image, Record};

/// A request that waits for its answer; the node knows the connection behind it.
pub type Token = u64;

/// What the controller wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerEffect {
    /// Propose a record; it will have this index.
    Propose(u64, Record),
    /// Answer a request now.
    Reply(Token, PeerResponse),
    /// Worth a line in the log.
    Note(String),
}

/// The controller's state while this node leads the quorum.
#[derive(Clone, Debug)]
pub struct Controller {
    timers: Timers,
    defaults: TopicDefaults,
    seed: u64,
    /// The image with every record proposed so far.
    image: Image,
    /// Until when each unfenced broker may be silent.
    sessions: BTreeMap<NodeId, u64>,
    /// Answers that wait for the entry at an index to be committed.
    waiting: BTreeMap<u64, Vec<(Token, PeerResponse)>>,
}

impl Controller {
    /// Takes over with the image of every entry in the log; every broker gets a whole session.
    #[must_use]
    pub fn new(
        image: Image,
        timers: Timers,
        defaults: TopicDefaults,
        seed: u64,
        now_ms: u64,
    ) -> Self {
        let deadline = now_ms + timers.session_timeout_ms;
        let sessions = image.brokers.keys().map(|node| (*node, deadline)).collect();
        Self {
            timers,
            defaults,
            seed,
            image,
            sessions,
            waiting: BTreeMap::new(),
        }
    }

    /// Somebody asks the controller.
    pub fn on_request(
        &mut self,
        token: Token,
        request: PeerRequest,
        now_ms: u64,
        fx: &mut Vec<ControllerEffect>,
    ) {
        match request {
            PeerRequest::Register(registration) => self.register(token, registration, now_ms, fx),
            PeerRequest::Heartbeat(heartbeat) => self.heartbeat(token, &heartbeat, now_ms, fx),
            PeerRequest::AlterPartition(change) => self.alter_partition(token, change, fx),
            PeerRequest::AllocateProducerIds { node } => {
                self.allocate_producer_ids(token, node, fx)
            }
            PeerRequest::CreateTopics(request) => self.create_topics(token, request, fx),
            PeerRequest::DeleteTopics(request) => self.delete_topics(token, request, fx),
            PeerRequest::AlterConfigs(request) => self.alter_configs(token, request, fx),
            PeerRequest::ElectLeaders(request) => self.elect_leaders(token, request, fx),
            _ => fx.push(ControllerEffect::Reply(
                token,
                PeerResponse::Refused(super::errors::ErrorCode::INVALID_REQUEST),
            )),
        }
    }

    /// Entries up to `index` are committed: answers that waited for them go out.
    pub fn on_committed(&mut self, index: u64, fx: &mut Vec<ControllerEffect>) {
        let later = self.waiting.split_off(&(index + 1));
        for (_, answers) in std::mem::replace(&mut self.waiting, later) {
            fx.extend(
                answers
                    .into_iter()
                    .map(|(token, answer)| ControllerEffect::Reply(token, answer)),
            );
        }
    }

    /// Every request that still waits, when this node stops leading.
    pub fn give_up(self) -> impl Iterator<Item = Token> {
        self.waiting.into_values().flatten().map(|(token, _)| token)
    }

    fn propose(&mut self, record: Record, fx: &mut Vec<ControllerEffect>) -> u64 {
        let index = self.image.applied + 1;
        self.image.apply(index, Some(record.clone()));
        fx.push(ControllerEffect::Propose(index, record));
        index
    }

    /// Answers once all that has been proposed so far is committed.
    fn reply_when_committed(&mut self, token: Token, response: PeerResponse) {
        self.waiting
            .entry(self.image.applied)
            .or_default()
            .push((token, response));
    }

    fn allocate_producer_ids(
        &mut self,
        token: Token,
        node: NodeId,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let index = self.propose(Record::ReserveProducerIds { node }, fx);
        let count = super::metadata::image::PRODUCER_IDS;
        let block = i64::try_from(index).unwrap_or(i64::MAX / count);
        let response = PeerResponse::AllocateProducerIds {
            first: block * count,
            count,
        };
        self.reply_when_committed(token, response);
    }
}
