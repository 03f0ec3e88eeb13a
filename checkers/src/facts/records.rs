//! Sends and reads of one partition as rows of plain tables.

use crate::history::{ReadInfo, SendMop};

/// A position in the history that does not exist.
pub(crate) const NEVER: u32 = u32::MAX;

/// How a send ended, as far as anybody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Acknowledged, or sent with acks=0.
    Ok,
    /// Certainly not done.
    Fail,
    /// Unknown, or never completed.
    Info,
}

/// One append of one value.
#[derive(Debug, Clone)]
pub(crate) struct Send {
    pub value: i64,
    /// Position of the invoke and of the completion (or `NEVER`).
    pub invoke: u32,
    pub ret: u32,
    pub ended: Ended,
    /// Offset that the acknowledgement named.
    pub offset: Option<i64>,
    pub acks: Option<i16>,
    /// Requests, as far as its end says; 0 where nobody knows: without an end, or sent by a library.
    pub attempts: u32,
    pub barrier: bool,
    /// An op without an answer of which another record was read: it must have
    /// been done as a whole.
    pub proven: bool,
    /// First and last ok read (by completion) that showed the value.
    pub first_read: u32,
    pub last_read: u32,
    /// First ok read outside the final reads.
    pub first_consumed: u32,
    /// Lowest and highest offset at which final logs hold the value.
    pub kept_at: Option<(i64, i64)>,
    /// Lowest and highest offset at which any ok read showed the value.
    pub read_at: Option<(i64, i64)>,
}

impl Send {
    pub(crate) fn new(mop: &SendMop, invoke: u32, barrier: bool) -> Self {
        Self {
            value: mop.value,
            invoke,
            ret: NEVER,
            ended: Ended::Info,
            offset: None,
            acks: None,
            attempts: 0,
            barrier,
            proven: false,
            first_read: NEVER,
            last_read: NEVER,
            first_consumed: NEVER,
            kept_at: None,
            read_at: None,
        }
    }

    /// Whether the system took responsibility for the record.
    pub(crate) fn acked(&self) -> bool {
        (self.ended == Ended::Ok || self.proven) && self.acks != Some(0)
    }

    /// A producer's acknowledged record.
    pub(crate) fn acked_record(&self) -> bool {
        self.acked() && !self.barrier
    }

    /// An acknowledgement that claims no more than the leader's own append.
    pub(crate) fn claims_only(&self) -> bool {
        matches!(self.acks, Some(0 | 1))
    }
}

/// One partition's part of one poll.
#[derive(Debug, Clone)]
pub(crate) struct Read<'h> {
    pub invoke: u32,
    pub ret: u32,
    pub ok: bool,
    pub process: u64,
    /// Records at or above the offset asked for, in the reply's order.
    pub records: &'h [(i64, i64)],
    pub info: Option<&'h ReadInfo>,
    pub node: &'h str,
    pub is_final: bool,
    /// The client moved the partition between replies; order means nothing.
    pub rebalanced: bool,
}

impl Read<'_> {
    /// The reader asked by offset, so what the reply passes over is known.
    pub(crate) fn from(&self) -> Option<i64> {
        // Nothing is told of what retention had taken.
        self.info.map(|info| info.from.max(info.log_start))
    }
}

/// What happens to a partition at one position of the history.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    SendInvoked(u32),
    SendReturned(u32),
    ReadInvoked(u32),
    ReadReturned(u32),
}

/// The acknowledged barrier of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Barrier {
    pub offset: i64,
    /// Its value, unless only the header knows the barrier.
    pub value: Option<i64>,
    /// When it was sent, unless only the header knows it.
    pub invoke: Option<u32>,
}

/// Widens a span of offsets.
pub(crate) fn widen(span: &mut Option<(i64, i64)>, offset: i64) {
    *span = Some(match *span {
        None => (offset, offset),
        Some((low, high)) => (low.min(offset), high.max(offset)),
    });
}
