//! `realtime-order`: an append that ended before another began has the greater
//! offset, or a read showed a record before an append began that got a smaller
//! offset.
//!
//! The monotone-key engine: an append at offset o sits at key 2o+1; a read
//! whose last record is at offset l sits at 2(l+1) or later, with no upper end,
//! since a log that is replicated by fetching does not promise fresh reads. A
//! linearization exists iff no op x that ended before an op y began has
//! lo(x) > hi(y), so two ops prove every violation. The floor of an op is
//! copied when it begins, holder included: the greatest holder when it is found
//! out need not precede it.
//!
//! A lost value takes no part, nor does a leader's claim that nobody confirmed.

use super::{Checker, Find, witness};
use crate::facts::holes::last_kept;
use crate::facts::records::{Ended, Event, Read, Send};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::OpType;
use crate::history::words;
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "realtime-order",
    definition: "an append got a smaller offset than what had ended, or was read, before it began",
    find: Find::Partition(find),
};

#[derive(Clone, Copy)]
enum Holder {
    Nobody,
    Send(u32),
    Read(u32),
}

fn find(facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let mut newest = (0_i128, Holder::Nobody);
    for &event in &partition.events {
        match event {
            Event::SendInvoked(row) => {
                let send = &partition.sends[row as usize];
                if let Some((_, high)) = partition.places(send)
                    && newest.0 > read_key(high)
                {
                    report(facts, partition, newest.1, send, high, found);
                }
            }
            Event::SendReturned(row) => {
                let send = &partition.sends[row as usize];
                if let Some(offset) = vouched(partition, send) {
                    raise(&mut newest, append_key(offset), Holder::Send(row));
                }
            }
            Event::ReadReturned(row) => {
                let read = &partition.reads[row as usize];
                if let Some(last) = last_kept(partition, read).filter(|_| read.ok) {
                    raise(&mut newest, read_key(last), Holder::Read(row));
                }
            }
            Event::ReadInvoked(_) => {}
        }
    }
}

/// Keys are wider than offsets, so that no offset overflows one.
pub(crate) fn append_key(offset: i64) -> i128 {
    2 * i128::from(offset) + 1
}

/// Where a read stands whose last record is at this offset. What a read showed
/// of a record that was not yet sent is a phantom, not an order, so an append
/// is measured with this key as well.
pub(crate) fn read_key(last: i64) -> i128 {
    append_key(last) + 1
}

fn raise(newest: &mut (i128, Holder), key: i128, holder: Holder) {
    if key > newest.0 {
        *newest = (key, holder);
    }
}

/// The lowest offset at which an acknowledged record stood when its send
/// ended. A record of several attempts, or of nobody knows how many, may be kept as a copy that was appended
/// later than the acknowledged one, so then the acknowledgement must name it.
pub(crate) fn vouched(partition: &Partition<'_>, send: &Send) -> Option<i64> {
    // An op without an answer never ended, even where reads prove that it was done.
    let ended = send.acked() && send.ended == Ended::Ok;
    let (low, high) = partition.places(send).filter(|_| ended)?;
    let named = send
        .offset
        .is_some_and(|offset| offset == low || offset == high);
    match (send.attempts, send.offset) {
        (1, Some(_)) if named => Some(low),
        (1, None) => Some(low),
        (_, Some(offset)) if named => Some(offset),
        _ => None,
    }
}

fn report(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    holder: Holder,
    late: &Send,
    offset: i64,
    found: &mut Found,
) {
    let (before, shown, how) = match holder {
        Holder::Nobody => return,
        Holder::Send(row) => {
            let send = &partition.sends[row as usize];
            let Some(at) = vouched(partition, send) else {
                return;
            };
            let how = format!(
                "{} had been acknowledged at offset {at}",
                partition.named(send.value)
            );
            (send.ret, at, how)
        }
        Holder::Read(row) => {
            let read = &partition.reads[row as usize];
            let Some(last) = last_kept(partition, read) else {
                return;
            };
            (read.ret, last, format!("a read had shown offset {last}"))
        }
    };
    let proof = Proof {
        before,
        shown,
        late,
        offset,
        fixed_by: fixing_read(partition, late),
    };
    let sentence = format!(
        "{} of {} was sent after {how}, yet it stands at offset {offset}.",
        words::shown(late.value),
        partition.key,
    );
    found.add(
        proof.holds(facts, partition),
        Finding {
            anomaly: CHECKER.anomaly,
            key: partition.key.to_owned(),
            offset: Some(offset),
            values: vec![late.value],
            ops: proof.ops(facts),
            time_ns: facts.op(late.invoke).time,
            sentence,
            scope: match partition.verified() {
                true => Scope::Any,
                false => Scope::Claims,
            },
        },
    );
}

/// The read that shows where an append stands whose answer does not say so.
pub(super) fn fixing_read<'p, 'h>(
    partition: &'p Partition<'h>,
    send: &Send,
) -> Option<&'p Read<'h>> {
    match send.acked() && send.offset.is_some() {
        true => None,
        false => partition.reads.get(send.last_read as usize),
    }
}

struct Proof<'p, 'h> {
    before: u32,
    shown: i64,
    late: &'p Send,
    offset: i64,
    fixed_by: Option<&'p Read<'h>>,
}

impl Proof<'_, '_> {
    fn holds(&self, facts: &Facts<'_>, partition: &Partition<'_>) -> bool {
        let (key, value) = (partition.key, self.late.value);
        let (before, began) = (facts.op(self.before), facts.op(self.late.invoke));
        let stands = match self.fixed_by {
            Some(read) => witness::holds(facts.op(read.ret), key, value),
            None => witness::acknowledges(facts.op(self.late.ret), key, value),
        };
        let reaches = before.kind == OpType::Ok
            && (witness::records(before, key).any(|record| record.0 == self.shown)
                || names_key(before, key));
        stands
            && reaches
            && before.index < began.index
            && began.kind == OpType::Invoke
            && self.shown > self.offset
    }

    fn ops(&self, facts: &Facts<'_>) -> Vec<u64> {
        let end = match self.fixed_by {
            Some(_) => self.late.invoke,
            None => self.late.ret,
        };
        let mut ops = vec![facts.index(self.before), facts.index(end)];
        ops.extend(self.fixed_by.map(|read| facts.index(read.ret)));
        ops
    }
}

fn names_key(op: &crate::history::Op, key: &str) -> bool {
    op.value.sends().iter().any(|mop| mop.key == key)
}
