//! The replication and controller ports: requests of other nodes.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;

use super::clients::accept;
use super::core_loop::CoreHandle;
use super::peer_frames;
use super::wiring::{ToConnection, Wiring};
use crate::core::errors::ErrorCode;
use crate::core::messages::{PeerRequest, PeerResponse, Request, Response};
use crate::core::seam::Input;

/// Requests of one connection that may be open at once; more wait in the socket.
const OPEN_MAX: usize = 4_096;

/// Which requests a port takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// Fetches of followers.
    Replication,
    /// Raft, and what brokers ask the controller.
    Controllers,
}

impl Plane {
    fn takes(self, request: &PeerRequest) -> bool {
        matches!(request, PeerRequest::Fetch(_)) == (self == Plane::Replication)
    }
}

/// Accepts connections for ever.
pub async fn serve(listener: TcpListener, plane: Plane, core: CoreHandle, wiring: Arc<Wiring>) {
    loop {
        let (stream, from) = accept(&listener).await;
        tokio::spawn(serve_connection(
            stream,
            from,
            plane,
            core.clone(),
            Arc::clone(&wiring),
        ));
    }
}

async fn serve_connection(
    stream: TcpStream,
    from: SocketAddr,
    plane: Plane,
    core: CoreHandle,
    wiring: Arc<Wiring>,
) {
    let Some((conn, replies)) = wiring.connect() else {
        tracing::warn!("too many connections: {from} is turned away");
        return;
    };
    let _slower = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    let open = Arc::new(Semaphore::new(OPEN_MAX));
    let writer = tokio::spawn(write_replies(write, replies, Arc::clone(&open)));
    let mut read = BufReader::new(read);
    loop {
        let Ok(slot) = open.acquire().await else {
            break;
        };
        match peer_frames::read::<PeerRequest>(&mut read).await {
            Ok(Some((id, request))) => {
                slot.forget();
                if plane.takes(&request) {
                    let body = Request::Peer(request);
                    core.send(Input::Request { conn, id, body });
                } else {
                    let refused = PeerResponse::Refused(ErrorCode::INVALID_REQUEST);
                    wiring.say(conn, ToConnection::Reply(id, Some(Response::Peer(refused))));
                }
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!("closing a peer connection of {from}: {error}");
                break;
            }
        }
    }
    wiring.disconnect(conn);
    core.send(Input::Disconnected { conn });
    writer.abort();
}

async fn write_replies(
    mut write: OwnedWriteHalf,
    mut replies: UnboundedReceiver<ToConnection>,
    open: Arc<Semaphore>,
) {
    while let Some(ToConnection::Reply(id, Some(Response::Peer(response)))) = replies.recv().await {
        open.add_permits(1);
        let Some(frame) = peer_frames::encode(id, &response) else {
            return;
        };
        if write.write_all(&frame).await.is_err() {
            return;
        }
    }
}
