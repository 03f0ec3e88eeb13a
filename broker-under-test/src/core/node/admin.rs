//! The admin port's questions.

use super::{Asker, IoContext, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;
use crate::core::messages::Response;
use crate::core::messages::admin::{
    AdminRequest, AdminResponse, Health, QuorumState, ReplicaStates,
};
use crate::core::raft::Raft;
use crate::core::seam::{Done, Op, Output};

impl Node {
    pub(super) fn on_admin_request(
        &mut self,
        asker: Asker,
        request: AdminRequest,
        out: &mut Vec<Output>,
    ) {
        let answer = match request {
            AdminRequest::Health => AdminResponse::Health(self.health()),
            AdminRequest::Replicas => AdminResponse::Replicas(self.replica_states()),
            AdminRequest::Hold { tp, fetch_until } => self.set_hold(&tp, fetch_until, out),
            AdminRequest::Records {
                tp,
                from,
                max_bytes,
            } => match self.read_for_admin(asker, tp, from, max_bytes, out) {
                Some(answer) => answer,
                None => return,
            },
        };
        out.push(reply(asker, Response::Admin(answer)));
    }

    fn health(&self) -> Health {
        Health {
            node_id: self.config.node_id,
            registered: self.lifecycle.is_registered(),
            fenced: self.lifecycle.fenced,
            broker_epoch: self.lifecycle.broker_epoch(),
            controller: QuorumState {
                leader: self.controller_leader(),
                term: self.raft.as_ref().map_or(0, Raft::term),
                role: self.raft.as_ref().map_or("learner", Raft::role_name),
                applied: self.image.applied,
            },
        }
    }

    fn replica_states(&self) -> ReplicaStates {
        ReplicaStates {
            node_id: self.config.node_id,
            broker_epoch: self.lifecycle.broker_epoch(),
            controller_leader: self.controller_leader(),
            partitions: self
                .replicas
                .values()
                .map(|replica| replica.state())
                .collect(),
        }
    }

    fn set_hold(
        &mut self,
        tp: &TopicPartition,
        fetch_until: Option<i64>,
        out: &mut Vec<Output>,
    ) -> AdminResponse {
        if !self.replicas.contains_key(tp) {
            return AdminResponse::Failed(self.not_here(tp));
        }
        self.with_replica(tp, out, |replica, ctx, fx| {
            replica.set_hold(ctx, fetch_until, fx)
        });
        AdminResponse::Held
    }

    /// None where the answer comes once storage has read.
    fn read_for_admin(
        &mut self,
        asker: Asker,
        tp: TopicPartition,
        from: i64,
        max_bytes: u32,
        out: &mut Vec<Output>,
    ) -> Option<AdminResponse> {
        let Some(replica) = self.replicas.get(&tp) else {
            return Some(AdminResponse::Failed(self.not_here(&tp)));
        };
        let (leo, hw) = (replica.log_end(), replica.high_watermark());
        let op = Op::Read {
            log: tp,
            from: from.max(0),
            max_bytes,
            end: leo,
            generation: replica.generation(),
        };
        self.io(IoContext::AdminRead { asker, leo, hw }, op, out);
        None
    }

    pub(super) fn on_admin_read(
        &mut self,
        asker: Asker,
        leo: i64,
        hw: i64,
        done: Done,
        out: &mut Vec<Output>,
    ) {
        let answer = match done {
            Done::Read(batches) => AdminResponse::Records { batches, leo, hw },
            _ => AdminResponse::Failed(ErrorCode::OFFSET_NOT_AVAILABLE),
        };
        out.push(reply(asker, Response::Admin(answer)));
    }
}
