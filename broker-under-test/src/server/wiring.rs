//! Which connection an answer goes to, and how much memory requests take at present.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::core::ids::{ConnId, RequestId};
use crate::core::messages::Response;

/// Bytes of requests that may be held at once, over all connections.
const BUDGET_BYTES: usize = 256 << 20;

/// What the core says to a connection.
#[derive(Debug)]
pub enum ToConnection {
    /// The answer to a request; none where there is none (acks=0).
    Reply(RequestId, Option<Response>),
    /// Close.
    Close,
}

/// All connections of a node.
#[derive(Debug)]
pub struct Wiring {
    connections_max: usize,
    connections: Mutex<BTreeMap<ConnId, UnboundedSender<ToConnection>>>,
    next: AtomicU64,
    budget_used: AtomicUsize,
}

impl Wiring {
    /// No connection yet, and at most so many at once.
    pub fn new(connections_max: usize) -> Self {
        Self {
            connections_max,
            connections: Mutex::default(),
            next: AtomicU64::default(),
            budget_used: AtomicUsize::default(),
        }
    }

    /// A number for a new connection and where its answers arrive; none where there are too many.
    pub fn connect(&self) -> Option<(ConnId, UnboundedReceiver<ToConnection>)> {
        let (sender, receiver) = unbounded_channel();
        let mut connections = self.lock();
        if connections.len() >= self.connections_max {
            return None;
        }
        let conn = self.next.fetch_add(1, Ordering::Relaxed);
        connections.insert(conn, sender);
        Some((conn, receiver))
    }

    /// A connection is gone.
    pub fn disconnect(&self, conn: ConnId) {
        self.lock().remove(&conn);
    }

    /// Says something to a connection, if it is still there.
    pub fn say(&self, conn: ConnId, what: ToConnection) {
        if let Some(sender) = self.lock().get(&conn) {
            // Its task may be ending at this moment; then nobody waits for the answer.
            let _gone = sender.send(what);
        }
    }

    /// Takes `bytes` out of the budget; false where it is used up.
    pub fn take(&self, bytes: usize) -> bool {
        let used = self.budget_used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used <= BUDGET_BYTES {
            return true;
        }
        self.give_back(bytes);
        false
    }

    /// Puts `bytes` back.
    pub fn give_back(&self, bytes: usize) {
        self.budget_used.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ConnId, UnboundedSender<ToConnection>>> {
        self.connections
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
