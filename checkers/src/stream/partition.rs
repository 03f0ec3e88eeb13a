//! One partition as its events go by.
//!
//! Every condition of a correct log is held against each event as it comes; the first one that fails
//! is kept as a [`Suspicion`] and the partition is not followed any further. Nothing is decided here
//! that the checkers of `anomalies` would not find as well: they explain, this only tells that there
//! is something to explain.

use std::collections::BTreeMap;

use super::event::Event;
use super::floors::{Floors, MAX_OFFSET};
use super::offsets::{Offsets, Slot};
use super::reigns::Reigns;
use super::replicas::{Cursor, FinalLog};
use super::tally::Tally;
use super::values::Values;

/// What is wrong, or cannot be told while the events go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// An anomaly by its name, at an offset, with the value in question.
    Anomaly(&'static str, i64, i64),
    /// It needs the whole history.
    Beyond(&'static str),
}

/// A send in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenSend {
    pub(super) value: i64,
    /// Of the floors when it began.
    pub(super) reached: i64,
    pub(super) key: i64,
    /// Where a read showed it before its answer came; -1 for nowhere.
    pub(super) placed: i64,
}

/// A send that has ended and has no place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unplaced {
    pub(super) reached: i64,
    pub(super) answered: Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answered {
    /// Acknowledged without an offset.
    Acked,
    /// Sent with acks=0.
    Unasked,
    Unknown,
}

/// One partition's state.
pub(super) struct Partition {
    pub number: u32,
    pub replication_factor: Option<usize>,
    pub floors: Floors,
    pub barrier: Option<i64>,
    pub records_sent: u64,
    pub(super) offsets: Offsets,
    /// Sends in flight; few, so that a search is short.
    pub(super) open: Vec<OpenSend>,
    /// Ended sends without a place, by value.
    pub(super) unplaced: BTreeMap<i64, Unplaced>,
    pub(super) barriers: BTreeMap<i64, ()>,
    pub(super) reigns: Reigns,
    pub(super) finals: Vec<FinalLog>,
    /// Readers by process that begin below what is open.
    pub(super) cursors: BTreeMap<u32, Cursor>,
    pub(super) highest_acked: i64,
    pub(super) late: BTreeMap<i64, ()>,
}

impl Partition {
    pub(super) fn new(number: u32, replication_factor: Option<usize>) -> Self {
        Self {
            number,
            replication_factor,
            floors: Floors::NONE,
            barrier: None,
            records_sent: 0,
            offsets: Offsets::default(),
            open: Vec::new(),
            unplaced: BTreeMap::new(),
            barriers: BTreeMap::new(),
            reigns: Reigns::default(),
            finals: Vec::new(),
            cursors: BTreeMap::new(),
            highest_acked: -1,
            late: BTreeMap::new(),
        }
    }

    /// End of what is closed already.
    #[cfg(test)]
    pub(super) fn old_until(&self) -> i64 {
        self.offsets.open_from()
    }

    pub(super) fn begin_send(&mut self, event: &Event, values: &mut Values) -> Result<(), Trouble> {
        if event.barrier {
            self.barriers.insert(event.value, ());
        } else {
            if !values.send(event.value, self.number) {
                return Err(Trouble::Beyond(
                    "a value that is sent twice, or lies far from the others",
                ));
            }
            self.records_sent += 1;
        }
        self.open.push(OpenSend {
            value: event.value,
            reached: self.floors.reached,
            key: self.floors.key,
            placed: -1,
        });
        Ok(())
    }

    fn take_open(&mut self, value: i64) -> Option<OpenSend> {
        let at = self.open.iter().rposition(|send| send.value == value)?;
        Some(self.open.swap_remove(at))
    }

    pub(super) fn end_send(
        &mut self,
        event: &Event,
        values: &mut Values,
        tally: &mut Tally,
    ) -> Result<(), Trouble> {
        let Some(send) = self.take_open(event.value) else {
            return Err(Trouble::Beyond("an answer to a send that was not begun"));
        };
        let acked = event.acks != Some(0);
        if event.offset < 0 {
            let answered = match acked {
                true => Answered::Acked,
                false => Answered::Unasked,
            };
            self.leave_open(send, answered, tally);
            return Ok(());
        }
        if event.offset > MAX_OFFSET {
            return Err(Trouble::Beyond("an offset beyond all bounds"));
        }
        if !acked {
            return Err(Trouble::Beyond("an offset that was not asked for"));
        }
        self.acknowledge(event, send, values, tally)
    }

    fn acknowledge(
        &mut self,
        event: &Event,
        send: OpenSend,
        values: &mut Values,
        tally: &mut Tally,
    ) -> Result<(), Trouble> {
        let (offset, value) = (event.offset, event.value);
        if offset <= send.reached {
            return Err(Trouble::Anomaly("realtime-order", offset, value));
        }
        match send.placed {
            placed if placed == offset => {}
            0.. => return Err(Trouble::Anomaly("duplicate", offset, value)),
            _ => {
                match self.offsets.get(offset) {
                    Slot::Empty => {}
                    Slot::Holds(other) if other == value && event.barrier => {}
                    Slot::Absent => return Err(Trouble::Anomaly("poll-skip", offset, value)),
                    _ => return Err(Trouble::Anomaly("inconsistent-offsets", offset, value)),
                }
                if self.offsets.get(offset) == Slot::Empty {
                    let held = self.offsets.hold(offset, value, event.barrier);
                    held.map_err(|_| Trouble::Beyond("offsets that lie far apart"))?;
                }
                values.place(value);
            }
        }
        if event.barrier {
            self.barrier.get_or_insert(offset);
        } else {
            self.highest_acked = self.highest_acked.max(offset);
        }
        tally.refuted |= send.key > 2 * offset + 1;
        self.floors.reached = self.floors.reached.max(offset);
        self.floors.acked = self.floors.acked.max(offset);
        self.floors.key = self.floors.key.max(2 * offset + 1);
        Ok(())
    }

    fn leave_open(&mut self, send: OpenSend, answered: Answered, tally: &mut Tally) {
        if self.barriers.contains_key(&send.value) {
            return;
        }
        if send.placed >= 0 {
            return tally.placed(answered == Answered::Unknown);
        }
        let unplaced = Unplaced {
            reached: send.reached,
            answered,
        };
        self.unplaced.insert(send.value, unplaced);
    }

    pub(super) fn fail_send(&mut self, event: &Event, values: &mut Values) -> Result<(), Trouble> {
        if let Some(send) = self.take_open(event.value) {
            if send.placed >= 0 {
                return Err(Trouble::Anomaly("G1a", send.placed, event.value));
            }
            values.fail(event.value);
        }
        Ok(())
    }

    pub(super) fn lose_send(&mut self, event: &Event, tally: &mut Tally) {
        if let Some(send) = self.take_open(event.value) {
            self.leave_open(send, Answered::Unknown, tally);
        }
    }

    /// What keeps the end of the run from being known, if anything.
    pub(super) fn finish(&mut self, tally: &mut Tally) -> Result<(), Trouble> {
        for send in std::mem::take(&mut self.open) {
            self.leave_open(send, Answered::Unknown, tally);
        }
        let unacked = self
            .unplaced
            .values()
            .filter(|send| send.answered == Answered::Unasked);
        tally.missing_unacknowledged += unacked.count() as u64;
        tally.late += self.late.len() as u64;
        if self.records_sent == 0 {
            return Ok(());
        }
        let Some(barrier) = self.barrier else {
            return Err(Trouble::Beyond("no acknowledged barrier"));
        };
        let acked = self
            .unplaced
            .values()
            .any(|send| send.answered == Answered::Acked);
        let whole = |log: &&FinalLog| {
            log.next > barrier && !log.stepped_over && log.start <= self.offsets.start()
        };
        let complete = self.finals.iter().filter(whole).count();
        let half = |cursor: &Cursor| !cursor.is_whole(&self.offsets);
        if complete < self.replication_factor.unwrap_or(1) || complete < self.finals.len() {
            Err(Trouble::Beyond(
                "replicas that were not read to the barrier",
            ))
        } else if acked || self.highest_acked > barrier || self.offsets.unread() > 0 {
            Err(Trouble::Beyond(
                "acknowledged records that were read by nobody",
            ))
        } else if self.cursors.values().any(half) {
            Err(Trouble::Beyond("a read of a part of old records"))
        } else {
            Ok(())
        }
    }
}
