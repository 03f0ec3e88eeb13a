//! Between the node and its replicas: metadata in, effects out.

use super::{CallContext, IoContext, Node};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;
use crate::core::messages::fetch::{FetchRequest, Follower};
use crate::core::messages::peer::{AlterPartition, PeerRequest, PeerResponse};
use crate::core::replica::{Context, Replica, ReplicaEffect};
use crate::core::seam::{Broken, Event, LogId, Op, Output};

impl Node {
    /// Lets one replica step and carries out what it wants.
    pub(super) fn with_replica(
        &mut self,
        tp: &TopicPartition,
        out: &mut Vec<Output>,
        step: impl FnOnce(&mut Replica, &Context<'_>, &mut Vec<ReplicaEffect>),
    ) {
        let Some(mut replica) = self.replicas.remove(tp) else {
            return;
        };
        let mut fx = Vec::new();
        step(&mut replica, &self.context(), &mut fx);
        self.replicas.insert(tp.clone(), replica);
        for effect in fx {
            self.on_replica_effect(tp, effect, out);
        }
    }

    /// Tells the replicas what is committed, once this start of the broker is part of it: before
    /// that, the metadata may still name an earlier start of it as a leader.
    pub(super) fn publish(&mut self, out: &mut Vec<Output>) {
        let me = self.config.node_id;
        let epoch = self.lifecycle.broker_epoch();
        let caught_up = self.lifecycle.is_registered()
            && self
                .image
                .brokers
                .get(&me)
                .is_some_and(|broker| broker.epoch == epoch);
        if !caught_up {
            return;
        }
        let mine: Vec<_> = self
            .image
            .partitions()
            .filter(|(_, _, partition)| partition.replicas.contains(&me))
            .map(|(tp, topic, partition)| (tp, topic.config, partition.clone()))
            .collect();
        for (tp, config, partition) in mine {
            if !self.replicas.contains_key(&tp) {
                let recovered = self.recovered.remove(&tp).unwrap_or_default();
                let replica = Replica::new(tp.clone(), config, recovered);
                self.replicas.insert(tp.clone(), replica);
            }
            self.with_replica(&tp, out, |replica, ctx, fx| {
                replica.on_metadata(ctx, config, &partition, fx);
            });
        }
    }

    fn on_replica_effect(
        &mut self,
        tp: &TopicPartition,
        effect: ReplicaEffect,
        out: &mut Vec<Output>,
    ) {
        match effect {
            ReplicaEffect::Append { at, bytes, sync } => {
                let op = Op::Append {
                    log: LogId::Partition(tp.clone()),
                    at,
                    bytes,
                    sync,
                };
                self.io(IoContext::Append { tp: tp.clone() }, op, out);
            }
            ReplicaEffect::Truncate {
                to,
                rebuild_producers,
            } => {
                let op = Op::Truncate {
                    log: LogId::Partition(tp.clone()),
                    to,
                    rebuild_producers,
                };
                self.io(IoContext::Truncate { tp: tp.clone() }, op, out);
            }
            ReplicaEffect::Fetch { to, want, attempt } => {
                let max_wait_ms = self.config.timers.fetch_wait_max_ms;
                let body = PeerRequest::Fetch(FetchRequest {
                    follower: Some(Follower {
                        node: self.config.node_id,
                        broker_epoch: self.lifecycle.broker_epoch(),
                    }),
                    any_replica: false,
                    max_wait_ms,
                    max_bytes: want.max_bytes,
                    partitions: vec![want],
                });
                let timeout_ms = self.config.timers.request_timeout_ms + max_wait_ms;
                let context = CallContext::Fetch {
                    tp: tp.clone(),
                    attempt,
                };
                self.call(to, context, body, timeout_ms, out);
            }
            ReplicaEffect::AlterPartition {
                leader_epoch,
                partition_epoch,
                isr,
            } => self.send_alter(tp, (leader_epoch, partition_epoch), isr, out),
            ReplicaEffect::Produced { ticket, outcome } => self.on_produced(ticket, outcome, out),
            ReplicaEffect::Progressed => self.on_progress(tp, out),
            ReplicaEffect::Note(note) => out.push(Output::Event(Event::Info(note))),
        }
    }

    fn send_alter(
        &mut self,
        tp: &TopicPartition,
        made_on: (i32, i32),
        isr: Vec<(i32, u64)>,
        out: &mut Vec<Output>,
    ) {
        let Some((_, addr)) = self.controller_to_ask() else {
            self.with_replica(tp, out, |replica, ctx, fx| {
                let unknown = ErrorCode::NOT_CONTROLLER;
                replica.on_alter_result(ctx, made_on, unknown, -1, Vec::new(), fx);
            });
            return;
        };
        let body = PeerRequest::AlterPartition(AlterPartition {
            node: self.config.node_id,
            broker_epoch: self.lifecycle.broker_epoch(),
            tp: tp.clone(),
            leader_epoch: made_on.0,
            partition_epoch: made_on.1,
            isr,
        });
        let context = CallContext::Alter {
            tp: tp.clone(),
            made_on,
        };
        self.call(
            addr,
            context,
            body,
            self.config.timers.request_timeout_ms,
            out,
        );
    }

    pub(super) fn on_alter_reply(
        &mut self,
        tp: &TopicPartition,
        made_on: (i32, i32),
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        let (error, partition_epoch, isr) = match result {
            Ok(PeerResponse::AlterPartition {
                error,
                partition_epoch,
                isr,
            }) => (error, partition_epoch, isr),
            _ => (ErrorCode::NOT_CONTROLLER, -1, Vec::new()),
        };
        self.with_replica(tp, out, |replica, ctx, fx| {
            replica.on_alter_result(ctx, made_on, error, partition_epoch, isr, fx);
        });
    }

    pub(super) fn on_fetch_reply(
        &mut self,
        tp: &TopicPartition,
        attempt: u64,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        let answer = match result {
            Ok(PeerResponse::Fetch(mut response)) => response.partitions.pop(),
            _ => None,
        };
        self.with_replica(tp, out, |replica, ctx, fx| {
            replica.on_fetched(ctx, attempt, answer, fx);
        });
    }
}
