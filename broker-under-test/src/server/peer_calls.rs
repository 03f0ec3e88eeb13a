//! Calls to peers: one connection an address, many calls on it.
//!
//! A peer that lets one call time out is silent: its connection is dropped and every call on it
//! fails, so that after a partition nothing waits for TCP's retransmissions.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::core_loop::CoreHandle;
use super::peer_frames;
use crate::core::ids::{Addr, CallId};
use crate::core::messages::{PeerRequest, PeerResponse};
use crate::core::seam::{Broken, Input};

/// One call on its way.
struct Call {
    id: CallId,
    frame: Bytes,
    deadline: Instant,
}

/// Calls to all peers.
pub struct PeerCalls {
    core: CoreHandle,
    runtime: tokio::runtime::Handle,
    peers: BTreeMap<Addr, UnboundedSender<Call>>,
}

impl PeerCalls {
    /// Calls whose answers go to `core`.
    pub fn new(core: CoreHandle, runtime: tokio::runtime::Handle) -> Self {
        Self {
            core,
            runtime,
            peers: BTreeMap::new(),
        }
    }

    /// Asks the peer at `to`; the core is told how it ends.
    pub fn call(&mut self, to: &Addr, id: CallId, body: &PeerRequest, timeout: Duration) {
        let Some(frame) = peer_frames::encode(id, body) else {
            fail(&self.core, id, Broken::Disconnected);
            return;
        };
        let call = Call {
            id,
            frame,
            deadline: Instant::now() + timeout,
        };
        let peer = self.peers.entry(to.clone()).or_insert_with(|| {
            let (sender, queue) = unbounded_channel();
            self.runtime
                .spawn(serve_peer(to.clone(), queue, self.core.clone()));
            sender
        });
        if let Err(unsent) = peer.send(call) {
            fail(&self.core, unsent.0.id, Broken::Disconnected);
        }
    }
}

fn fail(core: &CoreHandle, call: CallId, how: Broken) {
    core.send(Input::Reply {
        call,
        result: Err(how),
    });
}

async fn serve_peer(addr: Addr, mut queue: UnboundedReceiver<Call>, core: CoreHandle) {
    while let Some(first) = queue.recv().await {
        let connecting = tokio::time::timeout_at(first.deadline, TcpStream::connect(&*addr));
        match connecting.await {
            Ok(Ok(stream)) => serve_connection(stream, first, &mut queue, &core).await,
            _ => {
                fail(&core, first.id, Broken::Disconnected);
                // What has queued up behind would only wait for the same.
                while let Ok(call) = queue.try_recv() {
                    fail(&core, call.id, Broken::Disconnected);
                }
            }
        }
    }
}

/// Sends calls and takes answers until the connection fails or the peer falls silent.
async fn serve_connection(
    stream: TcpStream,
    first: Call,
    queue: &mut UnboundedReceiver<Call>,
    core: &CoreHandle,
) {
    // Nagle's delay would add to every fetch and vote; where it cannot be turned off, it adds.
    let _slower = stream.set_nodelay(true);
    let (mut read, mut write) = stream.into_split();
    let (answered, mut answers) = unbounded_channel();
    let reader = tokio::spawn(async move {
        while let Ok(Some((call, response))) = peer_frames::read::<PeerResponse>(&mut read).await {
            if answered.send((call, response)).is_err() {
                return;
            }
        }
    });
    let mut open: BTreeMap<CallId, Instant> = BTreeMap::new();
    let mut next = Some(first);
    loop {
        if let Some(call) = next.take() {
            open.insert(call.id, call.deadline);
            let written =
                tokio::time::timeout_at(call.deadline, write.write_all(&call.frame)).await;
            if !matches!(written, Ok(Ok(()))) {
                break;
            }
        }
        let deadline = open.values().min().copied();
        tokio::select! {
            call = queue.recv() => match call {
                Some(call) => next = Some(call),
                None => break,
            },
            answer = answers.recv() => match answer {
                Some((call, response)) => {
                    if open.remove(&call).is_some() {
                        core.send(Input::Reply { call, result: Ok(response) });
                    }
                }
                None => break,
            },
            () = sleep_until(deadline) => break,
        }
    }
    reader.abort();
    let now = Instant::now();
    for (call, deadline) in open {
        let how = if deadline <= now {
            Broken::TimedOut
        } else {
            Broken::Disconnected
        };
        fail(core, call, how);
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
