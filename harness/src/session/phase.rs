//! The phases of a run, and when each gives way to the next: set up, warm up,
//! faults, heal, settle, final read, done.

use super::config::key;
use super::messages::{ClientId, Command};
use super::timers::TimerKind;
use super::worker::State;
use super::{Out, Reply, Session, record};
use crate::clients::{Broken, Request, Response, outcome};

const MS: u64 = 1_000_000;
const SETUP_RETRY_NS: u64 = 15 * MS;
const SETUP_TIMEOUT_MS: u64 = 3000;
/// The warm-up ends at the first acknowledged send, or after this long.
const WARM_UP_LIMIT_NS: u64 = 1000 * MS;
const TOPIC_EXISTS: i16 = 36;
/// Too few brokers yet, and no controller.
const CERTAINLY_NOT_CREATED: [i16; 2] = [38, 41];

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Setup,
    WarmUp,
    Faults,
    Heal,
    Settle,
    FinalRead,
    Done,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Setup => "setup",
            Phase::WarmUp => "warm-up",
            Phase::Faults => "faults",
            Phase::Heal => "heal",
            Phase::Settle => "settle",
            Phase::FinalRead => "final-read",
            Phase::Done => "done",
        }
    }

    pub fn runs_clients(self) -> bool {
        matches!(self, Phase::WarmUp | Phase::Faults)
    }

    pub fn is_over(self) -> bool {
        self >= Phase::Settle
    }
}

/// What the set-up and the clocks of phases need to remember.
#[derive(Debug, Default)]
pub struct Setup {
    begun: bool,
    topic_exists: bool,
    /// An attempt to make the topic ended so that it may be there.
    may_have_created: bool,
    attempts: usize,
    last_error: String,
    clients_started_ns: u64,
}

impl Session {
    pub(super) fn setup_client(&self) -> ClientId {
        self.workers.len() + self.sides.len()
    }

    pub(super) fn enter(&mut self, phase: Phase, out: Out<'_>) {
        self.phase = phase;
        out.push(Command::Record(Box::new(record::phase(phase.name()))));
    }

    /// Moves on to the next phase when this one is over.
    pub(super) fn advance(&mut self, out: Out<'_>) {
        match self.phase {
            Phase::Setup => self.advance_setup(out),
            Phase::WarmUp => self.advance_warm_up(out),
            Phase::Faults => self.advance_faults(out),
            Phase::Heal => self.advance_heal(out),
            Phase::Settle | Phase::FinalRead => self.advance_endgame(out),
            Phase::Done => {}
        }
    }

    fn advance_setup(&mut self, out: Out<'_>) {
        if self.stopping {
            self.enter(Phase::Done, out);
            return out.push(Command::Finished);
        }
        if !self.setup.begun {
            return self.begin(out);
        }
        let partitions = self.config.topic.partitions;
        let in_sync = || self.cluster.agreement().len() == self.partitions();
        if self.setup.topic_exists
            && self.sides.iter().all(|s| s.knows_all_leaders(partitions))
            && (!self.config.starts_settled || in_sync())
        {
            self.setup.clients_started_ns = self.now_ns;
            self.enter(Phase::WarmUp, out);
            self.start_faults();
            self.start_clients(out);
            self.timers
                .set(TimerKind::Phase, self.now_ns + WARM_UP_LIMIT_NS);
        } else if self.now_ns > self.config.setup_limit_ms * MS {
            let limit = self.config.setup_limit_ms / 1000;
            let doing = if self.setup.topic_exists {
                "elect leaders"
            } else {
                "create a topic"
            };
            let error = &self.setup.last_error;
            out.push(Command::GiveUp(format!(
                "the cluster did not {doing} within {limit} s; the last error was: {error}"
            )));
        }
    }

    fn begin(&mut self, out: Out<'_>) {
        self.setup.begun = true;
        self.enter(Phase::Setup, out);
        for node in &self.config.nodes {
            let value = serde_json::json!({ "node": node.name, "incarnation": 1 });
            out.push(Command::Record(Box::new(record::nemesis("start", value))));
        }
        let limit = self.config.setup_limit_ms * MS;
        self.timers.set(TimerKind::Phase, limit + MS);
        self.set_up(out);
        for side in 0..self.sides.len() {
            self.refresh(side, out);
        }
    }

    fn setup_node(&self, attempt: usize) -> usize {
        attempt % self.config.brokers().count().max(1)
    }

    /// Asks one broker after another to create the topic.
    pub(super) fn set_up(&mut self, out: Out<'_>) {
        if self.setup.topic_exists || self.phase != Phase::Setup {
            return;
        }
        let node = self.setup_node(self.setup.attempts);
        self.setup.attempts += 1;
        let request = Request::CreateTopic(self.config.topic.clone());
        let client = self.setup_client();
        out.push(Command::Send {
            client,
            node,
            request,
            timeout_ms: SETUP_TIMEOUT_MS,
        });
    }

    pub(super) fn setup_reply(&mut self, result: Reply, out: Out<'_>) {
        let node = self.setup_node(self.setup.attempts.saturating_sub(1));
        let asked = self.cluster.name(node).to_owned();
        match result {
            // An earlier attempt of ours may have made it, though its answer was lost; otherwise it
            // was there before, and whatever is in it would be taken for what this run did.
            Ok(Response::TopicCreated {
                code: TOPIC_EXISTS, ..
            }) if !self.setup.may_have_created => {
                let topic = &self.config.topic.name;
                return out.push(Command::GiveUp(format!(
                    "the cluster already has a topic {topic}, of an earlier run or somebody else's: give another \
                     name with --topic, or delete it"
                )));
            }
            Ok(Response::TopicCreated {
                code: 0 | TOPIC_EXISTS,
                ..
            }) => {
                self.setup.topic_exists = true;
                for side in 0..self.sides.len() {
                    self.want_refresh(side);
                }
                return;
            }
            Ok(Response::TopicCreated { code, message }) => {
                self.setup.may_have_created |= !CERTAINLY_NOT_CREATED.contains(&code);
                self.setup.last_error = format!("{asked}: {}: {message}", outcome::name(code));
            }
            Ok(_) => self.setup.last_error = format!("{asked}: an answer of another kind"),
            Err(broken) => {
                self.setup.may_have_created |= matches!(broken, Broken::Lost(_));
                self.setup.last_error = format!("{asked}: {}", broken.text());
            }
        }
        let client = self.setup_client();
        self.timers
            .set(TimerKind::Client(client), self.now_ns + SETUP_RETRY_NS);
    }

    fn clients_end_ns(&self) -> u64 {
        self.setup.clients_started_ns + self.config.time_limit_ms * MS
    }

    fn advance_warm_up(&mut self, out: Out<'_>) {
        let waited = self.now_ns - self.setup.clients_started_ns;
        if self.stats.acked > 0 || waited >= WARM_UP_LIMIT_NS || self.stopping {
            self.enter(Phase::Faults, out);
            self.timers.set(TimerKind::Phase, self.clients_end_ns());
        }
    }

    fn advance_faults(&mut self, out: Out<'_>) {
        if self.now_ns < self.clients_end_ns() && !self.stopping {
            return;
        }
        self.enter(Phase::Heal, out);
        self.generator = None;
        self.heal_all(out);
        for worker in 0..self.workers.len() {
            let state = std::mem::replace(&mut self.workers[worker].state, State::Resting);
            match state {
                State::BeforeRetry(op) => self.give_up_retry(worker, &op, out),
                other => self.workers[worker].state = other,
            }
        }
        let deadline = self.now_ns + self.config.settle_limit_ms * MS;
        self.endgame.begin(deadline);
        self.timers.set(TimerKind::Phase, deadline);
    }

    /// Settling starts when no op is open and no fault is on.
    fn advance_heal(&mut self, out: Out<'_>) {
        if self.workers.iter().all(super::worker::Worker::is_idle) && self.faults.all_healed() {
            self.enter(Phase::Settle, out);
            self.settle(out);
        }
    }

    /// The keys of all partitions.
    pub(super) fn keys(&self) -> Vec<String> {
        let topic = &self.config.topic;
        (0..topic.partitions)
            .map(|partition| key(&topic.name, partition))
            .collect()
    }
}
