//! Registration, sessions, fencing, and controlled shutdown of brokers (KIP-631).

use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;
use crate::core::messages::peer::{BrokerHeartbeat, PeerResponse, Registration};
use crate::core::metadata::Record;

impl Controller {
    /// A broker that starts anew gets a new epoch and leaves every ISR that has other members;
    /// the same start asking again gets the epoch it has.
    pub(super) fn register(
        &mut self,
        token: Token,
        registration: Registration,
        now_ms: u64,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let node = registration.node;
        let known = self
            .image
            .brokers
            .get(&node)
            .filter(|broker| broker.incarnation == registration.incarnation)
            .map(|broker| broker.epoch);
        let broker_epoch = match known {
            Some(epoch) => epoch,
            None => {
                self.end_earlier_start(node, fx);
                let record = Record::RegisterBroker {
                    node,
                    incarnation: registration.incarnation,
                    client_addr: registration.client_addr,
                    replication_addr: registration.replication_addr,
                };
                let epoch = self.propose(record, fx);
                fx.push(ControllerEffect::Note(format!(
                    "broker {node} registers with epoch {epoch}"
                )));
                epoch
            }
        };
        self.touch(node, now_ms);
        let response = PeerResponse::Register {
            error: ErrorCode::NONE,
            broker_epoch,
        };
        self.reply_when_committed(token, response);
    }

    /// What an earlier start of the broker led or held goes before the new one is registered: a
    /// broker acts on the metadata from its registration on, and must not find itself leading there.
    fn end_earlier_start(&mut self, node: NodeId, fx: &mut Vec<ControllerEffect>) {
        if let Some(broker) = self.image.brokers.get(&node)
            && !broker.fenced
        {
            let epoch = broker.epoch;
            self.propose(set_fenced(node, epoch, true, false), fx);
            self.take_from_partitions(node, fx);
        }
    }

    fn touch(&mut self, node: NodeId, now_ms: u64) {
        self.sessions
            .insert(node, now_ms + self.timers.session_timeout_ms);
    }

    /// A sign of life: keeps the session, unfences a broker that has caught up with the metadata,
    /// and moves leadership away from one that wants to stop.
    pub(super) fn heartbeat(
        &mut self,
        token: Token,
        heartbeat: &BrokerHeartbeat,
        now_ms: u64,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let node = heartbeat.node;
        let Some(broker) = self.image.brokers.get(&node) else {
            fx.push(stale(token));
            return;
        };
        if broker.epoch != heartbeat.broker_epoch {
            fx.push(stale(token));
            return;
        }
        let (epoch, fenced, stopping) = (broker.epoch, broker.fenced, broker.stopping);
        self.touch(node, now_ms);
        if heartbeat.wants_to_stop && !stopping {
            self.propose(set_fenced(node, epoch, fenced, true), fx);
            self.take_from_partitions(node, fx);
        } else if fenced && heartbeat.applied >= epoch && !heartbeat.wants_to_stop {
            fx.push(ControllerEffect::Note(format!("broker {node} is unfenced")));
            self.propose(set_fenced(node, epoch, false, false), fx);
            self.elect_where_leaderless(fx);
        }
        let response = PeerResponse::Heartbeat {
            error: ErrorCode::NONE,
            fenced: !self.image.is_live(node),
            may_stop: heartbeat.wants_to_stop && self.image.led_by(node) == 0,
        };
        self.reply_when_committed(token, response);
    }

    /// Fences brokers whose session is over.
    pub fn tick(&mut self, now_ms: u64, fx: &mut Vec<ControllerEffect>) {
        let silent: Vec<NodeId> = self
            .sessions
            .iter()
            .filter(|(_, deadline)| **deadline <= now_ms)
            .map(|(node, _)| *node)
            .collect();
        for node in silent {
            self.sessions.remove(&node);
            let Some(broker) = self.image.brokers.get(&node) else {
                continue;
            };
            if broker.fenced {
                continue;
            }
            let (epoch, stopping) = (broker.epoch, broker.stopping);
            fx.push(ControllerEffect::Note(format!(
                "broker {node} is fenced: silent for {} ms",
                self.timers.session_timeout_ms
            )));
            self.propose(set_fenced(node, epoch, true, stopping), fx);
            self.take_from_partitions(node, fx);
        }
    }
}

fn set_fenced(node: NodeId, broker_epoch: u64, fenced: bool, stopping: bool) -> Record {
    Record::SetFenced {
        node,
        broker_epoch,
        fenced,
        stopping,
    }
}

fn stale(token: Token) -> ControllerEffect {
    let response = PeerResponse::Heartbeat {
        error: ErrorCode::STALE_BROKER_EPOCH,
        fenced: true,
        may_stop: true,
    };
    ControllerEffect::Reply(token, response)
}
