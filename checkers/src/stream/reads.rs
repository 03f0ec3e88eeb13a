//! What reads show, held against what is known of a partition.

use super::event::Answer;
use super::floors::{Floors, MAX_OFFSET};
use super::offsets::Slot;
use super::partition::{Answered, Partition, Trouble};
use super::reigns::{Contradiction, Reply};
use super::replicas::{Cursor, FinalLog, Mismatch};
use super::tally::Tally;
use super::values::{State, Values};

impl Partition {
    /// One ok read: `floors` and `began` are of its begin, `ended` of now.
    pub(super) fn end_read(
        &mut self,
        process: u32,
        answer: &Answer,
        records: &[(i64, i64)],
        begin: (Floors, u64, u64),
        values: &mut Values,
        tally: &mut Tally,
    ) -> Result<(), Trouble> {
        let (floors, began, ended) = begin;
        // A batch may begin below the offset asked for; that is no answer.
        let below = records.iter().take_while(|record| record.0 < answer.from);
        let below = match records.first() {
            Some(first) if first.0 < answer.from => below.count(),
            _ => 0,
        };
        let records = &records[below..];
        if answer.from < 0 || records.last().is_some_and(|record| record.0 > MAX_OFFSET) {
            return Err(Trouble::Beyond("an offset beyond all bounds"));
        }
        let first = records.first().map_or(answer.from, |record| record.0);
        if answer.is_final {
            self.follow_final(answer, records);
        }
        self.compare(process, answer.from, first, records, values, tally)?;
        let last = records.last().map_or(-1, |record| record.0);
        let reply = Reply {
            replica: answer.replica,
            incarnation: answer.incarnation,
            leader_epoch: answer.leader_epoch,
            hw: answer.hw,
            last,
            began,
            ended,
        };
        if let Some(contradiction) = self.reigns.reply(reply) {
            return Err(match contradiction {
                Contradiction::HwFell(_) => Trouble::Anomaly("hw-regression", answer.hw, 0),
                Contradiction::ShownAbove(shown) => Trouble::Anomaly("read-above-hw", shown, 0),
            });
        }
        self.floors.reached = self.floors.reached.max(last);
        self.floors.key = self.floors.key.max(2 * (last + 1));
        if !answer.is_final {
            tally.consumed(answer.hw, !records.is_empty());
            if answer.hw >= 0 {
                tally.stale_reads += u64::from(floors.acked >= answer.hw);
                tally.refuted |= floors.key > 2 * answer.hw.min(MAX_OFFSET);
                self.floors.key = self.floors.key.max(2 * answer.hw.min(MAX_OFFSET));
            }
        }
        Ok(())
    }

    fn follow_final(&mut self, answer: &Answer, records: &[(i64, i64)]) {
        let same = |log: &FinalLog| log.replica == answer.replica;
        let at = self.finals.iter().position(same).unwrap_or_else(|| {
            self.finals.push(FinalLog::new(answer.replica, answer.from));
            self.finals.len() - 1
        });
        let log = &mut self.finals[at];
        log.begin(answer.from);
        if let Some(&(last, _)) = records.last() {
            log.next = log.next.max(last + 1);
        }
    }

    /// Holds records against what is known: first as whole runs, one by one only where they differ.
    fn compare(
        &mut self,
        process: u32,
        from: i64,
        first: i64,
        records: &[(i64, i64)],
        values: &mut Values,
        tally: &mut Tally,
    ) -> Result<(), Trouble> {
        if records.is_empty() {
            return Ok(());
        }
        let mut rest = records;
        if from < self.offsets.open_from() {
            rest = self.compare_closed(process, from, records)?;
        } else if first > from {
            self.pass_over(from, first)?;
        }
        let mut expected = rest.first().map_or(first, |record| record.0);
        while let Some(&(offset, value)) = rest.first() {
            if offset != expected {
                if offset < expected {
                    return Err(Trouble::Anomaly("int-nonmonotonic-poll", offset, value));
                }
                self.pass_over(expected, offset)?;
            }
            let run = self.offsets.run(offset);
            let equal = same(run, offset, rest);
            if equal == 0 {
                self.see(offset, value, values, tally)?;
                rest = &rest[1..];
                expected = offset + 1;
            } else {
                self.offsets.note_read(offset, equal);
                rest = &rest[equal..];
                expected = offset + equal as i64;
            }
        }
        Ok(())
    }

    /// A record that is not known at its offset yet, or contradicts what is.
    fn see(
        &mut self,
        offset: i64,
        value: i64,
        values: &mut Values,
        tally: &mut Tally,
    ) -> Result<(), Trouble> {
        match self.offsets.get(offset) {
            Slot::Empty => {}
            Slot::Absent => return Err(Trouble::Anomaly("poll-skip", offset, value)),
            Slot::Holds(_) | Slot::Closed => {
                return Err(Trouble::Anomaly("inconsistent-offsets", offset, value));
            }
        }
        let far = |_| Trouble::Beyond("offsets that lie far apart");
        if self.barriers.contains_key(&value) {
            return self.offsets.hold(offset, value, true).map_err(far);
        }
        match values.state(value) {
            State::Unsent => return Err(Trouble::Anomaly("phantom-read", offset, value)),
            State::Settled => return Err(Trouble::Anomaly("duplicate", offset, value)),
            State::Sent(number) if number != self.number => {
                return Err(Trouble::Anomaly("phantom-read", offset, value));
            }
            State::Sent(_) => {}
        }
        let reached = match self.open.iter_mut().rev().find(|send| send.value == value) {
            Some(send) => {
                send.placed = offset;
                send.reached
            }
            None => {
                let Some(send) = self.unplaced.remove(&value) else {
                    return Err(Trouble::Beyond("a value whose send is not known"));
                };
                tally.placed(send.answered == Answered::Unknown);
                send.reached
            }
        };
        if offset <= reached {
            return Err(Trouble::Anomaly("realtime-order", offset, value));
        }
        if self.barrier.is_some_and(|barrier| offset > barrier) {
            self.late.insert(value, ());
        }
        values.place(value);
        self.offsets.hold(offset, value, true).map_err(far)
    }

    /// No record stands at these offsets, says a read that covers them.
    fn pass_over(&mut self, from: i64, to: i64) -> Result<(), Trouble> {
        if to - from > 1 << 16 {
            return Err(Trouble::Beyond("offsets that lie far apart"));
        }
        for offset in from..to {
            match self.offsets.get(offset) {
                Slot::Absent => {}
                Slot::Empty => {
                    let passed = self.offsets.pass_over(offset);
                    passed.map_err(|_| Trouble::Beyond("offsets that lie far apart"))?;
                }
                Slot::Holds(value) => return Err(Trouble::Anomaly("poll-skip", offset, value)),
                Slot::Closed => return Err(Trouble::Beyond("a read that passes over old records")),
            }
        }
        Ok(())
    }

    /// Compares the records that lie in closed blocks by fingerprint; the rest comes back.
    fn compare_closed<'r>(
        &mut self,
        process: u32,
        from: i64,
        records: &'r [(i64, i64)],
    ) -> Result<&'r [(i64, i64)], Trouble> {
        let trouble = |mismatch| match mismatch {
            Mismatch::Differs => Trouble::Anomaly("inconsistent-offsets", from, 0),
            Mismatch::Partial => Trouble::Beyond("a read of a part of old records"),
        };
        if from < self.offsets.start() {
            return Err(Trouble::Beyond("a read below everything that is known"));
        }
        let continued = self
            .cursors
            .get(&process)
            .filter(|cursor| cursor.continues(from));
        let mut cursor = continued.copied().unwrap_or(Cursor::at(from));
        if continued.is_none() && from % super::offsets::BLOCK != 0 {
            return Err(Trouble::Beyond("a read of a part of old records"));
        }
        let open = self.offsets.open_from();
        let mut last = from - 1;
        let mut read = 0;
        for &(offset, value) in records.iter().take_while(|record| record.0 < open) {
            if offset <= last {
                return Err(Trouble::Anomaly("int-nonmonotonic-poll", offset, value));
            }
            cursor.step(&self.offsets, offset, value).map_err(trouble)?;
            last = offset;
            read += 1;
        }
        let rest = &records[read..];
        if let Some(&(first, _)) = rest.first() {
            cursor.skip_to(&self.offsets, open).map_err(trouble)?;
            self.cursors.remove(&process);
            self.pass_over(open, first)?;
        } else {
            self.cursors.insert(process, cursor);
        }
        Ok(rest)
    }
}

/// How many records, from the first on, stand exactly where they are known to. Eight at a time,
/// without a branch for each, since nearly all of them do.
#[inline]
fn same(run: &[i64], offset: i64, records: &[(i64, i64)]) -> usize {
    const WIDTH: usize = 8;
    let mut equal = 0;
    for (known, shown) in run.chunks_exact(WIDTH).zip(records.chunks_exact(WIDTH)) {
        let mut differs = 0;
        for step in 0..WIDTH {
            let at = offset + (equal + step) as i64;
            differs |= (known[step] ^ shown[step].1) | (at ^ shown[step].0);
        }
        if differs != 0 {
            break;
        }
        equal += WIDTH;
    }
    let rest = run[equal..].iter().zip(&records[equal..]);
    let rest = rest.zip(offset + equal as i64..);
    equal += rest
        .take_while(|&((&known, &(place, value)), at)| known == value && place == at)
        .count();
    equal
}
