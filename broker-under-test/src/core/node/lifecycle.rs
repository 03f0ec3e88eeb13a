//! A broker's life as the controller sees it: registration, heartbeats, controlled shutdown; and
//! the block of producer ids that it has been given.

use super::{Asker, CallContext, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;
use crate::core::messages::Response;
use crate::core::messages::client::ClientResponse;
use crate::core::messages::peer::{BrokerHeartbeat, PeerRequest, PeerResponse, Registration};
use crate::core::seam::{Broken, Event, Output};

/// Wait before the controller is asked again after a refusal.
const RETRY_MS: u64 = 30;
/// Period of heartbeats while the broker is fenced or wants to stop: something is due to happen.
const EAGER_HEARTBEAT_MS: u64 = 30;

/// How the broker stands with the controller.
#[derive(Debug, Default)]
pub(super) struct Lifecycle {
    epoch: Option<u64>,
    /// As the controller last said.
    pub fenced: bool,
    in_flight: bool,
    next_ms: u64,
    stopping: bool,
    producer_ids: std::ops::Range<i64>,
    waiting_for_ids: Vec<Asker>,
    ids_in_flight: bool,
    ids_retry_ms: u64,
}

impl Lifecycle {
    pub(super) fn broker_epoch(&self) -> u64 {
        self.epoch.unwrap_or(0)
    }

    pub(super) fn is_registered(&self) -> bool {
        self.epoch.is_some()
    }
}

impl Node {
    pub(super) fn tick_lifecycle(&mut self, out: &mut Vec<Output>) {
        self.ask_for_producer_ids(out);
        if self.lifecycle.in_flight || self.now.mono_ms < self.lifecycle.next_ms {
            return;
        }
        let Some((asked, addr)) = self.controller_to_ask() else {
            return;
        };
        let (context, body) = match self.lifecycle.epoch {
            None => (CallContext::Register { asked }, self.registration()),
            Some(epoch) => (CallContext::Heartbeat { asked }, self.heartbeat(epoch)),
        };
        self.lifecycle.in_flight = true;
        let timeout_ms = (self.config.timers.session_timeout_ms / 3).max(50);
        self.call(addr, context, body, timeout_ms, out);
    }

    fn registration(&self) -> PeerRequest {
        PeerRequest::Register(Registration {
            node: self.config.node_id,
            incarnation: self.config.incarnation,
            client_addr: self.config.client_addr.clone(),
            replication_addr: self.config.replication_addr.clone(),
        })
    }

    fn heartbeat(&self, broker_epoch: u64) -> PeerRequest {
        PeerRequest::Heartbeat(BrokerHeartbeat {
            node: self.config.node_id,
            broker_epoch,
            applied: self.image.applied,
            wants_to_stop: self.lifecycle.stopping,
        })
    }

    pub(super) fn on_register_reply(
        &mut self,
        asked: NodeId,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        self.lifecycle.in_flight = false;
        self.lifecycle.next_ms = self.now.mono_ms + RETRY_MS;
        match result {
            Ok(PeerResponse::Register {
                error: ErrorCode::NONE,
                broker_epoch,
            }) => {
                self.lifecycle.epoch = Some(broker_epoch);
                self.lifecycle.fenced = true;
                self.lifecycle.next_ms = self.now.mono_ms;
                let what = format!("registered with broker epoch {broker_epoch}");
                out.push(Output::Event(Event::Info(what)));
                self.publish(out);
                self.tick_lifecycle(out);
            }
            other => self.learn_controller(asked, &other),
        }
    }

    pub(super) fn on_heartbeat_reply(
        &mut self,
        asked: NodeId,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        self.lifecycle.in_flight = false;
        self.lifecycle.next_ms = self.now.mono_ms + RETRY_MS;
        match result {
            Ok(PeerResponse::Heartbeat {
                error: ErrorCode::NONE,
                fenced,
                may_stop,
            }) => {
                let eager = fenced || self.lifecycle.stopping;
                self.lifecycle.fenced = fenced;
                let period = self.config.timers.heartbeat_interval_ms;
                let wait = if eager { EAGER_HEARTBEAT_MS } else { period };
                self.lifecycle.next_ms = self.now.mono_ms + wait;
                if self.lifecycle.stopping && may_stop {
                    self.may_stop(out);
                }
            }
            Ok(PeerResponse::Heartbeat { .. }) => {
                let what = "the controller does not know this registration: registering again";
                out.push(Output::Event(Event::Warning(what.to_owned())));
                self.lifecycle.epoch = None;
            }
            other => self.learn_controller(asked, &other),
        }
    }

    fn learn_controller(&mut self, asked: NodeId, result: &Result<PeerResponse, Broken>) {
        self.doubt_controller(asked);
        if let Ok(PeerResponse::NotController {
            leader: Some(leader),
        }) = result
            && *leader != asked
        {
            self.observer.leader = Some(*leader);
        }
    }

    /// Controlled shutdown: leadership is handed over first.
    pub(super) fn stop(&mut self, out: &mut Vec<Output>) {
        self.lifecycle.stopping = true;
        self.lifecycle.next_ms = self.now.mono_ms;
        if !self.lifecycle.is_registered() {
            self.may_stop(out);
        }
    }

    fn may_stop(&mut self, out: &mut Vec<Output>) {
        self.checkpoint(out);
        out.push(Output::Event(Event::MayStop));
    }

    pub(super) fn init_producer_id(&mut self, asker: Asker, out: &mut Vec<Output>) {
        self.lifecycle.waiting_for_ids.push(asker);
        self.hand_out_producer_ids(out);
        self.ask_for_producer_ids(out);
    }

    fn hand_out_producer_ids(&mut self, out: &mut Vec<Output>) {
        while !self.lifecycle.waiting_for_ids.is_empty() {
            let Some(producer_id) = self.lifecycle.producer_ids.next() else {
                return;
            };
            let asker = self.lifecycle.waiting_for_ids.remove(0);
            let response = ClientResponse::InitProducerId {
                error: ErrorCode::NONE,
                producer_id,
                producer_epoch: 0,
            };
            out.push(reply(asker, Response::Client(response)));
        }
    }

    fn ask_for_producer_ids(&mut self, out: &mut Vec<Output>) {
        let lifecycle = &self.lifecycle;
        let needed = !lifecycle.waiting_for_ids.is_empty()
            && !lifecycle.ids_in_flight
            && self.now.mono_ms >= lifecycle.ids_retry_ms;
        if !needed {
            return;
        }
        let Some((asked, addr)) = self.controller_to_ask() else {
            return;
        };
        self.lifecycle.ids_in_flight = true;
        let body = PeerRequest::AllocateProducerIds {
            node: self.config.node_id,
        };
        let timeout_ms = self.config.timers.request_timeout_ms;
        self.call(
            addr,
            CallContext::ProducerIds { asked },
            body,
            timeout_ms,
            out,
        );
    }

    pub(super) fn on_producer_ids(
        &mut self,
        asked: NodeId,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        self.lifecycle.ids_in_flight = false;
        if let Ok(PeerResponse::AllocateProducerIds { first, count }) = result {
            self.lifecycle.producer_ids = first..first.saturating_add(count);
            self.hand_out_producer_ids(out);
        } else {
            self.learn_controller(asked, &result);
            self.lifecycle.ids_retry_ms = self.now.mono_ms + RETRY_MS;
        }
    }
}
