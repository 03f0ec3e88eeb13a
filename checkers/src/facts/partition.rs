//! Everything that the history says about one partition, in dense tables.
//!
//! Built once, read by every checker. After `complete` no table changes.

use std::collections::BTreeMap;

use super::final_log::FinalLog;
use super::holes::{self, Hole};
use super::ranks::Ranks;
use super::records::{Barrier, Ended, Event, NEVER, Read, Send, widen};
use crate::history::words;

/// One partition's tables.
pub(crate) struct Partition<'h> {
    pub key: &'h str,
    /// In order of invocation.
    pub sends: Vec<Send>,
    /// In order of invocation.
    pub reads: Vec<Read<'h>>,
    /// In order of the history.
    pub events: Vec<Event>,
    pub barrier: Option<Barrier>,
    pub finals: Vec<FinalLog<'h>>,
    /// Replicas that the header promises, where it says.
    pub replication_factor: Option<usize>,
    /// No read says where it began: a history of another recorder.
    pub foreign: bool,
    /// Places of all offsets that anybody named.
    pub offsets: Ranks,
    /// Known record by place of its offset.
    pub known: Vec<Option<i64>>,
    /// Reads that pass over known records.
    pub holes: Vec<Hole>,
    /// (read, index of the record) of values that nobody sent here.
    pub strangers: Vec<(u32, u32)>,
    values: Ranks,
    by_value: Vec<u32>,
}

impl<'h> Partition<'h> {
    pub(crate) fn new(key: &'h str) -> Self {
        Self {
            key,
            sends: Vec::new(),
            reads: Vec::new(),
            events: Vec::new(),
            barrier: None,
            finals: Vec::new(),
            replication_factor: None,
            foreign: true,
            offsets: Ranks::none(),
            known: Vec::new(),
            holes: Vec::new(),
            strangers: Vec::new(),
            values: Ranks::none(),
            by_value: Vec::new(),
        }
    }

    /// Derives who read what.
    pub(crate) fn note_observers(&mut self) {
        self.foreign = self.reads.iter().all(|read| read.info.is_none());
        self.index_values();
        self.note_reads();
    }

    /// Derives the rest, once every partition's observers are known.
    pub(crate) fn complete(&mut self) {
        self.find_barrier();
        self.assemble_finals();
        self.note_finals();
        self.index_offsets();
        self.note_known();
        self.holes = holes::find(self);
    }

    /// The send of a value, if there was one.
    #[inline]
    pub(crate) fn send_of(&self, value: i64) -> Option<usize> {
        let send = *self.by_value.get(self.values.of(value)?)?;
        (send != NEVER).then_some(send as usize)
    }

    /// Final logs that were read up to the barrier.
    pub(crate) fn complete_finals(&self) -> impl Iterator<Item = &FinalLog<'h>> {
        self.finals.iter().filter(|log| log.complete)
    }

    /// What the partition holds in the end is known up to the barrier.
    pub(crate) fn verified(&self) -> bool {
        self.reference().is_some()
    }

    /// The final log that stands for the partition.
    pub(crate) fn reference(&self) -> Option<&FinalLog<'h>> {
        self.complete_finals().next()
    }

    /// An offset below the barrier with a known record, kept or consumed, that some final log does not
    /// cover: two logs may differ there, or the record be gone, and nobody would know.
    pub(crate) fn stepped_over(&self) -> Option<i64> {
        let barrier = self.barrier?.offset;
        let consumed = self
            .sends
            .iter()
            .filter(|send| send.first_consumed != NEVER);
        let consumed = consumed.filter_map(|send| send.read_at.map(|at| at.0));
        let kept = (0..self.known.len()).filter(|&place| self.known[place].is_some());
        let kept = kept.map(|place| self.offsets.number(place));
        let mut open = self.complete_finals().filter(|log| log.is_broken());
        open.find_map(|log| {
            let mut known = consumed.clone().chain(kept.clone());
            known.find(|&offset| offset < barrier && !log.covers(offset))
        })
    }

    /// Whether a read belongs to final logs that are compared among themselves.
    pub(crate) fn compared_as_replica(&self, read: &Read<'h>) -> bool {
        read.is_final && self.verified()
    }

    /// An acked record that must be in the final logs and is in none.
    pub(crate) fn is_lost(&self, send: &Send) -> bool {
        send.acked_record() && !self.is_beyond(send) && self.is_gone(send, send.offset)
    }

    /// The record may stand above the barrier, where nothing is judged: its answer came after the
    /// barrier had begun, and does not place it below.
    fn is_beyond(&self, send: &Send) -> bool {
        let Some(barrier) = self.barrier else {
            return false;
        };
        let above = send.offset.is_none_or(|offset| offset > barrier.offset);
        above && barrier.invoke.is_none_or(|invoke| send.ret > invoke)
    }

    /// A final log up to the barrier that would show a record at this offset, or wherever it stood.
    pub(crate) fn witnessing(&self, offset: Option<i64>) -> Option<&FinalLog<'h>> {
        self.complete_finals().find(|log| match offset {
            Some(offset) => log.covers(offset),
            None => log.gaps.is_empty(),
        })
    }

    /// The value is certainly not in the partition any more, though its offset
    /// (where known) lies in what the final reads covered.
    pub(crate) fn is_gone(&self, send: &Send, offset: Option<i64>) -> bool {
        send.kept_at.is_none() && self.witnessing(offset).is_some()
    }

    /// The record may take part in checks of order: it is in the end's log, or
    /// nothing says that it is not and more than a leader's claim stands for it.
    pub(crate) fn takes_part(&self, send: &Send) -> bool {
        if self.verified() {
            return send.kept_at.is_some();
        }
        send.read_at.is_some() || (send.acked() && !send.claims_only())
    }

    /// A value as a sentence names it. Barriers are the harness's own records, and their values mean
    /// nothing to anybody.
    pub(crate) fn named(&self, value: i64) -> String {
        match self.is_barrier(value) {
            true => "the barrier".to_owned(),
            false => words::shown(value),
        }
    }

    pub(crate) fn is_barrier(&self, value: i64) -> bool {
        let sent = self
            .send_of(value)
            .is_some_and(|row| self.sends[row].barrier);
        let known = self.barrier.and_then(|barrier| barrier.value);
        sent || known == Some(value)
    }

    /// The offsets at which the value is known to be, lowest and highest.
    pub(crate) fn places(&self, send: &Send) -> Option<(i64, i64)> {
        if !self.takes_part(send) {
            return None;
        }
        let mut span = match self.verified() {
            true => send.kept_at,
            false => send.read_at,
        };
        if !self.verified()
            && send.acked()
            && let Some(offset) = send.offset
        {
            widen(&mut span, offset);
        }
        span
    }

    /// Index of each place among those at which a record is known.
    pub(crate) fn dense_indices(&self) -> Vec<u32> {
        let mut index = 0;
        let mut indices = Vec::with_capacity(self.known.len());
        for known in &self.known {
            index += u32::from(known.is_some());
            indices.push(index);
        }
        indices
    }

    fn index_values(&mut self) {
        self.values = Ranks::new(self.sends.iter().map(|send| send.value));
        self.by_value = vec![NEVER; self.values.len()];
        for (row, send) in self.sends.iter().enumerate() {
            if let Some(place) = self.values.of(send.value) {
                // A barrier is sent again until it is acked; the acked one
                // stands for it.
                if self.by_value[place] == NEVER || send.ended == Ended::Ok {
                    self.by_value[place] = row as u32;
                }
            }
        }
    }

    fn note_reads(&mut self) {
        let mut by_return: Vec<u32> = (0..self.reads.len() as u32)
            .filter(|&row| self.reads[row as usize].ok)
            .collect();
        by_return.sort_by_key(|&row| self.reads[row as usize].ret);
        for row in by_return {
            let read = &self.reads[row as usize];
            let (records, is_final) = (read.records, read.is_final);
            for (index, &(offset, value)) in records.iter().enumerate() {
                match self.send_of(value) {
                    Some(send) => note_read(&mut self.sends[send], row, offset, is_final),
                    None => self.strangers.push((row, index as u32)),
                }
            }
        }
    }

    fn find_barrier(&mut self) {
        let acked = self
            .sends
            .iter()
            .filter(|send| send.barrier && send.acked())
            .find_map(|send| {
                Some(Barrier {
                    offset: send.offset?,
                    value: Some(send.value),
                    invoke: Some(send.invoke),
                })
            });
        self.barrier = acked.or(self.barrier);
    }

    fn assemble_finals(&mut self) {
        let mut by_replica: BTreeMap<(i32, &str), Vec<u32>> = BTreeMap::new();
        for (row, read) in self.reads.iter().enumerate() {
            if read.ok && read.is_final {
                let replica = read.info.map_or(-1, |info| info.replica);
                let rows = by_replica.entry((replica, read.node)).or_default();
                rows.push(row as u32);
            }
        }
        self.finals = by_replica
            .values()
            .filter_map(|rows| FinalLog::assemble(rows, &self.reads, self.barrier))
            .collect();
    }

    fn note_finals(&mut self) {
        for log in &self.finals {
            for (offset, value) in log.records(&self.reads) {
                let place = self.values.of(value);
                let send = place.and_then(|place| self.by_value.get(place).copied());
                if let Some(send) = send.and_then(|row| self.sends.get_mut(row as usize)) {
                    widen(&mut send.kept_at, offset);
                }
            }
        }
    }

    fn index_offsets(&mut self) {
        let acked = self.sends.iter().filter_map(|send| send.offset);
        let read = self.reads.iter().flat_map(|read| read.records);
        self.offsets = Ranks::new(acked.chain(read.map(|&(offset, _)| offset)));
        self.known = vec![None; self.offsets.len()];
    }

    fn note_known(&mut self) {
        let mut known = std::mem::take(&mut self.known);
        if let Some(reference) = self.reference() {
            for (offset, value) in reference.records(&self.reads) {
                self.know(&mut known, offset, value);
            }
        } else {
            self.know_from_observers(&mut known);
        }
        self.known = known;
    }

    fn know_from_observers(&self, known: &mut [Option<i64>]) {
        for send in &self.sends {
            let committed = send.acked() && (self.foreign || !send.claims_only());
            if let Some(offset) = send.offset.filter(|_| committed) {
                self.know(known, offset, send.value);
            }
        }
        for read in self.reads.iter().filter(|read| read.ok || self.foreign) {
            for &(offset, value) in read.records {
                self.know(known, offset, value);
            }
        }
    }

    fn know(&self, known: &mut [Option<i64>], offset: i64, value: i64) {
        if let Some(place) = self.offsets.of(offset) {
            known[place].get_or_insert(value);
        }
    }
}

fn note_read(send: &mut Send, row: u32, offset: i64, is_final: bool) {
    if send.first_read == NEVER {
        send.first_read = row;
    }
    if !is_final && send.first_consumed == NEVER {
        send.first_consumed = row;
    }
    send.last_read = row;
    widen(&mut send.read_at, offset);
}
