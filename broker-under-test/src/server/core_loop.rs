//! The thread that runs the core: takes inputs in order, carries outputs out, keeps time.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::oneshot;

use super::BrokerError;
use super::args::Settings;
use super::peer_calls::PeerCalls;
use super::wiring::{ToConnection, Wiring};
use crate::core::ids::Now;
use crate::core::node::{Node, Recovered};
use crate::core::seam::{Event, Input, Output};
use crate::storage::recovery::DataDir;
use crate::storage::threads::Storage;

/// Inputs taken before the time is looked at again.
const INPUTS_PER_TURN_MAX: usize = 512;
/// A tick that is this late means that the process was stopped or starved.
const LATE: Duration = Duration::from_millis(200);
/// After that, sockets get this long to hand over what has come in meanwhile, before any timer
/// fires on what may be old news.
const DRAIN: Duration = Duration::from_millis(20);

/// How the core ended.
#[derive(Debug)]
pub enum Ended {
    /// It was told to, and handed over.
    Stopped,
    /// It could not go on.
    Fatal(String),
}

enum Message {
    Input(Input),
    Finish,
}

/// Sends inputs to the core.
#[derive(Clone)]
pub struct CoreHandle {
    inputs: Sender<Message>,
    names: Arc<super::clients::TopicNames>,
}

impl CoreHandle {
    /// Starts the core on its thread.
    ///
    /// # Errors
    /// Where a thread cannot be started.
    pub fn start(
        settings: &Settings,
        data_dir: DataDir,
        recovered: Recovered,
        wiring: Arc<Wiring>,
    ) -> Result<(Self, oneshot::Receiver<Ended>), BrokerError> {
        let (inputs, queue) = channel();
        let completed = |inputs: Sender<Message>| {
            Box::new(move |id, done| {
                let _ended = inputs.send(Message::Input(Input::Io { id, done }));
            })
        };
        let storage = Storage::start(
            data_dir,
            completed(inputs.clone()),
            completed(inputs.clone()),
        )?;
        let names = Arc::new(super::clients::TopicNames::default());
        let handle = Self {
            inputs,
            names: Arc::clone(&names),
        };
        let clock = Clock(Instant::now());
        let core = Core {
            node: Node::new(settings.node.clone(), recovered, clock.now()),
            clock,
            wiring,
            storage,
            calls: PeerCalls::new(handle.clone(), tokio::runtime::Handle::current()),
            names,
            applied: 0,
            wake_at: Instant::now(),
            ended: None,
        };
        let (tell, ended) = oneshot::channel();
        std::thread::Builder::new()
            .name("core".to_owned())
            .spawn(move || {
                let end = core.run(&queue);
                let _gone = tell.send(end);
            })
            .map_err(|source| BrokerError::System {
                what: "start the core's thread",
                source,
            })?;
        Ok((handle, ended))
    }

    /// Hands an input to the core. When the core has ended, so does the process.
    pub fn send(&self, input: Input) {
        let _ended = self.inputs.send(Message::Input(input));
    }

    /// Ends the core without handing over.
    pub fn finish(&self) {
        let _ended = self.inputs.send(Message::Finish);
    }

    /// The topics' names by id, as last applied.
    pub fn names(&self) -> &super::clients::TopicNames {
        &self.names
    }
}

struct Clock(Instant);

impl Clock {
    fn now(&self) -> Now {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Now {
            mono_ms: u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX),
            wall_ms: i64::try_from(wall.as_millis()).unwrap_or(i64::MAX),
        }
    }

    fn instant(&self, mono_ms: u64) -> Instant {
        self.0 + Duration::from_millis(mono_ms)
    }
}

struct Core {
    node: Node,
    clock: Clock,
    wiring: Arc<Wiring>,
    storage: Storage,
    calls: PeerCalls,
    names: Arc<super::clients::TopicNames>,
    applied: u64,
    wake_at: Instant,
    ended: Option<Ended>,
}

impl Core {
    fn run(mut self, queue: &Receiver<Message>) -> Ended {
        self.step(Input::Tick);
        let mut drained_after_stop = false;
        while self.ended.is_none() {
            let wait = self.wake_at.saturating_duration_since(Instant::now());
            match queue.recv_timeout(wait) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            for message in queue.try_iter().take(INPUTS_PER_TURN_MAX) {
                self.take(message);
            }
            let late = Instant::now().saturating_duration_since(self.wake_at);
            if late > LATE && !drained_after_stop {
                drained_after_stop = true;
                std::thread::sleep(DRAIN);
            } else if Instant::now() >= self.wake_at {
                drained_after_stop = false;
                self.step(Input::Tick);
            }
        }
        self.storage.finish();
        self.ended.unwrap_or(Ended::Stopped)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Input(input) => self.step(input),
            Message::Finish => self.ended = Some(Ended::Stopped),
        }
    }

    fn step(&mut self, input: Input) {
        let mut out = Vec::new();
        self.node.step(self.clock.now(), input, &mut out);
        for output in out {
            self.carry_out(output);
        }
        if self.node.image().applied != self.applied {
            self.applied = self.node.image().applied;
            self.names.update(self.node.image());
        }
    }

    fn carry_out(&mut self, output: Output) {
        match output {
            Output::Reply { conn, id, body } => {
                self.wiring.say(conn, ToConnection::Reply(id, body))
            }
            Output::Close { conn } => self.wiring.say(conn, ToConnection::Close),
            Output::Call {
                to,
                call,
                body,
                timeout_ms,
            } => self
                .calls
                .call(&to, call, &body, Duration::from_millis(timeout_ms)),
            Output::Io { id, op } => self.storage.submit(id, op),
            Output::WakeAt(at) => self.wake_at = self.clock.instant(at),
            Output::Event(Event::Info(what)) => tracing::info!("{what}"),
            Output::Event(Event::Warning(what)) => tracing::warn!("{what}"),
            Output::Event(Event::MayStop) => self.ended = Some(Ended::Stopped),
            Output::Event(Event::Fatal(what)) => {
                tracing::error!("{what}");
                self.ended = Some(Ended::Fatal(what));
            }
        }
    }
}
