//! The real shell: sockets, processes and the clock around a session. It
//! decides nothing; it only does what the session says and tells it what
//! happened, in the order in which it was seen.

mod connection;
mod injector;
mod live;
mod monitor;
mod observer;
mod producers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_checkers::history::Op;
use plimsoll_nemesis::inject::Nemesis;
use plimsoll_nemesis::lab::Place;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use self::connection::{Call, Connection};
pub use self::live::Live;
pub use self::producers::LibraryPlan;

use self::connection::Connections;
use self::injector::Injector;
use self::producers::Producers;
use crate::journal::Recorder;
use crate::session::{Command, Event, Session};
use crate::systems::NodeSet;

const WATCH_EVERY: Duration = Duration::from_millis(100);
/// Events taken in at once: enough to save wake-ups, few enough to stay fair.
const BATCH: usize = 128;

/// What reaches the loop.
enum Message {
    Event(Event),
    /// The test bed failed.
    Failed(String),
}

type Messages = UnboundedSender<Message>;

/// The test bed failed; this says nothing about the system under test.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TestBedError(pub String);

/// Where the state of replicas comes from.
#[derive(Clone, Debug)]
pub enum StateSource {
    /// The admin port of each node.
    Admin(Vec<SocketAddr>),
    /// Kafka's protocol: the ids of the nodes that are brokers, which come first.
    Protocol(Vec<i32>),
}

impl Default for StateSource {
    /// Nobody is watched.
    fn default() -> StateSource {
        StateSource::Admin(Vec::new())
    }
}

/// Where one client's connections start and go.
#[derive(Clone, Debug, Default)]
pub struct Wiring {
    /// The client port of each node.
    pub client_addrs: Vec<SocketAddr>,
    /// Where the state of the nodes is seen.
    pub state: StateSource,
    /// The place of each client of the session, where it has one.
    pub places: Vec<Option<Place>>,
    pub topic: String,
    /// The client library that sends for the workload's producers, where one does.
    pub library: Option<LibraryPlan>,
}

/// Someone who watches the run.
pub trait Watcher {
    fn watch(&mut self, session: &Session, elapsed: Duration);
}

/// All that a run needs.
pub struct Run<'a> {
    pub session: Session,
    pub nodes: &'a NodeSet,
    pub nemesis: Box<dyn Nemesis>,
    pub wiring: Wiring,
    pub recorder: Recorder,
    /// Judges meanwhile and stops the run at its first violation.
    pub live: Option<Live>,
    pub start: Instant,
    pub watcher: &'a mut dyn Watcher,
}

/// What is left when a run has ended.
pub struct Ended {
    pub session: Session,
    pub recorder: Recorder,
    /// How far the run had come when somebody stopped it, where somebody did.
    pub stopped_after: Option<Duration>,
    /// The violation at which it was stopped, where it was.
    pub violation: Option<String>,
    /// Why the test bed failed, where it did. The journal is whole all the same.
    pub failure: Option<TestBedError>,
}

/// Runs a session to its end on this thread.
pub fn run(run: Run<'_>) -> Result<Ended, TestBedError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| TestBedError(format!("the runtime did not start: {e}")))?;
    runtime.block_on(run_inside(run))
}

async fn run_inside(run: Run<'_>) -> Result<Ended, TestBedError> {
    let (sender, receiver) = unbounded_channel();
    let producers = Producers::start(&run.wiring, &sender)
        .await
        .map_err(TestBedError)?;
    let injector = Injector::start(run.nemesis, run.nodes.handle(), sender.clone());
    let wiring = Arc::new(run.wiring);
    watch_nodes(&wiring, &sender);
    let connections = Connections::new(wiring, sender);
    let mut shell = Shell {
        session: run.session,
        recorder: run.recorder,
        live: run.live,
        violation: None,
        connections,
        producers,
        injector,
        start: run.start,
        wake_ns: Some(0),
        stopped_after: None,
        finished: None,
    };
    shell.run_loop(receiver, run.nodes, run.watcher).await;
    shell.injector.stop();
    let failure = shell.finished.take().flatten().map(TestBedError);
    if failure.is_some() {
        shell.abandon();
    }
    shell.producers.stop().await;
    Ok(Ended {
        session: shell.session,
        recorder: shell.recorder,
        stopped_after: shell.stopped_after,
        violation: shell.violation,
        failure,
    })
}

fn watch_nodes(wiring: &Arc<Wiring>, messages: &Messages) {
    match &wiring.state {
        StateSource::Admin(addrs) => {
            for (node, addr) in addrs.iter().enumerate() {
                tokio::spawn(monitor::watch(node, *addr, messages.clone()));
            }
        }
        StateSource::Protocol(ids) => {
            for (node, id) in ids.iter().enumerate() {
                let observer = observer::Observer::new(Arc::clone(wiring), node, *id);
                tokio::spawn(observer.watch(messages.clone()));
            }
        }
    }
}

struct Shell {
    session: Session,
    recorder: Recorder,
    live: Option<Live>,
    violation: Option<String>,
    connections: Connections,
    producers: Producers,
    injector: Injector,
    start: Instant,
    wake_ns: Option<u64>,
    stopped_after: Option<Duration>,
    /// Set when the run is over, with the reason where the test bed failed.
    finished: Option<Option<String>>,
}

impl Shell {
    async fn run_loop(
        &mut self,
        mut receiver: UnboundedReceiver<Message>,
        nodes: &NodeSet,
        watcher: &mut dyn Watcher,
    ) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut watch = tokio::time::interval(WATCH_EVERY);
        let mut stop = StopSignals::new();
        while self.finished.is_none() {
            let wake = self.start + Duration::from_nanos(self.wake_ns.unwrap_or(u64::MAX / 4));
            tokio::select! {
                biased;
                signal = stop.next() => match signal {
                    Ok(()) => {
                        self.stopped_after.get_or_insert(self.start.elapsed());
                        self.step(Event::Stop);
                    }
                    Err(why) => self.fail(why),
                },
                _ = watch.tick() => self.watch(nodes, watcher),
                () = tokio::time::sleep_until(wake.into()), if self.wake_ns.is_some() => {
                    self.wake_ns = None;
                    self.step(Event::Timer);
                }
                _ = receiver.recv_many(&mut batch, BATCH) => {
                    batch.drain(..).for_each(|message| self.take(message));
                }
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Event(event) if self.finished.is_none() => self.step(event),
            Message::Event(_) => {}
            Message::Failed(why) => self.fail(why),
        }
    }

    fn fail(&mut self, why: String) {
        if !matches!(self.finished, Some(Some(_))) {
            self.finished = Some(Some(why));
        }
    }

    fn watch(&mut self, nodes: &NodeSet, watcher: &mut dyn Watcher) {
        if let Some(fallen) = nodes.fallen() {
            self.fail(fallen);
        }
        if self.recorder.is_broken() {
            self.fail("the journal cannot be written (is the disk full?)".to_owned());
        }
        watcher.watch(&self.session, self.start.elapsed());
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn abandon(&mut self) {
        let mut commands = Vec::new();
        self.session.abandon(self.now_ns(), &mut commands);
        for command in commands {
            if let Command::Record(op) = command {
                self.record(*op);
            }
        }
    }

    fn step(&mut self, event: Event) {
        let now_ns = self.now_ns();
        let mut commands = Vec::new();
        self.session.step(now_ns, event, &mut commands);
        let had = self.violation.is_some();
        for command in commands {
            self.carry_out(command);
        }
        if self.violation.is_some() && !had && self.finished.is_none() {
            self.stopped_after.get_or_insert(self.start.elapsed());
            self.step(Event::Stop);
        }
    }

    fn record(&mut self, mut op: Op) {
        self.recorder.record(&mut op);
        if let Some(live) = &mut self.live {
            self.violation = live.see(&op).or(self.violation.take());
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Send {
                client,
                node,
                request,
                timeout_ms,
            } => {
                self.connections
                    .send(client, node, request, Duration::from_millis(timeout_ms));
            }
            Command::HandOver { client, produce } => self.producers.send(client, produce),
            Command::Inject { planned, view } => self.injector.inject(planned, view),
            Command::Heal { id } => self.injector.heal(id),
            Command::Record(op) => self.record(*op),
            Command::WakeAt(at) => self.wake_ns = Some(at),
            Command::GiveUp(why) => self.fail(why),
            Command::Finished => self.finished = self.finished.take().or(Some(None)),
        }
    }
}

/// Ctrl-C and SIGTERM end a run early, healed and judged; a second one ends
/// it at once.
struct StopSignals {
    signals: Option<(tokio::signal::unix::Signal, tokio::signal::unix::Signal)>,
    first: Option<Instant>,
}

/// A signal to the whole process group arrives twice: directly, and passed on by the front.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

impl StopSignals {
    fn new() -> StopSignals {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt());
        let terminate = signal(SignalKind::terminate());
        StopSignals {
            signals: interrupt.ok().zip(terminate.ok()),
            first: None,
        }
    }

    async fn next(&mut self) -> Result<(), String> {
        match &mut self.signals {
            Some((interrupt, terminate)) => {
                tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            }
            None => std::future::pending().await,
        }
        let first = *self.first.get_or_insert_with(Instant::now);
        if first.elapsed() > SAME_SIGNAL {
            return Err("the run was stopped twice, before it could heal and read".to_owned());
        }
        Ok(())
    }
}
