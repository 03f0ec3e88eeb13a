//! Producers: one op is one record; each attempt is one request. Outcomes are
//! judged by the white list; retries are explicit and journalled as attempts.

use plimsoll_checkers::history::{Attempt, OpType, Outcome};
use rand::RngExt;

use super::config::{SendBy, key};
use super::messages::Command;
use super::timers::TimerKind;
use super::worker::{Identity, SendOp, State};
use super::{Out, Reply, Session, record};
use crate::clients::{Broken, Produce, Request, Response, outcome};

/// A worker rests this long after an op that was not acknowledged; up to half
/// of it more is drawn.
const REST_NS: u64 = 60_000_000;
/// retry.backoff.ms and its greatest value, as in Kafka.
const RETRY_NS: u64 = 100_000_000;
const RETRY_NS_MAX: u64 = 1_000_000_000;
/// What the network may take on top of the broker's own time-out.
const ANSWER_GRACE_MS: u64 = 500;
const IDENTIFY_TIMEOUT_MS: u64 = 1000;

/// How one attempt ended.
pub(super) struct Ended {
    pub outcome: Outcome,
    pub offset: Option<i64>,
    pub error: Option<String>,
    pub retry: bool,
}

impl Session {
    pub(super) fn start_send(&mut self, worker: usize, partition: i32, value: i64, out: Out<'_>) {
        let sequence = self.workers[worker]
            .identity
            .as_ref()
            .map(|i| i.sequence(partition));
        let op = SendOp {
            partition,
            value,
            sequence,
            attempts: Vec::new(),
            node: None,
            sent_ns: self.now_ns,
        };
        let mut line = record::send(
            &self.actor(worker, None),
            OpType::Invoke,
            "send",
            &key(&self.config.topic.name, partition),
            value,
            None,
        );
        line.acks = Some(self.config.send.acks);
        out.push(Command::Record(Box::new(line)));
        self.attempt(worker, op, out);
    }

    /// Sends one request of an op to the leader that this client knows.
    pub(super) fn attempt(&mut self, worker: usize, mut op: SendOp, out: Out<'_>) {
        op.sent_ns = self.now_ns;
        if self.config.send.by != SendBy::Request {
            return self.hand_over(worker, op, out);
        }
        let side = self.workers[worker].side;
        let leader = self.sides[side].leader(op.partition);
        let node = leader.and_then(|(id, _)| self.cluster.node_of_id(id));
        op.node = node;
        let Some(node) = node else {
            let error = "no leader is known here".to_owned();
            let result = Err(Broken::NotSent(error));
            return self.send_reply(worker, op, result, out);
        };
        let request = Request::Produce(self.produce(&op));
        self.workers[worker].state = State::Sending(op);
        let timeout_ms = self.config.send.request_timeout_ms + ANSWER_GRACE_MS;
        out.push(Command::Send {
            client: worker,
            node,
            request,
            timeout_ms,
        });
    }

    /// A library does the rest, bounded by its own time-out; its report is the reply.
    fn hand_over(&mut self, worker: usize, op: SendOp, out: Out<'_>) {
        let produce = self.produce(&op);
        self.workers[worker].state = State::Sending(op);
        out.push(Command::HandOver {
            client: worker,
            produce,
        });
    }

    fn produce(&self, op: &SendOp) -> Produce {
        let policy = self.config.send;
        Produce {
            partition: op.partition,
            value: op.value,
            acks: policy.acks,
            timeout_ms: i32::try_from(policy.request_timeout_ms).unwrap_or(i32::MAX),
            sequence: op.sequence,
        }
    }

    pub(super) fn send_reply(
        &mut self,
        worker: usize,
        mut op: SendOp,
        result: Reply,
        out: Out<'_>,
    ) {
        let ended = ended(result, self.config.send.acks);
        let node = op
            .node
            .map_or("-", |node| self.cluster.name(node))
            .to_owned();
        op.attempts.push(Attempt {
            node,
            outcome: ended.outcome,
            error: ended.error.clone(),
            time: op.sent_ns,
        });
        if ended.outcome != Outcome::Ok {
            self.want_refresh(self.workers[worker].side);
        }
        let used = u32::try_from(op.attempts.len()).unwrap_or(u32::MAX);
        let again = ended.outcome != Outcome::Ok
            && ended.retry
            && self.config.send.by == SendBy::Request
            && used <= self.config.send.retries
            && self.phase.runs_clients();
        if again {
            self.workers[worker].state = State::BeforeRetry(op);
            return self.back_off(worker, used);
        }
        self.finish_send(worker, &op, ended, out);
    }

    pub(super) fn finish_send(&mut self, worker: usize, op: &SendOp, ended: Ended, out: Out<'_>) {
        let outcome = op.outcome(ended.outcome);
        let node = op.node.map(|node| self.cluster.name(node).to_owned());
        let mut line = record::send(
            &self.actor(worker, node.as_deref()),
            record::kind_of(outcome),
            "send",
            &key(&self.config.topic.name, op.partition),
            op.value,
            ended.offset,
        );
        line.acks = Some(self.config.send.acks);
        line.error = ended.error;
        line.attempts = match self.config.send.by {
            // Nobody knows how many there were.
            SendBy::Library { may_resend: true } => Some(Vec::new()),
            SendBy::Request if self.config.send.retries > 0 => Some(op.attempts.clone()),
            _ => None,
        };
        out.push(Command::Record(Box::new(line)));
        self.stats.count_send(outcome);
        self.after_send(worker, op.partition, outcome, out);
    }

    fn after_send(&mut self, worker: usize, partition: i32, outcome: Outcome, out: Out<'_>) {
        if outcome == Outcome::Info {
            // Nobody knows which sequence numbers are used: a new identity.
            self.workers[worker].identity = None;
            self.workers[worker].process = self.take_process();
        }
        if outcome == Outcome::Ok {
            if let Some(identity) = &mut self.workers[worker].identity {
                identity.advance(partition);
            }
            return self.make_free(worker, out);
        }
        self.workers[worker].state = State::Resting;
        self.rest(worker);
    }

    /// Ends a send that waits for its next attempt, when the clients stop.
    pub(super) fn give_up_retry(&mut self, worker: usize, op: &SendOp, out: Out<'_>) {
        let last = op.attempts.last();
        let ended = Ended {
            outcome: last.map_or(Outcome::Fail, |attempt| attempt.outcome),
            offset: None,
            error: last.and_then(|attempt| attempt.error.clone()),
            retry: false,
        };
        self.finish_send(worker, op, ended, out);
    }

    pub(super) fn rest(&mut self, worker: usize) {
        let rest = REST_NS + self.rests.random_range(0..REST_NS / 2);
        self.timers
            .set(TimerKind::Client(worker), self.now_ns + rest);
    }

    /// Each further attempt waits twice as long, as Kafka's producer does.
    fn back_off(&mut self, worker: usize, attempts: u32) {
        let doubled = RETRY_NS << attempts.saturating_sub(1).min(4);
        let wait = doubled.min(RETRY_NS_MAX) + self.rests.random_range(0..RETRY_NS / 5);
        self.timers
            .set(TimerKind::Client(worker), self.now_ns + wait);
    }

    pub(super) fn identify(&mut self, worker: usize, out: Out<'_>) {
        let side = self.workers[worker].side;
        let node = self.sides[side].next_node();
        self.workers[worker].state = State::Identifying;
        let request = Request::InitProducerId;
        out.push(Command::Send {
            client: worker,
            node,
            request,
            timeout_ms: IDENTIFY_TIMEOUT_MS,
        });
    }

    /// Leaves the worker resting: it becomes free, or asks again, a little later.
    pub(super) fn identity_reply(&mut self, worker: usize, result: Reply) {
        if let Ok(Response::ProducerId {
            code: 0,
            producer_id,
            producer_epoch,
        }) = result
        {
            self.workers[worker].identity = Some(Identity::new(producer_id, producer_epoch));
            self.timers.set(TimerKind::Client(worker), self.now_ns);
        } else {
            self.rest(worker);
        }
    }

    pub(super) fn actor<'a>(&'a self, worker: usize, node: Option<&'a str>) -> record::Actor<'a> {
        let worker = &self.workers[worker];
        record::Actor {
            process: worker.process,
            client: &worker.plan.name,
            node,
        }
    }
}

fn ended(result: Reply, acks: i16) -> Ended {
    let with = |outcome, offset, error, retry| Ended {
        outcome,
        offset,
        error,
        retry,
    };
    match result {
        Ok(Response::Written) => with(Outcome::Ok, None, None, false),
        Ok(Response::Produced { code: 0, offset }) => with(Outcome::Ok, Some(offset), None, false),
        Ok(Response::Produced { code, .. }) => {
            let (outcome, retry) = (
                outcome::of_produce(code, acks),
                outcome::worth_retrying(code),
            );
            with(outcome, None, Some(outcome::name(code)), retry)
        }
        Ok(_) => with(
            Outcome::Info,
            None,
            Some("an answer of another kind".to_owned()),
            false,
        ),
        Err(broken) => {
            let error = Some(broken.text().to_owned());
            with(outcome::of_broken(&broken), None, error, true)
        }
    }
}
