//! Producers that are processes of their own, one for each place where clients
//! live, so that a library's own sockets are cut off with its place. Many sends
//! are under way at once; each ends with the producer's word on it, or as lost.

use std::collections::{BTreeMap, HashMap};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_nemesis::lab::Place;

use super::{Message, Messages};
use crate::clients::lines::{self, Said};
use crate::clients::{Broken, Produce};
use crate::session::{ClientId, Event};
use crate::systems::die_with_parent;

/// A JVM has to start and to compile its one source file.
const READY_MAX: Duration = Duration::from_secs(90);

/// How producers are started.
#[derive(Clone, Debug)]
pub struct ProducerPlan {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where what they print to stderr is kept.
    pub log: PathBuf,
    /// Clients with smaller numbers send through them; the others, which read and set up, do not.
    pub clients: usize,
}

/// The sends of one process that have not ended.
#[derive(Default)]
struct Open {
    sends: HashMap<u64, ClientId>,
    next_id: u64,
    gone: bool,
}

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    open: Arc<Mutex<Open>>,
    lines: Option<std::sync::mpsc::Receiver<Said>>,
}

/// All producers of a run; they end with it.
pub struct Producers {
    clients: usize,
    /// The process of each client's place.
    of_client: Vec<usize>,
    processes: Vec<Process>,
    messages: Arc<Mutex<Option<Messages>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Plain maps: still sound if a holder panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Producers {
    /// Starts one for each place and waits until all are ready.
    pub fn start(plan: &ProducerPlan, places: &[Option<Place>]) -> anyhow::Result<Producers> {
        let mut producers = Producers {
            clients: plan.clients,
            of_client: Vec::new(),
            processes: Vec::new(),
            messages: Arc::default(),
        };
        let mut by_place: BTreeMap<String, usize> = BTreeMap::new();
        for client in 0..plan.clients {
            let place = places.get(client).and_then(Option::as_ref);
            let name = place.map_or("", Place::name).to_owned();
            let process = match by_place.get(&name) {
                Some(process) => *process,
                None => {
                    let process = producers.spawn(plan, place)?;
                    producers.processes.push(process);
                    by_place.insert(name, producers.processes.len() - 1);
                    producers.processes.len() - 1
                }
            };
            producers.of_client.push(process);
        }
        for process in &mut producers.processes {
            process.await_ready(plan)?;
        }
        Ok(producers)
    }

    fn spawn(&self, plan: &ProducerPlan, place: Option<&Place>) -> anyhow::Result<Process> {
        let (program, args) = plan
            .command
            .split_first()
            .context("a producer has a program")?;
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&plan.log)?;
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log);
        match place {
            Some(place) => place.put(&mut command),
            None => die_with_parent(&mut command),
        }
        let mut child = command
            .spawn()
            .with_context(|| format!("starting the producer {program}"))?;
        let stdout = child.stdout.take().context("the producer's stdout")?;
        let stdin = child.stdin.take();
        let open = Arc::new(Mutex::new(Open::default()));
        let (sender, lines) = channel();
        let reader = Reader {
            open: Arc::clone(&open),
            messages: Arc::clone(&self.messages),
            log: plan.log.clone(),
        };
        std::thread::Builder::new()
            .name("producer".to_owned())
            .spawn(move || {
                for line in BufReader::new(stdout).lines() {
                    match line
                        .map_err(|e| e.to_string())
                        .and_then(|line| lines::parse(&line))
                    {
                        Ok(Said::Ready) => drop(sender.send(Said::Ready)),
                        Ok(Said::Ended(id, result)) => reader.ended(id, result),
                        Err(why) => {
                            reader.failed(&why);
                            break;
                        }
                    }
                }
                reader.gone();
            })?;
        Ok(Process {
            child,
            stdin,
            open,
            lines: Some(lines),
        })
    }

    /// The runner is there to be told.
    pub(super) fn attach(&self, messages: Messages) {
        *lock(&self.messages) = Some(messages);
    }

    pub(super) fn sends_for(&self, client: ClientId) -> bool {
        client < self.clients
    }

    /// Hands a send over; the answer comes as a message, at the latest after `timeout`.
    pub(super) fn send(&mut self, client: ClientId, produce: &Produce, timeout: Duration) {
        let messages = lock(&self.messages).clone();
        let reply = move |result| {
            if let Some(messages) = &messages {
                // Nobody listens any more when the run is over.
                let _ = messages.send(Message::Event(Event::Reply { client, result }));
            }
        };
        let position = self.of_client.get(client).copied().unwrap_or(0);
        let Some(process) = self.processes.get_mut(position) else {
            return reply(Err(Broken::NotSent("there is no producer".to_owned())));
        };
        let id = {
            let mut open = lock(&process.open);
            if open.gone {
                return reply(Err(Broken::NotSent("the producer is gone".to_owned())));
            }
            open.next_id += 1;
            let id = open.next_id;
            open.sends.insert(id, client);
            id
        };
        let line = lines::line(id, produce) + "\n";
        let written = process
            .stdin
            .as_mut()
            .map(|stdin| stdin.write_all(line.as_bytes()));
        if !matches!(written, Some(Ok(()))) && lock(&process.open).sends.remove(&id).is_some() {
            return reply(Err(Broken::Lost(
                "the producer takes no more lines".to_owned(),
            )));
        }
        let open = Arc::clone(&process.open);
        tokio::spawn(async move {
            tokio::time::sleep(timeout).await;
            if lock(&open).sends.remove(&id).is_some() {
                reply(Err(Broken::Lost(
                    "the producer did not answer in time".to_owned(),
                )));
            }
        });
    }
}

impl Process {
    fn await_ready(&mut self, plan: &ProducerPlan) -> anyhow::Result<()> {
        let Some(lines) = self.lines.take() else {
            return Ok(());
        };
        match lines.recv_timeout(READY_MAX) {
            Ok(_) => Ok(()),
            Err(RecvTimeoutError::Timeout) => bail!(
                "a producer was not ready within {} s; see {}",
                READY_MAX.as_secs(),
                plan.log.display()
            ),
            Err(RecvTimeoutError::Disconnected) => {
                let said = std::fs::read_to_string(&plan.log).unwrap_or_default();
                bail!(
                    "a producer ended before it was ready; {}:\n{}",
                    plan.log.display(),
                    said.trim_end()
                )
            }
        }
    }
}

impl Drop for Producers {
    fn drop(&mut self) {
        *lock(&self.messages) = None;
        for process in &mut self.processes {
            drop(process.stdin.take());
            // What is still in its hands is of no further use.
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}

/// What the thread that reads a producer's words needs.
struct Reader {
    open: Arc<Mutex<Open>>,
    messages: Arc<Mutex<Option<Messages>>>,
    log: PathBuf,
}

impl Reader {
    fn tell(&self, message: Message) {
        if let Some(messages) = lock(&self.messages).as_ref() {
            let _ = messages.send(message);
        }
    }

    fn ended(&self, id: u64, result: Result<crate::clients::Response, Broken>) {
        // One that was given up already has ended as lost.
        if let Some(client) = lock(&self.open).sends.remove(&id) {
            self.tell(Message::Event(Event::Reply { client, result }));
        }
    }

    fn failed(&self, why: &str) {
        self.tell(Message::Failed(why.to_owned()));
    }

    /// The process has ended: nobody knows what became of what it had.
    fn gone(&self) {
        let left: Vec<ClientId> = {
            let mut open = lock(&self.open);
            open.gone = true;
            open.sends.drain().map(|(_, client)| client).collect()
        };
        for client in left {
            let result = Err(Broken::Lost("the producer has ended".to_owned()));
            self.tell(Message::Event(Event::Reply { client, result }));
        }
        // While the run goes on, that is a failure of the test bed; afterwards nobody listens.
        self.failed(&format!(
            "a producer ended by itself; see {}",
            self.log.display()
        ));
    }
}
