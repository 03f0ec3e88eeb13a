//! AlterPartition: a leader asks for another ISR (KIP-497, KIP-841, KIP-903).

use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;
use crate::core::messages::peer::{AlterPartition, PeerResponse};
use crate::core::metadata::{Partition, Record};

impl Controller {
    /// Commits the ISR where the leader, both epochs and every new member stand up to it.
    pub(super) fn alter_partition(
        &mut self,
        token: Token,
        change: AlterPartition,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let same_topic = self.image.id_of(&change.tp.topic) == Some(change.topic_id);
        let known = self.image.partition(&change.tp).cloned();
        let known = known.filter(|_| same_topic);
        let error = self.objection(&change, known.as_ref());
        let Some(mut state) = known.filter(|_| error.is_none()) else {
            let refused = answer(error, -1, Vec::new());
            fx.push(ControllerEffect::Reply(token, refused));
            return;
        };
        state.isr = change.isr.iter().map(|(node, _)| *node).collect();
        state.partition_epoch += 1;
        fx.push(ControllerEffect::Note(format!(
            "{}: ISR {:?} in epoch {}",
            change.tp, state.isr, state.leader_epoch
        )));
        let accepted = answer(ErrorCode::NONE, state.partition_epoch, state.isr.clone());
        let tp = change.tp;
        self.propose(Record::ChangePartition { tp, state }, fx);
        self.reply_when_committed(token, accepted);
    }

    fn objection(&self, change: &AlterPartition, known: Option<&Partition>) -> ErrorCode {
        let sender = self.image.brokers.get(&change.node);
        if sender.is_none_or(|broker| broker.epoch != change.broker_epoch || broker.fenced) {
            return ErrorCode::STALE_BROKER_EPOCH;
        }
        let Some(state) = known else {
            return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        };
        if state.leader != change.node || change.leader_epoch < state.leader_epoch {
            return ErrorCode::FENCED_LEADER_EPOCH;
        }
        if change.leader_epoch > state.leader_epoch
            || change.partition_epoch > state.partition_epoch
        {
            return ErrorCode::NOT_CONTROLLER;
        }
        if change.partition_epoch < state.partition_epoch {
            return ErrorCode::INVALID_UPDATE_VERSION;
        }
        let is_replica = |node: &NodeId| state.replicas.contains(node);
        if !change.isr.iter().all(|(node, _)| is_replica(node))
            || !change.isr.iter().any(|(node, _)| *node == change.node)
        {
            return ErrorCode::INVALID_REQUEST;
        }
        let eligible = change
            .isr
            .iter()
            .all(|(node, epoch)| self.image.is_eligible(*node, *epoch));
        if eligible {
            ErrorCode::NONE
        } else {
            ErrorCode::INELIGIBLE_REPLICA
        }
    }
}

fn answer(error: ErrorCode, partition_epoch: i32, isr: Vec<NodeId>) -> PeerResponse {
    PeerResponse::AlterPartition {
        error,
        partition_epoch,
        isr,
    }
}
