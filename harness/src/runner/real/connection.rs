//! Connections of clients to nodes: one for each pair, one request at a time.
//! What matters is to know whether a byte was ever given to a socket, for that
//! is the line between "certainly failed" and "unknown".

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpStream as StdStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use super::{Message, Messages, Wiring};
use crate::clients::{Broken, Request, Response, kafka};
use crate::session::{ClientId, Event, NodeIndex};

/// A SYN that is dropped will not be answered; no need to use all the time.
const CONNECT_MAX: Duration = Duration::from_millis(1000);
/// No response of a sound broker is longer.
const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// One request with the time that it may take.
pub struct Call {
    pub request: Request,
    pub timeout: Duration,
}

/// All connections, made when they are first used.
pub(super) struct Connections {
    wiring: Arc<Wiring>,
    messages: Messages,
    open: HashMap<(ClientId, NodeIndex), UnboundedSender<Call>>,
}

impl Connections {
    pub fn new(wiring: Arc<Wiring>, messages: Messages) -> Connections {
        Connections {
            wiring,
            messages,
            open: HashMap::new(),
        }
    }

    pub fn send(&mut self, client: ClientId, node: NodeIndex, request: Request, timeout: Duration) {
        let connection = self.open.entry((client, node)).or_insert_with(|| {
            let (sender, receiver) = unbounded_channel();
            let connection = Connection::new(Arc::clone(&self.wiring), client, node);
            tokio::spawn(serve(connection, receiver, self.messages.clone()));
            sender
        });
        // A task that ended would have ended with the whole runtime.
        let _ = connection.send(Call { request, timeout });
    }
}

async fn serve(mut connection: Connection, mut calls: UnboundedReceiver<Call>, messages: Messages) {
    while let Some(call) = calls.recv().await {
        let result = connection.call(&call).await;
        if result.is_err() {
            connection.close();
        }
        let client = connection.client;
        if messages
            .send(Message::Event(Event::Reply { client, result }))
            .is_err()
        {
            return;
        }
    }
}

/// One client's connection to one node, opened when it is first used.
pub struct Connection {
    wiring: Arc<Wiring>,
    client: ClientId,
    node: NodeIndex,
    stream: Option<TcpStream>,
    correlation: i32,
    frame: Vec<u8>,
}

impl Connection {
    pub fn new(wiring: Arc<Wiring>, client: ClientId, node: NodeIndex) -> Connection {
        let (stream, correlation, frame) = (None, 0, Vec::new());
        Connection {
            wiring,
            client,
            node,
            stream,
            correlation,
            frame,
        }
    }

    /// Sends one request and waits for its answer.
    pub async fn call(&mut self, call: &Call) -> Result<Response, Broken> {
        let deadline = Instant::now() + call.timeout;
        let bytes = self.encode(&call.request)?;
        self.ensure_connected(deadline)
            .await
            .map_err(Broken::NotSent)?;
        let Some(stream) = &mut self.stream else {
            return Err(Broken::NotSent("no connection".to_owned()));
        };
        write(stream, &bytes, deadline).await?;
        if !call.request.is_answered() {
            return Ok(Response::Written);
        }
        let lost = |e: String| Broken::Lost(e);
        match timeout_at(deadline, read_frame(stream, &mut self.frame)).await {
            Err(_) => return Err(lost("no answer in time".to_owned())),
            Ok(Err(e)) => return Err(lost(format!("the connection broke: {e}"))),
            Ok(Ok(())) => {}
        }
        kafka::decode(&call.request, self.correlation, &self.frame).map_err(|e| lost(e.to_string()))
    }

    /// After an answer that did not come, a late one must not be taken for the next.
    pub fn close(&mut self) {
        self.stream = None;
    }

    fn encode(&mut self, request: &Request) -> Result<bytes::Bytes, Broken> {
        self.correlation = self.correlation.wrapping_add(1);
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let now_ms = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        kafka::encode(
            request,
            &self.wiring.topic,
            self.correlation,
            "plimsoll",
            now_ms,
        )
        .map_err(Broken::NotSent)
    }

    /// Keeps a connection that still lives; one that the node has closed, or
    /// that holds bytes nobody asked for, is replaced.
    async fn ensure_connected(&mut self, deadline: Instant) -> Result<(), String> {
        if let Some(stream) = &self.stream {
            match stream.try_read(&mut [0; 1]) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                _ => self.stream = None,
            }
        }
        let addr = *self
            .wiring
            .client_addrs
            .get(self.node)
            .ok_or("no such node")?;
        let until = deadline.min(Instant::now() + CONNECT_MAX);
        let stream = match timeout_at(until, self.connect(addr)).await {
            Err(_) => return Err("connecting took too long".to_owned()),
            Ok(Err(e)) => return Err(format!("not connected: {e}")),
            Ok(Ok(stream)) => stream,
        };
        // Without it, small requests wait for acknowledgements; only slower.
        let _ = stream.set_nodelay(true);
        self.stream = Some(stream);
        Ok(())
    }

    async fn connect(&self, addr: SocketAddr) -> io::Result<TcpStream> {
        let place = self.wiring.places.get(self.client).and_then(Option::as_ref);
        let socket = match place {
            None => TcpSocket::new_v4()?,
            Some(place) => {
                let fd = place.tcp_socket().map_err(io::Error::other)?;
                TcpSocket::from_std_stream(StdStream::from(fd))
            }
        };
        socket.connect(addr).await
    }
}

/// Before the first byte was taken the request was certainly not sent.
async fn write(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> Result<(), Broken> {
    let mut begun = false;
    while !bytes.is_empty() {
        let why = match timeout_at(deadline, stream.write(bytes)).await {
            Ok(Ok(0)) => "the connection takes no bytes".to_owned(),
            Ok(Ok(count)) => {
                begun = true;
                bytes = bytes.get(count..).unwrap_or_default();
                continue;
            }
            Ok(Err(e)) => format!("the connection broke: {e}"),
            Err(_) => "the request could not be written in time".to_owned(),
        };
        return Err(if begun {
            Broken::Lost(why)
        } else {
            Broken::NotSent(why)
        });
    }
    Ok(())
}

async fn read_frame(stream: &mut TcpStream, frame: &mut Vec<u8>) -> io::Result<()> {
    let length = stream.read_i32().await?;
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::other("an impossible frame length"))?;
    frame.clear();
    // Grows with what arrives, not with what was announced.
    let got = stream
        .take(u64::try_from(length).unwrap_or(0))
        .read_to_end(frame)
        .await?;
    if got < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}
