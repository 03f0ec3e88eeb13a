//! One end of one op in one partition: what the stream is fed with.

/// Which end, and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A send begins.
    SendInvoked,
    /// It was answered, or sent with acks=0.
    SendOk,
    /// It was certainly not done.
    SendFailed,
    /// Nobody knows.
    SendUnknown,
    /// A read begins.
    ReadInvoked,
    /// It was answered; its records come beside the event.
    ReadOk,
    /// It was not answered.
    ReadFailed,
}

/// One event, small enough to keep ten million of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since the run's start.
    pub time: u64,
    /// The client's process.
    pub process: u32,
    /// Number of the partition, as the stream gave it.
    pub partition: u32,
    /// What happened.
    pub kind: Kind,
    /// acks of a send (0, 1 or -1), where it was said.
    pub acks: Option<i8>,
    /// A barrier's send.
    pub barrier: bool,
    /// Requests of a send that was tried more than once; else 1.
    pub attempts: u16,
    /// Value of a send.
    pub value: i64,
    /// Offset that an answer named, or -1.
    pub offset: i64,
}

/// Circumstances of one read's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Offset that was asked for.
    pub from: i64,
    /// High watermark, -1 when it said none.
    pub hw: i64,
    /// Node that answered, -1 when unknown.
    pub replica: i32,
    /// How often that node had been started.
    pub incarnation: u64,
    /// Leader epoch, -1 when unproved.
    pub leader_epoch: i32,
    /// Part of the final read of everything.
    pub is_final: bool,
}
