//! The seam between the core and whoever runs it: a process with sockets and files, or a simulation.
//!
//! Guarantees that a shell gives: storage operations of one [`LogId`] are carried out and completed
//! in the order of issue; `Synced` means on disk; every `Call` is answered once, by its reply or by
//! [`Broken`]; after a long stop, messages that have come in are handed over before the next tick.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::ids::{Addr, CallId, ConnId, IoId, RequestId, TopicId, TopicPartition};
use super::messages::{PeerRequest, PeerResponse, Request, Response};
use super::replica::producers::ProducerStates;

/// What happens to a node.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody asks.
    Request {
        /// On which connection.
        conn: ConnId,
        /// Which request of it.
        id: RequestId,
        /// What.
        body: Request,
    },
    /// A peer has answered, or will not.
    Reply {
        /// The call that it answers.
        call: CallId,
        /// The answer.
        result: Result<PeerResponse, Broken>,
    },
    /// Storage is done with an operation.
    Io {
        /// Which.
        id: IoId,
        /// How it ended.
        done: Done,
    },
    /// A connection is gone; nothing need be answered on it any more.
    Disconnected {
        /// Which.
        conn: ConnId,
    },
    /// Time has passed.
    Tick,
    /// Hand leadership over and say [`Event::MayStop`] (controlled shutdown).
    Stop,
}

/// A call that got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The connection failed or could not be made.
    Disconnected,
    /// No answer in time.
    TimedOut,
}

/// What a node wants done.
#[derive(Clone, Debug)]
pub enum Output {
    /// Answer a request.
    Reply {
        /// On which connection.
        conn: ConnId,
        /// Which request of it.
        id: RequestId,
        /// With what; none where the protocol has no answer (acks=0).
        body: Option<Response>,
    },
    /// Close a connection: the protocol has no other way to say no (acks=0).
    Close {
        /// Which.
        conn: ConnId,
    },
    /// Ask a peer.
    Call {
        /// Its listener.
        to: Addr,
        /// Number of the call.
        call: CallId,
        /// What.
        body: PeerRequest,
        /// How long to wait, milliseconds.
        timeout_ms: u64,
    },
    /// Use storage.
    Io {
        /// Number of the operation.
        id: IoId,
        /// What.
        op: Op,
    },
    /// Send a [`Input::Tick`] at this time of the monotonic clock.
    WakeAt(u64),
    /// Something that a log should mention.
    Event(Event),
}

/// A log on a node's disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogId {
    /// The controllers' Raft log; positions are entry indices, from 1.
    Quorum,
    /// A replica's log; positions are record offsets, from 0.
    Partition(TopicPartition),
}

/// Small state that is replaced as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MetaKey {
    /// Raft's term and vote.
    HardState,
    /// The high watermarks of all replicas.
    HighWatermarks,
}

/// A storage operation.
#[derive(Clone, Debug)]
pub enum Op {
    /// Append at the end, which must be at `at`.
    Append {
        /// Which log.
        log: LogId,
        /// Position of the first record or entry.
        at: i64,
        /// Whole batches or entry frames.
        bytes: Bytes,
        /// Complete with `Synced` and not before it is on disk; else with `Written`.
        sync: bool,
    },
    /// Cut everything at and after `to`.
    Truncate {
        /// Which log.
        log: LogId,
        /// The new end.
        to: i64,
        /// Also tell the state of the producers as of the new end.
        rebuild_producers: bool,
    },
    /// Read whole batches of a replica.
    Read {
        /// Which replica.
        log: TopicPartition,
        /// The offset that the first batch must hold.
        from: i64,
        /// Bytes at the most; the first batch is given whole even where it is larger.
        max_bytes: u32,
        /// Give only batches that lie before this offset.
        end: i64,
        /// How often the log had been truncated when the read was issued.
        generation: u64,
    },
    /// Begin an empty log; what is there under the name belongs to an earlier topic and goes.
    /// Completes with `Synced`.
    Create {
        /// Which replica.
        log: TopicPartition,
        /// Of which topic of that name.
        topic_id: TopicId,
    },
    /// Remove a log; completes with `Synced`.
    Delete {
        /// Which replica.
        log: TopicPartition,
    },
    /// Tell the size of every replica's log.
    LogSizes,
    /// Replace a small state; completes with `Synced`.
    SaveMeta {
        /// Which.
        key: MetaKey,
        /// Its new value.
        bytes: Bytes,
    },
}

/// How a storage operation ended.
#[derive(Clone, Debug)]
pub enum Done {
    /// The process may be killed and it is still there.
    Written,
    /// The machine may lose power and it is still there.
    Synced,
    /// What was read.
    Read(Bytes),
    /// Cut; with the producers' state where that was asked for.
    Truncated(Option<ProducerStates>),
    /// Where the logs are, and the bytes of each.
    LogSizes {
        /// The directory.
        path: String,
        /// By replica.
        sizes: BTreeMap<TopicPartition, u64>,
    },
    /// The log has been truncated since the read was issued.
    Stale,
    /// It failed; the log is not to be trusted any more.
    Failed(String),
}

/// Something that a log should mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Worth a line.
    Info(String),
    /// Worth a line and a look.
    Warning(String),
    /// The node cannot go on.
    Fatal(String),
    /// Controlled shutdown is complete.
    MayStop,
}
