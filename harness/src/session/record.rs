//! The lines of the journal, built in one place so that every op of a kind has
//! the same fields. Index and time are stamped by the recorder.

use plimsoll_checkers::history::{Op, OpType, Outcome, Process, ReadInfo, SendMop, Value};
use serde_json::json;

use crate::clients::Fetched;

/// Who acts, for whom, and where.
#[derive(Clone, Debug)]
pub struct Actor<'a> {
    pub process: u64,
    pub client: &'a str,
    pub node: Option<&'a str>,
}

fn op(actor: &Actor<'_>, kind: OpType, f: &str, value: Value) -> Op {
    let mut op = Op::new(Process::Client(actor.process), kind, f, value);
    op.client = Some(actor.client.to_owned());
    op.node = actor.node.map(str::to_owned);
    op
}

/// The type under which an outcome is recorded.
pub fn kind_of(outcome: Outcome) -> OpType {
    match outcome {
        Outcome::Ok => OpType::Ok,
        Outcome::Fail => OpType::Fail,
        Outcome::Info => OpType::Info,
    }
}

/// A send or a barrier, at its begin or end.
pub fn send(
    actor: &Actor<'_>,
    kind: OpType,
    f: &str,
    key: &str,
    value: i64,
    offset: Option<i64>,
) -> Op {
    let mop = SendMop {
        key: key.to_owned(),
        offset,
        value,
    };
    op(actor, kind, f, Value::Send(vec![mop]))
}

/// A read that is to begin at an offset; it is named here, since a failed one
/// has no answer that could name it.
pub fn poll_invoke(actor: &Actor<'_>, key: &str, from: i64) -> Op {
    let mut op = op(actor, OpType::Invoke, "poll", Value::Poll(None));
    let read = ReadInfo {
        from,
        hw: -1,
        log_start: -1,
        replica: -1,
        leader_epoch: -1,
        ..ReadInfo::default()
    };
    op.reads = [(key.to_owned(), read)].into();
    op
}

pub fn poll_fail(actor: &Actor<'_>, error: String) -> Op {
    let mut op = op(actor, OpType::Fail, "poll", Value::Poll(None));
    op.error = Some(error);
    op
}

pub fn poll_ok(actor: &Actor<'_>, key: &str, fetched: Fetched, read: ReadInfo) -> Op {
    let records = [(key.to_owned(), fetched.records)].into();
    let mut op = op(actor, OpType::Ok, "poll", Value::Poll(Some(records)));
    op.reads = [(key.to_owned(), read)].into();
    op
}

/// A line that is no client's: faults, phases, what was seen of the cluster.
pub fn nemesis(f: &str, value: serde_json::Value) -> Op {
    Op::new(Process::Nemesis, OpType::Info, f, Value::Other(value))
}

pub fn phase(name: &str) -> Op {
    nemesis("phase", json!({ "name": name }))
}
