//! One pass over the history that fills the partitions' rows.

use std::collections::BTreeMap;

use super::records::{Barrier, Ended, Event, NEVER, Read, Send};
use super::{Facts, Partition, faults};
use crate::history::{History, Op, OpType, Process, SendMop, Value};

pub(super) fn facts(history: &History) -> Facts<'_> {
    let mut builder = Builder {
        history,
        partitions: Vec::new(),
        by_key: BTreeMap::new(),
        open: BTreeMap::new(),
        proven: Vec::new(),
    };
    for position in 0..history.ops().len() {
        builder.step(position);
    }
    let mut facts = Facts {
        history,
        has_final_reads: false,
        windows: faults::windows(history),
        settled: faults::settled(history),
        subscribes: history.ops().iter().any(|op| op.f == "subscribe"),
        unjudged: history.ops().iter().find_map(unjudged),
        partitions: builder.finish(),
    };
    facts.has_final_reads = facts
        .partitions
        .iter()
        .any(|partition| partition.reads.iter().any(|read| read.is_final));
    facts
}

/// Transactions of mixed micro-ops have no checker yet.
fn unjudged(op: &Op) -> Option<&str> {
    let mixed = op.f == "txn" && matches!(op.value, Value::Other(_));
    mixed.then_some("txn")
}

struct Builder<'h> {
    history: &'h History,
    partitions: Vec<Partition<'h>>,
    by_key: BTreeMap<&'h str, u32>,
    /// Rows of the open op of each process: (partition, row).
    open: BTreeMap<u64, Vec<(u32, u32)>>,
    /// Rows of sends of several records each.
    proven: Vec<Vec<(u32, u32)>>,
}

impl<'h> Builder<'h> {
    fn step(&mut self, position: usize) {
        let op = &self.history.ops()[position];
        let Process::Client(process) = op.process else {
            return;
        };
        match op.kind {
            OpType::Invoke => self.invoke(position, op, process),
            _ => self.complete(position, process),
        }
    }

    fn invoke(&mut self, position: usize, op: &'h Op, process: u64) {
        let end = self.history.partner(position);
        let end_op = end.map(|end| &self.history.ops()[end]);
        let rows = match &op.value {
            Value::Send(mops) => self.begin_send(position, op, mops, end),
            Value::Poll(_) => self.begin_polls(position, process, end, end_op),
            _ => Vec::new(),
        };
        if !rows.is_empty() {
            self.open.insert(process, rows);
        }
    }

    fn begin_send(
        &mut self,
        position: usize,
        op: &'h Op,
        mops: &'h [SendMop],
        ret: Option<usize>,
    ) -> Vec<(u32, u32)> {
        let end = ret.map(|end| &self.history.ops()[end]);
        let answered = match end.map(|end| &end.value) {
            Some(Value::Send(answers)) if answers.len() == mops.len() => answers.as_slice(),
            _ => &[],
        };
        let mut rows = Vec::with_capacity(mops.len());
        for (which, asked) in mops.iter().enumerate() {
            // Foreign recorders name the record only in the completion.
            let mop = answered.get(which).unwrap_or(asked);
            let mut send = Send::new(mop, position as u32, op.f == "barrier");
            if let (Some(end), Some(ret)) = (end, ret) {
                send.ret = ret as u32;
                end_send(&mut send, op, end, mop);
            }
            let partition = self.partition(&mop.key);
            let row = self.partitions[partition as usize].sends.len() as u32;
            let table = &mut self.partitions[partition as usize];
            table.sends.push(send);
            table.events.push(Event::SendInvoked(row));
            rows.push((partition, row));
        }
        let unanswered = end.is_some_and(|end| end.kind == OpType::Info);
        if rows.len() > 1 && unanswered && self.history.header().is_none() {
            self.proven.push(rows.clone());
        }
        rows
    }

    fn begin_polls(
        &mut self,
        position: usize,
        process: u64,
        end: Option<usize>,
        end_op: Option<&'h Op>,
    ) -> Vec<(u32, u32)> {
        let (Some(end), Some(op)) = (end, end_op) else {
            return Vec::new();
        };
        let Value::Poll(records) = &op.value else {
            return Vec::new();
        };
        let keyed = records.iter().flatten();
        let mut parts: Vec<(&'h str, &'h [(i64, i64)])> = keyed
            .map(|(key, list)| (key.as_str(), list.as_slice()))
            .collect();
        for key in op.reads.keys() {
            if !parts.iter().any(|part| part.0 == key) {
                parts.push((key, &[]));
            }
        }
        let mut rows = Vec::with_capacity(parts.len());
        for (key, list) in parts {
            let read = read(position, end, process, op, key, list);
            let partition = self.partition(key);
            let table = &mut self.partitions[partition as usize];
            let row = table.reads.len() as u32;
            table.reads.push(read);
            table.events.push(Event::ReadInvoked(row));
            rows.push((partition, row));
        }
        rows
    }

    fn complete(&mut self, position: usize, process: u64) {
        let is_send = matches!(
            self.history
                .partner(position)
                .map(|invoke| &self.history.ops()[invoke].value),
            Some(Value::Send(_))
        );
        for (partition, row) in self.open.remove(&process).unwrap_or_default() {
            let table = &mut self.partitions[partition as usize];
            table.events.push(match is_send {
                true => Event::SendReturned(row),
                false => Event::ReadReturned(row),
            });
        }
    }

    fn partition(&mut self, key: &'h str) -> u32 {
        if let Some(&partition) = self.by_key.get(key) {
            return partition;
        }
        let partition = self.partitions.len() as u32;
        self.by_key.insert(key, partition);
        self.partitions.push(Partition::new(key));
        partition
    }

    fn finish(mut self) -> Vec<Partition<'h>> {
        for partition in &mut self.partitions {
            if let Some(info) = self
                .history
                .header()
                .and_then(|header| header.topics.get(partition.key))
            {
                let replicas = usize::from(info.replication_factor);
                partition.replication_factor = (replicas > 0).then_some(replicas);
                partition.barrier = info.barrier.map(|offset| Barrier {
                    offset,
                    value: None,
                    invoke: None,
                });
            }
            partition.note_observers();
        }
        self.prove();
        for partition in &mut self.partitions {
            partition.complete();
        }
        self.partitions.sort_by_key(|partition| partition.key);
        self.partitions
    }

    /// An op of several records of which one was read was done as a whole.
    fn prove(&mut self) {
        for rows in std::mem::take(&mut self.proven) {
            let seen = rows.iter().any(|&(partition, row)| {
                self.partitions[partition as usize].sends[row as usize].first_read != NEVER
            });
            for (partition, row) in rows {
                let send = &mut self.partitions[partition as usize].sends[row as usize];
                send.proven = seen;
                if !seen {
                    send.offset = None;
                }
            }
        }
    }
}

fn end_send(send: &mut Send, invoke: &Op, end: &Op, mop: &SendMop) {
    send.acks = end.acks.or(invoke.acks);
    let tried = end.attempts.as_ref().or(invoke.attempts.as_ref());
    send.attempts = tried.map_or(1, |tried| u32::try_from(tried.len()).unwrap_or(u32::MAX));
    send.ended = match end.kind {
        OpType::Ok => Ended::Ok,
        OpType::Fail => Ended::Fail,
        OpType::Info | OpType::Invoke => Ended::Info,
    };
    if send.ended != Ended::Fail {
        send.offset = mop.offset.filter(|&offset| offset >= 0);
    }
}

fn read<'h>(
    position: usize,
    end: usize,
    process: u64,
    op: &'h Op,
    key: &str,
    mut records: &'h [(i64, i64)],
) -> Read<'h> {
    let info = op.reads.get(key);
    if let Some(info) = info {
        // A batch may begin below the offset asked for; that is no answer.
        let below = records.iter().take_while(|record| record.0 < info.from);
        records = &records[below.count()..];
    }
    Read {
        invoke: position as u32,
        ret: end as u32,
        ok: op.kind == OpType::Ok,
        process,
        records,
        info,
        node: op.node.as_deref().unwrap_or(""),
        is_final: info.is_some_and(|info| info.is_final),
        rebalanced: op.extra.contains_key("rebalance-log"),
    }
}
