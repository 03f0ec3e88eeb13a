//! Producer processes: one for each place where producers live, each with one
//! instance of a client library, many sends in flight. A process that ends,
//! says what is no report, or keeps a record to itself is a failure of the
//! test bed; what it had not reported is then unknown.

mod open;
mod process;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use self::process::Process;
use super::{Messages, Wiring};
use crate::clients::Produce;
use crate::clients::library::Hello;
use crate::session::ClientId;

/// A virtual machine that starts beside three others takes its time.
const READY_MAX: Duration = Duration::from_secs(60);
const END_MAX: Duration = Duration::from_secs(3);

/// The library that sends, and for whom.
#[derive(Clone, Debug)]
pub struct LibraryPlan {
    pub command: Vec<String>,
    pub hello: Hello,
    /// Whether it never sends a record again.
    pub one_attempt: bool,
    /// Where what the processes print on stderr is kept.
    pub logs: PathBuf,
    pub clients: Vec<ClientId>,
}

/// All producer processes of a run.
#[derive(Default)]
pub(super) struct Producers {
    /// Of each client, its process.
    of_client: BTreeMap<ClientId, usize>,
    processes: Vec<Served>,
}

/// A process with the task that serves it.
struct Served {
    orders: UnboundedSender<(ClientId, Produce)>,
    serving: JoinHandle<()>,
}

impl Producers {
    /// Starts them all and waits until each takes records; none where no library sends.
    pub async fn start(wiring: &Wiring, messages: &Messages) -> Result<Producers, String> {
        let Some(plan) = &wiring.library else {
            return Ok(Producers::default());
        };
        let mut names: Vec<String> = Vec::new();
        let mut started = Vec::new();
        let mut of_client = BTreeMap::new();
        for client in &plan.clients {
            let place = wiring.places.get(*client).and_then(Option::as_ref);
            let name = place.map_or("local", |place| place.name());
            let known = names.iter().position(|known| known == name);
            of_client.insert(*client, known.unwrap_or(names.len()));
            if known.is_none() {
                started.push(Process::start(plan, name, place)?);
                names.push(name.to_owned());
            }
        }
        let deadline = Instant::now() + READY_MAX;
        let mut processes = Vec::new();
        for mut process in started {
            process.greet(&plan.hello, deadline).await?;
            let (orders, receiver) = unbounded_channel();
            let serving = tokio::spawn(process.serve(receiver, messages.clone()));
            processes.push(Served { orders, serving });
        }
        Ok(Producers {
            of_client,
            processes,
        })
    }

    pub fn send(&self, client: ClientId, produce: Produce) {
        let process = self.of_client.get(&client);
        if let Some(process) = process.and_then(|index| self.processes.get(*index)) {
            // A process that is gone has said so, and the run is about to end.
            let _ = process.orders.send((client, produce));
        }
    }

    /// Closes their standard inputs and waits for them a little.
    pub async fn stop(self) {
        let mut serving = Vec::new();
        for process in self.processes {
            drop(process.orders);
            serving.push(process.serving);
        }
        for task in serving {
            let _ = timeout(END_MAX, task).await;
        }
    }
}
