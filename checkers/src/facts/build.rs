//! One pass over the history that fills the partitions' rows.

use std::collections::BTreeMap;

use super::records::{Barrier, Ended, Event, NEVER, Read, Send};
use super::{Facts, Partition, faults};
use crate::history::{History, Op, OpType, Process, SendMop};

pub(super) fn facts(history: &History) -> Facts<'_> {
    let mut builder = Builder {
        history,
        partitions: Vec::new(),
        by_key: BTreeMap::new(),
        rows: Vec::new(),
        rows_at: vec![(0, 0); history.ops().len()],
        proven: Vec::new(),
        nemesis: Vec::new(),
        assigns: Vec::new(),
        may_cycle: false,
        subscribes: false,
    };
    for position in 0..history.ops().len() {
        builder.step(position);
    }
    let nemesis = std::mem::take(&mut builder.nemesis);
    let assigns = std::mem::take(&mut builder.assigns);
    let (may_cycle, subscribes) = (builder.may_cycle, builder.subscribes);
    let mut facts = Facts {
        history,
        has_final_reads: false,
        windows: faults::windows(history, &nemesis),
        settled: faults::settled(history, &nemesis),
        nemesis,
        assigns,
        may_cycle,
        subscribes,
        partitions: builder.finish(),
    };
    if let Some(settled) = &facts.settled {
        for partition in &mut facts.partitions {
            if let Some(left) = settled.replicas_left.get(partition.key) {
                partition.replication_factor = Some(*left);
            }
        }
    }
    facts.has_final_reads = facts
        .partitions
        .iter()
        .any(|partition| partition.reads.iter().any(|read| read.is_final));
    facts
}

/// A part of an op in its partition's tables.
#[derive(Clone, Copy)]
enum Row {
    Send(u32),
    Read(u32),
}

struct Builder<'h> {
    history: &'h History,
    partitions: Vec<Partition<'h>>,
    by_key: BTreeMap<&'h str, u32>,
    /// (partition, row) of every part of every op, and where those of the op at
    /// each position lie: (first, number). One op has nearly always one part,
    /// and a list of its own for each would cost more than all the rest.
    rows: Vec<(u32, Row)>,
    rows_at: Vec<(u32, u32)>,
    /// Positions of sends of several records that got no answer.
    proven: Vec<u32>,
    nemesis: Vec<u32>,
    assigns: Vec<u32>,
    may_cycle: bool,
    subscribes: bool,
}

impl<'h> Builder<'h> {
    fn step(&mut self, position: usize) {
        let op = &self.history.ops()[position];
        let Process::Client(process) = op.process else {
            self.nemesis.push(position as u32);
            return;
        };
        let sends = op.value.sends();
        let several = sends.iter().any(|send| send.key != sends[0].key);
        self.may_cycle |= several || (!sends.is_empty() && op.value.polls());
        match op.kind {
            OpType::Invoke => self.invoke(position, op, process),
            _ => {
                if op.f == "assign" || op.f == "subscribe" {
                    self.assigns.push(position as u32);
                }
                self.complete(position);
            }
        }
    }

    fn invoke(&mut self, position: usize, op: &'h Op, process: u64) {
        let first = self.rows.len() as u32;
        self.begin_send(position, op, op.value.sends());
        if op.value.polls() {
            self.begin_polls(position, process);
        }
        self.subscribes |= op.f == "subscribe";
        self.rows_at[position] = (first, self.rows.len() as u32 - first);
    }

    fn begin_send(&mut self, position: usize, op: &'h Op, mops: &'h [SendMop]) {
        let ret = self.history.partner(position);
        let end = ret.map(|end| &self.history.ops()[end]);
        let answers = end.map_or(&[][..], |end| end.value.sends());
        let answered = match answers.len() == mops.len() {
            true => answers,
            false => &[],
        };
        let barrier = op.f == "barrier";
        for (which, asked) in mops.iter().enumerate() {
            // Foreign recorders name the record only in the completion.
            let mop = answered.get(which).unwrap_or(asked);
            let mut send = Send::new(mop, position as u32, barrier);
            if let (Some(end), Some(ret)) = (end, ret) {
                send.ret = ret as u32;
                end_send(&mut send, op, end, mop);
            }
            let partition = self.partition(&mop.key);
            let table = &mut self.partitions[partition as usize];
            let row = table.sends.len() as u32;
            table.sends.push(send);
            table.events.push(Event::SendInvoked(row));
            self.rows.push((partition, Row::Send(row)));
        }
        let unanswered = end.is_some_and(|end| end.kind == OpType::Info);
        if mops.len() > 1 && unanswered && self.history.header().is_none() {
            self.proven.push(position as u32);
        }
    }

    fn begin_polls(&mut self, position: usize, process: u64) {
        let Some(end) = self.history.partner(position) else {
            return;
        };
        let op = &self.history.ops()[end];
        let records = op.value.polled();
        for (key, list) in records.into_iter().flatten() {
            self.begin_read(key, read(position, end, process, op, key, list));
        }
        let shown = |key: &str| records.is_some_and(|all| all.contains_key(key));
        for key in op.reads.keys().filter(|key| !shown(key)) {
            self.begin_read(key, read(position, end, process, op, key, &[]));
        }
    }

    fn begin_read(&mut self, key: &'h str, read: Read<'h>) {
        let partition = self.partition(key);
        let table = &mut self.partitions[partition as usize];
        let row = table.reads.len() as u32;
        table.reads.push(read);
        table.events.push(Event::ReadInvoked(row));
        self.rows.push((partition, Row::Read(row)));
    }

    fn complete(&mut self, position: usize) {
        let Some(invoke) = self.history.partner(position) else {
            return;
        };
        for index in span(self.rows_at[invoke]) {
            let (partition, row) = self.rows[index];
            let table = &mut self.partitions[partition as usize];
            table.events.push(match row {
                Row::Send(row) => Event::SendReturned(row),
                Row::Read(row) => Event::ReadReturned(row),
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
        for position in std::mem::take(&mut self.proven) {
            let rows = &self.rows[span(self.rows_at[position as usize])];
            let sends = rows.iter().filter_map(|&(partition, row)| match row {
                Row::Send(row) => Some((partition, row)),
                Row::Read(_) => None,
            });
            let seen = sends.clone().any(|(partition, row)| {
                self.partitions[partition as usize].sends[row as usize].first_read != NEVER
            });
            for (partition, row) in sends {
                let send = &mut self.partitions[partition as usize].sends[row as usize];
                send.proven = seen;
                if !seen {
                    send.offset = None;
                }
            }
        }
    }
}

fn span((first, number): (u32, u32)) -> std::ops::Range<usize> {
    first as usize..(first + number) as usize
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
