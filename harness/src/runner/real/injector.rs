//! The nemesis on a thread of its own: proofs and restarts may take a while,
//! and the clients must not wait for them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use plimsoll_nemesis::faults::ClusterView;
use plimsoll_nemesis::inject::{InjectError, Injection, Nemesis, Targets};
use plimsoll_nemesis::schedule::Planned;

use super::{Message, Messages};
use crate::session::{Event, FaultStep};
use crate::systems::NodeSet;

enum Order {
    Inject(Box<Planned>, ClusterView),
    Heal(u64),
    Stop,
}

pub(super) struct Injector {
    orders: Sender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Injector {
    pub fn start(nemesis: Box<dyn Nemesis>, nodes: NodeSet, messages: Messages) -> Injector {
        let (orders, receiver) = channel();
        let targets = nodes.targets();
        let work = Work {
            nemesis,
            nodes,
            targets,
            messages,
        };
        let thread = std::thread::Builder::new()
            .name("nemesis".to_owned())
            .spawn(move || work.until_stopped(&receiver));
        Injector {
            orders,
            thread: thread.ok(),
        }
    }

    pub fn inject(&self, planned: Planned, view: ClusterView) {
        // A thread that is gone has said why.
        let _ = self.orders.send(Order::Inject(Box::new(planned), view));
    }

    pub fn heal(&self, id: u64) {
        let _ = self.orders.send(Order::Heal(id));
    }

    pub fn stop(&mut self) {
        let _ = self.orders.send(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    nemesis: Box<dyn Nemesis>,
    nodes: NodeSet,
    targets: Targets,
    messages: Messages,
}

impl Work {
    fn until_stopped(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            let message = match order {
                Order::Stop => return,
                Order::Inject(planned, view) => {
                    let done = self.nemesis.inject(&planned, &view, &mut self.targets);
                    told(planned.id, done.map(injected))
                }
                Order::Heal(id) => {
                    let done = self.heal(id);
                    told(id, done)
                }
            };
            if self.messages.send(message).is_err() {
                return;
            }
        }
    }

    /// Heals, and finds out which nodes were started by that.
    fn heal(&mut self, id: u64) -> Result<FaultStep, InjectError> {
        let before = self.nodes.incarnations();
        self.nemesis.heal(id, &mut self.targets)?;
        let after = self.nodes.incarnations();
        let started = after
            .into_iter()
            .zip(before)
            .filter(|(a, b)| a != b)
            .map(|(a, _)| a);
        Ok(FaultStep::Healed {
            started: started.collect(),
        })
    }
}

fn injected(injection: Injection) -> FaultStep {
    match injection {
        Injection::Installed(done) => FaultStep::Installed {
            targets: done.targets,
            cuts: done.cuts,
            proof: done.proof,
        },
        Injection::Skipped(reason) => FaultStep::Skipped { reason },
    }
}

fn told(id: u64, done: Result<FaultStep, InjectError>) -> Message {
    match done {
        Ok(step) => Message::Event(Event::Fault { id, step }),
        Err(error) => Message::Failed(error.to_string()),
    }
}
