//! Between the node and its replicas: metadata in, effects out.

use super::{CallContext, IoContext, Node, ReplicaId};
use crate::core::errors::ErrorCode;
use crate::core::ids::{TopicId, TopicPartition};
use crate::core::messages::fetch::{FetchRequest, Follower};
use crate::core::messages::peer::{AlterPartition, PeerRequest, PeerResponse};
use crate::core::replica::{Context, RecoveredLog, Replica, ReplicaEffect};
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
        self.let_go_of_deleted(out);
        let mine: Vec<_> = self
            .image
            .partitions()
            .filter(|(_, _, partition)| partition.replicas.contains(&me))
            .map(|(tp, topic, partition)| (tp, topic.id, topic.config, partition.clone()))
            .collect();
        for (tp, topic_id, config, partition) in mine {
            if !self.replicas.contains_key(&tp) {
                let recovered = self.recovered_or_new(&tp, topic_id, out);
                let replica = Replica::new(tp.clone(), config, recovered);
                self.replicas.insert(tp.clone(), replica);
            }
            self.with_replica(&tp, out, |replica, ctx, fx| {
                replica.on_metadata(ctx, config, &partition, fx);
            });
        }
        self.remove_strays(out);
    }

    /// What the disk held of this very topic; else an empty log, begun in place of what may be
    /// left of an earlier topic of the same name.
    fn recovered_or_new(
        &mut self,
        tp: &TopicPartition,
        topic_id: TopicId,
        out: &mut Vec<Output>,
    ) -> RecoveredLog {
        match self.recovered.remove(tp) {
            Some(recovered) if recovered.topic_id == topic_id => recovered,
            _ => {
                let log = tp.clone();
                self.io(IoContext::Replica, Op::Create { log, topic_id }, out);
                RecoveredLog {
                    topic_id,
                    ..RecoveredLog::default()
                }
            }
        }
    }

    /// Logs that the disk held and no topic has any more: deleted while this node was down. Called
    /// with metadata that is newer than any log of an earlier start.
    fn remove_strays(&mut self, out: &mut Vec<Output>) {
        for log in std::mem::take(&mut self.recovered).into_keys() {
            let note = format!("{log}: its topic is gone, its log is removed");
            out.push(Output::Event(Event::Info(note)));
            self.io(IoContext::Replica, Op::Delete { log }, out);
        }
    }

    /// Whoever waits for a partition whose topic is gone is told so, and its log is removed.
    fn let_go_of_deleted(&mut self, out: &mut Vec<Output>) {
        let deleted: Vec<TopicPartition> = self
            .replicas
            .iter()
            .filter(|(tp, replica)| self.image.id_of(&tp.topic) != Some(replica.topic_id()))
            .map(|(tp, _)| tp.clone())
            .collect();
        for tp in deleted {
            self.replicas.remove(&tp);
            let log = tp.clone();
            self.io(IoContext::Replica, Op::Delete { log }, out);
            self.refuse_producers_of(&tp, out);
            self.on_progress(&tp, out);
        }
    }

    /// As [`Node::with_replica`], unless the replica has made way for one of another topic.
    pub(super) fn with_same_replica(
        &mut self,
        of: &ReplicaId,
        out: &mut Vec<Output>,
        step: impl FnOnce(&mut Replica, &Context<'_>, &mut Vec<ReplicaEffect>),
    ) {
        let known = self.replicas.get(&of.tp);
        if known.is_some_and(|replica| replica.topic_id() == of.topic_id) {
            self.with_replica(&of.tp, out, step);
        }
    }

    fn replica_id(&self, tp: &TopicPartition) -> ReplicaId {
        ReplicaId {
            tp: tp.clone(),
            topic_id: self.replicas.get(tp).map_or(0, Replica::topic_id),
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
                let of = self.replica_id(tp);
                self.io(IoContext::Append { of }, op, out);
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
                let of = self.replica_id(tp);
                self.io(IoContext::Truncate { of }, op, out);
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
                let of = self.replica_id(tp);
                let context = CallContext::Fetch { of, attempt };
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
        let of = self.replica_id(tp);
        let body = PeerRequest::AlterPartition(AlterPartition {
            node: self.config.node_id,
            broker_epoch: self.lifecycle.broker_epoch(),
            tp: tp.clone(),
            topic_id: of.topic_id,
            leader_epoch: made_on.0,
            partition_epoch: made_on.1,
            isr,
        });
        let context = CallContext::Alter { of, made_on };
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
        of: &ReplicaId,
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
        self.with_same_replica(of, out, |replica, ctx, fx| {
            replica.on_alter_result(ctx, made_on, error, partition_epoch, isr, fx);
        });
    }

    pub(super) fn on_fetch_reply(
        &mut self,
        of: &ReplicaId,
        attempt: u64,
        result: Result<PeerResponse, Broken>,
        out: &mut Vec<Output>,
    ) {
        let answer = match result {
            Ok(PeerResponse::Fetch(mut response)) => response.partitions.pop(),
            _ => None,
        };
        self.with_same_replica(of, out, |replica, ctx, fx| {
            replica.on_fetched(ctx, attempt, answer, fx);
        });
    }
}
