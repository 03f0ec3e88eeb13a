//! The session: one run as a state machine. Generator, protocol clients, fault
//! schedule and journal come together here; sockets, processes and time stay
//! in the shells. `step` takes what happened and says what is to be done.
//!
//! Every op is recorded as invoked before it is sent and as completed after
//! its answer was received; a process that got an indeterminate answer never
//! acts again. The run always ends healed.

mod abandon;
mod barrier;
mod cluster;
mod config;
mod endgame;
mod faults;
mod final_read;
mod messages;
mod metadata;
mod phase;
mod polls;
mod record;
mod refresh;
mod sends;
mod settle;
mod stats;
mod timers;
mod worker;

pub use config::{NodeInfo, SendBy, SendPolicy, SessionConfig, key};
pub use messages::{ClientId, Command, Event, FaultStep, NodeIndex, NodeReport, ReplicaReport};
pub use phase::Phase;
pub use stats::Stats;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use self::cluster::Cluster;
use self::endgame::Endgame;
use self::faults::Faults;
use self::metadata::SideMetadata;
use self::timers::{TimerKind, Timers};
use self::worker::{State, Worker};
use crate::clients::{Broken, Response};
use crate::workload::{Context, Generator, LogSettings, LogWorkload, Next, Role, Side};

/// A stream of random numbers for each component that draws any.
const STREAM_WORKLOAD: u64 = 0x6c6f_6700;
const STREAM_RESTS: u64 = 0x7265_7374;

/// One run.
pub struct Session {
    config: SessionConfig,
    now_ns: u64,
    phase: Phase,
    timers: Timers,
    cluster: Cluster,
    sides: Vec<SideMetadata>,
    workers: Vec<Worker>,
    free: Free,
    generator: Option<LogWorkload>,
    rests: ChaCha8Rng,
    faults: Faults,
    setup: phase::Setup,
    endgame: Endgame,
    next_process: u64,
    stats: Stats,
    stopping: bool,
}

/// Workers without an op, by role.
#[derive(Debug, Default)]
struct Free {
    producers: Vec<usize>,
    consumers: Vec<usize>,
}

impl Free {
    fn of(&mut self, role: Role) -> &mut Vec<usize> {
        match role {
            Role::Producer => &mut self.producers,
            Role::Consumer => &mut self.consumers,
        }
    }
}

type Out<'a> = &'a mut Vec<Command>;
type Reply = Result<Response, Broken>;

impl Session {
    pub fn new(mut config: SessionConfig) -> Session {
        let mut sides: Vec<Side> = config.clients.iter().map(|client| client.side).collect();
        sides.push(Side::Everywhere);
        sides.sort_unstable();
        sides.dedup();
        let side_of = |side: Side| sides.iter().position(|s| *s == side).unwrap_or(0);
        let workers: Vec<Worker> = config
            .clients
            .iter()
            .zip(0..)
            .map(|(plan, process)| Worker::new(plan.clone(), side_of(plan.side), process))
            .collect();
        let brokers = config.brokers().count();
        let schedule = std::mem::replace(
            &mut config.schedule,
            plimsoll_nemesis::schedule::Schedule::set(Vec::new()),
        );
        let next_process = u64::try_from(workers.len()).unwrap_or(0);
        Session {
            now_ns: 0,
            phase: Phase::Setup,
            timers: Timers::default(),
            cluster: Cluster::new(
                &config.topic.name,
                config.topic.partitions,
                config.nodes.clone(),
            ),
            sides: sides
                .iter()
                .map(|side| SideMetadata::new(*side, brokers))
                .collect(),
            workers,
            free: Free::default(),
            generator: None,
            rests: ChaCha8Rng::seed_from_u64(config.seed ^ STREAM_RESTS),
            faults: Faults::new(schedule),
            setup: phase::Setup::default(),
            endgame: Endgame::default(),
            next_process,
            stats: Stats::default(),
            stopping: false,
            config,
        }
    }

    /// The side of every client that the session will ever send for. Clients
    /// that read the end state are never cut off.
    pub fn client_sides(&self) -> Vec<Side> {
        let workers = self.workers.iter().map(|worker| worker.plan.side);
        let metadata = self.sides.iter().map(|side| side.side);
        let rest = self.client_count() - self.workers.len() - self.sides.len();
        workers
            .chain(metadata)
            .chain(std::iter::repeat_n(Side::Everywhere, rest))
            .collect()
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Names of clients with their sides, for the history's header.
    pub fn workers(&self) -> impl Iterator<Item = &crate::workload::ClientPlan> {
        self.workers.iter().map(|worker| &worker.plan)
    }

    /// Takes what happened in and says what is to be done.
    pub fn step(&mut self, now_ns: u64, event: Event, out: Out<'_>) {
        self.now_ns = now_ns;
        match event {
            Event::Reply { client, result } => self.reply(client, result, out),
            Event::Fault { id, step } => self.fault_step(id, step, out),
            Event::Node { node, report } => {
                if let Some(op) = self.cluster.learn(node, report, now_ns) {
                    out.push(Command::Record(Box::new(op)));
                }
                self.settle(out);
            }
            Event::Timer => self.timers.woken(),
            Event::Stop if !self.stopping => {
                self.stopping = true;
                let line = record::nemesis("stopped", serde_json::json!({}));
                out.push(Command::Record(Box::new(line)));
            }
            Event::Stop => {}
        }
        while let Some(timer) = self.timers.pop_due(now_ns) {
            self.timer(timer, out);
        }
        self.advance(out);
        self.generate(out);
        if let Some(at) = self.timers.news() {
            out.push(Command::WakeAt(at));
        }
    }

    fn reply(&mut self, client: ClientId, result: Reply, out: Out<'_>) {
        let workers = self.workers.len();
        let sides = self.sides.len();
        if client < workers {
            self.worker_reply(client, result, out);
        } else if client < workers + sides {
            self.metadata_reply(client - workers, result, out);
        } else if client == self.setup_client() {
            self.setup_reply(result, out);
        } else {
            self.endgame_reply(client, result, out);
        }
    }

    fn worker_reply(&mut self, worker: usize, result: Reply, out: Out<'_>) {
        match std::mem::replace(&mut self.workers[worker].state, State::Resting) {
            State::Sending(op) => self.send_reply(worker, op, result, out),
            State::Polling(op) => self.poll_reply(worker, op, result, out),
            State::Identifying => self.identity_reply(worker, result),
            other => self.workers[worker].state = other,
        }
    }

    fn timer(&mut self, timer: TimerKind, out: Out<'_>) {
        match timer {
            TimerKind::Generate | TimerKind::Phase => {}
            TimerKind::Fault => self.fault_due(out),
            TimerKind::Heal(id) => self.heal_due(id, out),
            TimerKind::Client(client) if client < self.workers.len() => {
                self.worker_timer(client, out);
            }
            TimerKind::Client(client) if client < self.workers.len() + self.sides.len() => {
                self.refresh(client - self.workers.len(), out);
            }
            TimerKind::Client(client) if client == self.setup_client() => self.set_up(out),
            TimerKind::Client(client) => self.endgame_timer(client, out),
        }
    }

    fn worker_timer(&mut self, worker: usize, out: Out<'_>) {
        match std::mem::replace(&mut self.workers[worker].state, State::Resting) {
            State::BeforeRetry(op) => self.attempt(worker, op, out),
            State::Resting => self.make_free(worker, out),
            other => self.workers[worker].state = other,
        }
    }

    /// A worker is ready for its next op, once it has the identity that it needs.
    fn make_free(&mut self, worker: usize, out: Out<'_>) {
        let needs_identity = self.config.send.idempotent
            && self.config.send.by == SendBy::Request
            && self.workers[worker].is_producer()
            && self.workers[worker].identity.is_none();
        if needs_identity && self.phase.runs_clients() {
            return self.identify(worker, out);
        }
        self.workers[worker].state = State::Free;
        let role = self.workers[worker].plan.role;
        self.free.of(role).push(worker);
    }

    fn generate(&mut self, out: Out<'_>) {
        if !self.phase.runs_clients() {
            return;
        }
        while let Some(generator) = &mut self.generator {
            let context = Context {
                now_ns: self.now_ns,
                free_producers: &self.free.producers,
                free_consumers: &self.free.consumers,
            };
            match generator.next(&context) {
                Next::Op { client, action } => self.start(client, action, out),
                Next::Pending { until_ns } => {
                    return self.timers.set(TimerKind::Generate, until_ns);
                }
                Next::Busy => return,
            }
        }
    }

    fn start(&mut self, worker: usize, action: crate::workload::Action, out: Out<'_>) {
        let role = self.workers[worker].plan.role;
        let free = self.free.of(role);
        if let Some(position) = free.iter().position(|w| *w == worker) {
            free.swap_remove(position);
        }
        match action {
            crate::workload::Action::Send { partition, value } => {
                self.start_send(worker, partition, value, out);
            }
            crate::workload::Action::Poll { partition, from } => {
                self.start_poll(worker, partition, from, out);
            }
        }
    }

    /// Starts the clients; the run's time limit counts from here.
    fn start_clients(&mut self, out: Out<'_>) {
        let settings = LogSettings {
            partitions: self.config.topic.partitions,
            rate: self.config.rate,
        };
        let seed = self.config.seed ^ STREAM_WORKLOAD;
        self.generator = Some(LogWorkload::new(seed, settings, self.now_ns));
        for worker in 0..self.workers.len() {
            self.make_free(worker, out);
        }
    }

    /// A new number for a client whose last process may not go on.
    fn take_process(&mut self) -> u64 {
        self.next_process += 1;
        self.next_process - 1
    }
}

#[cfg(test)]
mod tests;
