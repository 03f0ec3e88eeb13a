//! The session guarantees, by client: `monotonic-reads` (read after read), `read-your-writes` (read
//! after append), `monotonic-writes` (append after append), `writes-follow-reads` (append after read).
//!
//! The monotone-key engine with the order of each client in place of real time: a pair x before y of
//! one client violates its guarantee when x's key lies above y's. An append at offset o sits at 2o+1.
//! A read sits above its last record; how far it could see at most is only known from its high
//! watermark. So what a client reads is accused only where linearizable reads are promised, and is
//! measured otherwise (for the consistency level); what it writes is always judged. Final reads are
//! the harness's own and belong to no client.

use std::collections::BTreeMap;

use super::realtime_order::{append_key, fixing_read, read_key, vouched};
use super::{Checker, Find, witness};
use crate::facts::holes::last_kept;
use crate::facts::records::{Event, NEVER, Read, Send};
use crate::facts::{Facts, Partition};
use crate::finding::{Finding, Found};
use crate::history::{Op, Process, words};
use crate::promise::Scope;

/// One of the four guarantees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Guarantee {
    MonotonicReads,
    ReadYourWrites,
    MonotonicWrites,
    WritesFollowReads,
}

impl Guarantee {
    pub(crate) const ALL: [Guarantee; 4] = [
        Guarantee::MonotonicReads,
        Guarantee::ReadYourWrites,
        Guarantee::MonotonicWrites,
        Guarantee::WritesFollowReads,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Guarantee::MonotonicReads => "monotonic-reads",
            Guarantee::ReadYourWrites => "read-your-writes",
            Guarantee::MonotonicWrites => "monotonic-writes",
            Guarantee::WritesFollowReads => "writes-follow-reads",
        }
    }

    /// Whether it speaks of what a client reads.
    fn is_of_reads(self) -> bool {
        matches!(self, Guarantee::MonotonicReads | Guarantee::ReadYourWrites)
    }
}

pub(super) const MONOTONIC_READS: Checker = Checker {
    anomaly: "monotonic-reads",
    definition: "a client's read sees less than an earlier one of its own, where that is promised",
    find: Find::Partition(|facts, partition, found| {
        find(Guarantee::MonotonicReads, facts, partition, found);
    }),
};

pub(super) const READ_YOUR_WRITES: Checker = Checker {
    anomaly: "read-your-writes",
    definition: "a client's read misses its own acknowledged append, where that is promised",
    find: Find::Partition(|facts, partition, found| {
        find(Guarantee::ReadYourWrites, facts, partition, found);
    }),
};

pub(super) const MONOTONIC_WRITES: Checker = Checker {
    anomaly: "monotonic-writes",
    definition: "a client's append stands below an earlier one of its own",
    find: Find::Partition(|facts, partition, found| {
        find(Guarantee::MonotonicWrites, facts, partition, found);
    }),
};

pub(super) const WRITES_FOLLOW_READS: Checker = Checker {
    anomaly: "writes-follow-reads",
    definition: "a client's append stands below what it had read before",
    find: Find::Partition(|facts, partition, found| {
        find(Guarantee::WritesFollowReads, facts, partition, found);
    }),
};

/// Two ops of one client in the wrong order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub guarantee: Guarantee,
    before: Part,
    /// The offset that the earlier op reached.
    reached: i64,
    after: Part,
    /// The offset (of an append), or the end of what could be seen (of a read).
    stands: i64,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Send(u32),
    Read(u32),
}

/// What a client had done: the greatest key with its offset and op.
type Floor = Option<(i128, i64, Part)>;

fn find(guarantee: Guarantee, facts: &Facts<'_>, partition: &Partition<'_>, found: &mut Found) {
    let header = facts.history.header();
    let promised = header.is_some_and(|header| header.promise.linearizable_reads);
    if guarantee.is_of_reads() && !promised {
        return;
    }
    for pair in pairs(facts, partition, promised) {
        if pair.guarantee == guarantee {
            report(facts, partition, &pair, found);
        }
    }
}

/// All violating pairs, at most one for each later op and guarantee. With `trusted` high watermarks
/// a read stands where its watermark says.
pub(crate) fn pairs(facts: &Facts<'_>, partition: &Partition<'_>, trusted: bool) -> Vec<Pair> {
    let sessions = Sessions::new(facts, partition);
    let mut floors: BTreeMap<u32, (Floor, Floor)> = BTreeMap::new();
    let mut pairs = Vec::new();
    for &event in &partition.events {
        match event {
            Event::SendInvoked(row) => {
                let send = &partition.sends[row as usize];
                let Some((appended, read)) = floors.get(&sessions.of_send[row as usize]) else {
                    continue;
                };
                if let Some((_, high)) = partition.places(send) {
                    // Of a record that a read showed before it was sent `phantom-read` speaks.
                    let key = match trusted {
                        true => append_key(high),
                        false => read_key(high),
                    };
                    let after = (Part::Send(row), high, key);
                    compare(&mut pairs, Guarantee::MonotonicWrites, appended, after);
                    compare(&mut pairs, Guarantee::WritesFollowReads, read, after);
                }
            }
            Event::ReadInvoked(row) => {
                let one = &partition.reads[row as usize];
                let hw = one.info.map_or(-1, |info| info.hw);
                let Some((appended, read)) = floors.get(&sessions.of_read[row as usize]) else {
                    continue;
                };
                if trusted && one.ok && !one.is_final && hw >= 0 {
                    let after = (Part::Read(row), hw, watermark_key(hw));
                    compare(&mut pairs, Guarantee::ReadYourWrites, appended, after);
                    compare(&mut pairs, Guarantee::MonotonicReads, read, after);
                }
            }
            Event::SendReturned(row) => {
                let send = &partition.sends[row as usize];
                if let Some(at) = vouched(partition, send) {
                    let floor = floors.entry(sessions.of_send[row as usize]).or_default();
                    raise(&mut floor.0, append_key(at), at, Part::Send(row));
                }
            }
            Event::ReadReturned(row) => {
                let one = &partition.reads[row as usize];
                if one.ok && !one.is_final {
                    let floor = floors.entry(sessions.of_read[row as usize]).or_default();
                    raise_read(&mut floor.1, partition, one, row, trusted);
                }
            }
        }
    }
    pairs
}

fn raise_read(
    floor: &mut Floor,
    partition: &Partition<'_>,
    read: &Read<'_>,
    row: u32,
    trusted: bool,
) {
    if let Some(last) = last_kept(partition, read) {
        raise(floor, read_key(last), last, Part::Read(row));
    }
    let hw = read.info.map_or(-1, |info| info.hw);
    if trusted && hw > 0 {
        raise(floor, watermark_key(hw), hw - 1, Part::Read(row));
    }
}

/// Where a read stands that saw everything below `hw`.
fn watermark_key(hw: i64) -> i128 {
    2 * i128::from(hw)
}

fn raise(floor: &mut Floor, key: i128, offset: i64, part: Part) {
    if floor.is_none_or(|(highest, ..)| key > highest) {
        *floor = Some((key, offset, part));
    }
}

fn compare(
    pairs: &mut Vec<Pair>,
    guarantee: Guarantee,
    floor: &Floor,
    (after, stands, key): (Part, i64, i128),
) {
    if let Some((highest, reached, before)) = *floor
        && highest > key
    {
        pairs.push(Pair {
            guarantee,
            before,
            reached,
            after,
            stands,
        });
    }
}

/// The client behind each row, as a number.
struct Sessions {
    of_send: Vec<u32>,
    of_read: Vec<u32>,
}

impl Sessions {
    fn new(facts: &Facts<'_>, partition: &Partition<'_>) -> Self {
        let mut numbers: BTreeMap<(Option<&str>, u64), u32> = BTreeMap::new();
        let mut number = |position: u32| {
            let next = numbers.len() as u32;
            *numbers.entry(session(facts.op(position))).or_insert(next)
        };
        Self {
            of_send: partition
                .sends
                .iter()
                .map(|send| number(send.invoke))
                .collect(),
            of_read: partition
                .reads
                .iter()
                .map(|read| number(read.invoke))
                .collect(),
        }
    }
}

/// A client by its stable name, else by its process.
fn session(op: &Op) -> (Option<&str>, u64) {
    match (op.client.as_deref(), op.process) {
        (Some(client), _) => (Some(client), 0),
        (None, Process::Client(process)) => (None, process),
        (None, Process::Nemesis) => (None, u64::MAX),
    }
}

fn report(facts: &Facts<'_>, partition: &Partition<'_>, pair: &Pair, found: &mut Found) {
    let invoke_of = |part: Part| match part {
        Part::Send(row) => partition.sends[row as usize].invoke,
        Part::Read(row) => partition.reads[row as usize].invoke,
    };
    let (before, began) = (
        facts.op(end_of(partition, pair.before)),
        facts.op(invoke_of(pair.after)),
    );
    let mut ops = vec![before.index, facts.index(end_of(partition, pair.after))];
    if let Part::Send(row) = pair.after {
        let send = &partition.sends[row as usize];
        ops.extend(fixing_read(partition, send).map(|read| facts.index(read.ret)));
    }
    let proved = session(facts.op(invoke_of(pair.before))) == session(began)
        && before.index < began.index
        && reaches(before, partition.key, pair.reached)
        && stands_below(facts, partition, pair);
    found.add(
        proved,
        Finding {
            anomaly: pair.guarantee.name(),
            key: partition.key.to_owned(),
            offset: Some(pair.stands),
            values: values_of(partition, pair),
            ops,
            time_ns: began.time,
            sentence: sentence(partition, pair, began),
            scope: match partition.verified() || pair.guarantee.is_of_reads() {
                true => Scope::Any,
                false => Scope::Claims,
            },
        },
    );
}

fn end_of(partition: &Partition<'_>, part: Part) -> u32 {
    match part {
        Part::Send(row) => {
            let send = &partition.sends[row as usize];
            match send.ret {
                NEVER => send.invoke,
                ret => ret,
            }
        }
        Part::Read(row) => partition.reads[row as usize].ret,
    }
}

/// The op itself shows, or acknowledges, that the partition reached an offset.
fn reaches(op: &Op, key: &str, offset: i64) -> bool {
    let claimed = op.value.sends().iter().any(|send| send.key == key);
    let seen = witness::records(op, key).any(|record| record.0 >= offset);
    let watermark = op.reads.get(key).is_some_and(|info| info.hw > offset);
    claimed || seen || watermark
}

fn stands_below(facts: &Facts<'_>, partition: &Partition<'_>, pair: &Pair) -> bool {
    match pair.after {
        Part::Send(row) => {
            let send: &Send = &partition.sends[row as usize];
            let shown = match fixing_read(partition, send) {
                Some(read) => witness::holds(facts.op(read.ret), partition.key, send.value),
                None => witness::names(facts.op(send.ret), partition.key, send.value),
            };
            let below = match pair.before {
                Part::Send(_) => pair.stands < pair.reached,
                Part::Read(_) => pair.stands <= pair.reached,
            };
            shown && below
        }
        Part::Read(row) => {
            let op = facts.op(partition.reads[row as usize].ret);
            let hw = op.reads.get(partition.key).map_or(i64::MAX, |info| info.hw);
            hw <= pair.reached
        }
    }
}

fn values_of(partition: &Partition<'_>, pair: &Pair) -> Vec<i64> {
    let value = |part: Part| match part {
        Part::Send(row) => Some(partition.sends[row as usize].value),
        Part::Read(_) => None,
    };
    value(pair.before)
        .into_iter()
        .chain(value(pair.after))
        .collect()
}

fn sentence(partition: &Partition<'_>, pair: &Pair, began: &Op) -> String {
    let who = match (&began.client, began.process) {
        (Some(client), _) => format!("Client {client}"),
        (None, process) => format!("Process {process}"),
    };
    let had = match pair.before {
        Part::Send(_) => "had an append acknowledged at",
        Part::Read(_) => "had seen up to",
    };
    let then = match pair.after {
        Part::Send(row) => {
            let value = words::shown(partition.sends[row as usize].value);
            format!(
                "its later append of {value} stands at offset {}",
                pair.stands
            )
        }
        Part::Read(_) => format!(
            "its later read could see nothing from offset {} on",
            pair.stands
        ),
    };
    format!(
        "{who} {had} offset {} of {}, yet {then}.",
        pair.reached, partition.key
    )
}
