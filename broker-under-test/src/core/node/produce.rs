//! Produce requests: one batch a partition in, one answer for all of them out.

use std::collections::BTreeMap;

use super::{Asker, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicPartition;
use crate::core::messages::Response;
use crate::core::messages::client::{ClientResponse, ProduceRequest, ProduceResult};
use crate::core::replica::{ProduceOutcome, Ticket};
use crate::core::seam::Output;

/// No client may keep a request waiting longer, milliseconds.
const TIMEOUT_MS_MAX: u64 = 10 * 60 * 1_000;

/// Produce requests that wait for their acks.
#[derive(Debug, Default)]
pub(super) struct Produces {
    requests: BTreeMap<u64, Pending>,
    /// Which request, and which partition of it, a replica's ticket stands for.
    tickets: BTreeMap<Ticket, (u64, usize)>,
    deadlines: BTreeMap<(u64, u64), ()>,
}

#[derive(Debug)]
struct Pending {
    asker: Asker,
    acks: i16,
    deadline_ms: u64,
    partitions: Vec<(TopicPartition, Ticket, Option<ProduceOutcome>)>,
    open: usize,
}

impl Node {
    pub(super) fn produce(&mut self, asker: Asker, request: ProduceRequest, out: &mut Vec<Output>) {
        let key = self.fresh_id();
        let deadline_ms = self.now.mono_ms + request.timeout_ms.min(TIMEOUT_MS_MAX);
        let tickets: Vec<Ticket> = request.partitions.iter().map(|_| self.fresh_id()).collect();
        let pending = Pending {
            asker,
            acks: request.acks,
            deadline_ms,
            partitions: request
                .partitions
                .iter()
                .zip(&tickets)
                .map(|((tp, _), ticket)| (tp.clone(), *ticket, None))
                .collect(),
            open: tickets.len(),
        };
        self.produces.requests.insert(key, pending);
        self.produces.deadlines.insert((deadline_ms, key), ());
        for (index, ticket) in tickets.iter().enumerate() {
            self.produces.tickets.insert(*ticket, (key, index));
        }
        let known_acks = matches!(request.acks, -1..=1);
        for ((tp, bytes), ticket) in request.partitions.into_iter().zip(tickets) {
            let acks = request.acks;
            if !known_acks {
                self.refuse(ticket, ErrorCode::INVALID_REQUIRED_ACKS, out);
            } else if self.replicas.contains_key(&tp) {
                self.with_replica(&tp, out, |replica, ctx, fx| {
                    replica.produce(ctx, ticket, acks, &bytes, fx);
                });
            } else {
                self.refuse(ticket, self.not_here(&tp), out);
            }
        }
        self.finish_produce(key, out);
    }

    fn refuse(&mut self, ticket: Ticket, error: ErrorCode, out: &mut Vec<Output>) {
        let outcome = ProduceOutcome {
            error,
            base_offset: -1,
            message: None,
        };
        self.on_produced(ticket, outcome, out);
    }

    pub(super) fn on_produced(
        &mut self,
        ticket: Ticket,
        outcome: ProduceOutcome,
        out: &mut Vec<Output>,
    ) {
        let Some((key, index)) = self.produces.tickets.remove(&ticket) else {
            return;
        };
        if let Some(pending) = self.produces.requests.get_mut(&key) {
            pending.partitions[index].2 = Some(outcome);
            pending.open -= 1;
        }
        self.finish_produce(key, out);
    }

    /// Answers once every partition is decided.
    fn finish_produce(&mut self, key: u64, out: &mut Vec<Output>) {
        if self
            .produces
            .requests
            .get(&key)
            .is_none_or(|pending| pending.open > 0)
        {
            return;
        }
        let Some(pending) = self.produces.requests.remove(&key) else {
            return;
        };
        self.produces.deadlines.remove(&(pending.deadline_ms, key));
        let asker = pending.asker;
        let results: Vec<ProduceResult> = pending
            .partitions
            .into_iter()
            .map(|(tp, _, outcome)| result(tp, outcome))
            .collect();
        if pending.acks != 0 {
            out.push(reply(
                asker,
                Response::Client(ClientResponse::Produce(results)),
            ));
        } else if results.iter().all(|result| result.error.is_none()) {
            out.push(Output::Reply {
                conn: asker.conn,
                id: asker.id,
                body: None,
            });
        } else {
            out.push(Output::Close { conn: asker.conn });
        }
    }

    /// The partition's topic is gone, and with it all that was appended.
    pub(super) fn refuse_producers_of(&mut self, tp: &TopicPartition, out: &mut Vec<Output>) {
        let open: Vec<Ticket> = self
            .produces
            .requests
            .values()
            .flat_map(|pending| &pending.partitions)
            .filter(|(of, _, outcome)| of == tp && outcome.is_none())
            .map(|(_, ticket, _)| *ticket)
            .collect();
        for ticket in open {
            self.refuse(ticket, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, out);
        }
    }

    pub(super) fn expire_produces(&mut self, out: &mut Vec<Output>) {
        while let Some((&(deadline_ms, key), ())) = self.produces.deadlines.first_key_value() {
            if deadline_ms > self.now.mono_ms {
                return;
            }
            self.produces.deadlines.pop_first();
            let Some(pending) = self.produces.requests.get(&key) else {
                continue;
            };
            let open: Vec<_> = pending
                .partitions
                .iter()
                .filter(|(_, _, outcome)| outcome.is_none())
                .map(|(tp, ticket, _)| (tp.clone(), *ticket))
                .collect();
            for (tp, ticket) in open {
                if let Some(replica) = self.replicas.get_mut(&tp) {
                    replica.forget(ticket);
                }
                self.refuse(ticket, ErrorCode::REQUEST_TIMED_OUT, out);
            }
        }
    }
}

fn result(tp: TopicPartition, outcome: Option<ProduceOutcome>) -> ProduceResult {
    let outcome = outcome.unwrap_or(ProduceOutcome {
        error: ErrorCode::UNKNOWN_SERVER_ERROR,
        base_offset: -1,
        message: None,
    });
    ProduceResult {
        tp,
        log_start: if outcome.error.is_none() { 0 } else { -1 },
        error: outcome.error,
        base_offset: outcome.base_offset,
        message: outcome.message,
    }
}
