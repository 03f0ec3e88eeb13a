//! The client port: Kafka's protocol, one request in progress a connection.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::UnboundedReceiver;

use super::core_loop::CoreHandle;
use super::wiring::{ToConnection, Wiring};
use crate::core::errors::ErrorCode;
use crate::core::ids::{ConnId, TopicId};
use crate::core::messages::{ClientRequest, ClientResponse, Request, Response};
use crate::core::metadata::Image;
use crate::core::seam::Input;
use crate::kafka::api::Api;
use crate::kafka::decode::{self, DecodeError, Decoded, Header};
use crate::kafka::encode::{self, EncodeError};

/// A Produce request may be this large (socket.request.max.bytes).
const PRODUCE_BYTES_MAX: usize = 32 << 20;
/// Any other may be this large: its lists become many small objects.
const OTHER_BYTES_MAX: usize = 1 << 20;
/// Requests up to this size are not held against the budget.
const SMALL_BYTES: usize = 64 << 10;
/// A request that stops half-way ends its connection.
const STALLED: Duration = Duration::from_secs(30);

/// The topics' names by id, as the core last applied them.
#[derive(Debug, Default)]
pub struct TopicNames(RwLock<BTreeMap<TopicId, Arc<str>>>);

impl TopicNames {
    /// Takes over what is new.
    pub fn update(&self, image: &Image) {
        let mut names = self
            .0
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let known = |id: &TopicId| names.contains_key(id);
        let same = names.len() == image.topics.len()
            && image.topics.values().all(|topic| known(&topic.id));
        if !same {
            *names = image
                .topics
                .iter()
                .map(|(name, topic)| (topic.id, name.clone()))
                .collect();
        }
    }

    fn name_of(&self, id: TopicId) -> Option<Arc<str>> {
        self.0
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .get(&id)
            .cloned()
    }
}

/// Accepts one connection; waits where the system has none to give (too many open files).
pub async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Accepts connections for ever.
pub async fn serve(listener: TcpListener, core: CoreHandle, wiring: Arc<Wiring>) {
    loop {
        let (stream, from) = accept(&listener).await;
        let Some((conn, replies)) = wiring.connect() else {
            tracing::warn!("too many connections: {from} is turned away");
            continue;
        };
        let _slower = stream.set_nodelay(true);
        let (read, write) = stream.into_split();
        let mut connection = Connection {
            conn,
            read: BufReader::with_capacity(16 << 10, read),
            write,
            replies,
            core: core.clone(),
            wiring: Arc::clone(&wiring),
            next_id: 0,
        };
        tokio::spawn(async move {
            if let Err(why) = connection.serve().await {
                tracing::warn!("closing the connection of client {from}: {why}");
            }
            connection.wiring.disconnect(conn);
            connection.core.send(Input::Disconnected { conn });
        });
    }
}

/// Why a connection is closed.
#[derive(Debug, thiserror::Error)]
enum Closed {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Decode(#[from] DecodeError),
    #[error("{0}")]
    Encode(#[from] EncodeError),
    #[error("a request says it is {0} bytes long")]
    Size(i32),
    #[error("a request stopped half-way")]
    Stalled,
    #[error("the requests at hand fill the memory set aside for them")]
    Budget,
    #[error("a request with acks=0 failed")]
    Unanswerable,
}

struct Connection {
    conn: ConnId,
    read: BufReader<OwnedReadHalf>,
    write: OwnedWriteHalf,
    replies: UnboundedReceiver<ToConnection>,
    core: CoreHandle,
    wiring: Arc<Wiring>,
    next_id: u64,
}

impl Connection {
    /// Serves requests until the client goes.
    async fn serve(&mut self) -> Result<(), Closed> {
        while let Some((frame, held)) = self.read_frame().await? {
            let served = self.serve_request(frame).await;
            self.wiring.give_back(held);
            served?;
        }
        Ok(())
    }

    /// One request, and how much of the budget it holds. Memory grows as bytes arrive.
    async fn read_frame(&mut self) -> Result<Option<(Bytes, usize)>, Closed> {
        let raw = match self.read.read_i32().await {
            Ok(raw) => raw,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let size = usize::try_from(raw)
            .ok()
            .filter(|size| (8..=PRODUCE_BYTES_MAX).contains(size))
            .ok_or(Closed::Size(raw))?;
        let key = self.peek_key().await?;
        if key != 0 && size > OTHER_BYTES_MAX {
            return Err(Closed::Size(raw));
        }
        let held = if size > SMALL_BYTES { size } else { 0 };
        if held > 0 && !self.wiring.take(held) {
            return Err(Closed::Budget);
        }
        match self.read_body(size).await {
            Ok(Some(frame)) => Ok(Some((frame, held))),
            ended => {
                self.wiring.give_back(held);
                ended.map(|_| None)
            }
        }
    }

    /// The API key, left where it is.
    async fn peek_key(&mut self) -> Result<i16, Closed> {
        use tokio::io::AsyncBufReadExt;
        let buffered = tokio::time::timeout(STALLED, self.read.fill_buf())
            .await
            .map_err(|_| Closed::Stalled)??;
        // With one byte there, its sign and size tell enough: every key is below 256.
        Ok(match buffered {
            [high, low, ..] => i16::from_be_bytes([*high, *low]),
            [high] => i16::from_be_bytes([*high, 0]),
            [] => 0,
        })
    }

    async fn read_body(&mut self, size: usize) -> Result<Option<Bytes>, Closed> {
        let mut frame = BytesMut::new();
        while frame.len() < size {
            let left = size - frame.len();
            frame.reserve(left.min(64 << 10));
            let mut limited = (&mut self.read).take(left as u64);
            let read = tokio::time::timeout(STALLED, limited.read_buf(&mut frame))
                .await
                .map_err(|_| Closed::Stalled)??;
            if read == 0 {
                return Ok(None);
            }
        }
        Ok(Some(frame.freeze()))
    }

    async fn serve_request(&mut self, frame: Bytes) -> Result<(), Closed> {
        let names = self.core.names();
        match decode::request(frame, &|id| names.name_of(id)) {
            Ok((header, Decoded::Core(request))) => self.ask_core(&header, request).await,
            Ok((header, local)) => {
                let answer = answer_here(&header, local)?;
                Ok(self.write.write_all(&answer).await?)
            }
            Err(DecodeError::UnknownVersion {
                api: Api::ApiVersions,
                version,
                correlation_id,
            }) => {
                let answer = encode::api_versions(version, correlation_id)?;
                Ok(self.write.write_all(&answer).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn ask_core(&mut self, header: &Header, request: ClientRequest) -> Result<(), Closed> {
        self.next_id += 1;
        let id = self.next_id;
        self.core.send(Input::Request {
            conn: self.conn,
            id,
            body: Request::Client(request),
        });
        let mut watching = true;
        loop {
            tokio::select! {
                reply = self.replies.recv() => match reply {
                    Some(ToConnection::Reply(answered, body)) if answered == id => {
                        return self.answer(header, body).await;
                    }
                    Some(ToConnection::Reply(..)) => {}
                    Some(ToConnection::Close) => return Err(Closed::Unanswerable),
                    None => return Ok(()),
                },
                // A client that goes away while it waits must not be held for its whole wait.
                gone = gone(&mut self.read), if watching => {
                    if gone {
                        return Ok(());
                    }
                    watching = false;
                }
            }
        }
    }

    async fn answer(&mut self, header: &Header, body: Option<Response>) -> Result<(), Closed> {
        if let Some(Response::Client(response)) = body {
            let answer = encode::response(header, response)?;
            self.write.write_all(&answer).await?;
        }
        Ok(())
    }
}

/// True once the client has closed its side; false once it has sent more.
async fn gone(read: &mut BufReader<OwnedReadHalf>) -> bool {
    use tokio::io::AsyncBufReadExt;
    !matches!(read.fill_buf().await, Ok(more) if !more.is_empty())
}

fn answer_here(header: &Header, request: Decoded) -> Result<Bytes, EncodeError> {
    match request {
        Decoded::ApiVersions => encode::api_versions(header.version, header.correlation_id),
        Decoded::FindCoordinator(keys) => encode::no_coordinator(header, keys),
        Decoded::UnknownFetchSession => encode::unknown_fetch_session(header),
        Decoded::AncientProduce => Ok(encode::ancient_produce(header)),
        Decoded::Transactional | Decoded::Core(_) => encode::response(
            header,
            ClientResponse::InitProducerId {
                error: ErrorCode::UNSUPPORTED_VERSION,
                producer_id: -1,
                producer_epoch: -1,
            },
        ),
    }
}
