//! When a partition served nobody though somebody asked.
//!
//! An outage begins with the first request that no success follows within
//! [`PATIENCE_NS`], or with the last success if requests were still open then,
//! and ends with the next success (or the last answer of any kind). Idle time
//! is no outage.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use crate::facts::faults::FaultWindow;
use crate::facts::records::{Ended, Event};
use crate::facts::{Facts, Partition};
use crate::history::{Op, OpType, Process};

/// Shorter waits are latency, not unavailability.
const PATIENCE_NS: u64 = 500_000_000;

/// Unavailability of writes and of reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Availability {
    /// No send was acknowledged.
    pub writes: Unavailable,
    /// No read was answered.
    pub reads: Unavailable,
    /// The same for the clients of each place, where the header says who lives where.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_place: BTreeMap<String, AtPlace>,
}

/// Unavailability as the clients of one place met it: those on one node's side of every cut, or
/// those that are never cut off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AtPlace {
    /// No send of theirs was acknowledged.
    pub writes: Unavailable,
    /// No read of theirs was answered.
    pub reads: Unavailable,
}

/// Sums of outages by partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unavailable {
    /// The worst partition's sum.
    pub worst_ms: u64,
    /// Which that is.
    pub worst: Option<String>,
    /// Every partition's sum.
    pub by_partition: BTreeMap<String, u64>,
    /// When: (from, to) in milliseconds since the run's start.
    pub outages_ms: BTreeMap<String, Vec<(u64, u64)>>,
}

/// A request's life as far as availability is concerned.
#[derive(Clone, Copy)]
enum Moment {
    Asked,
    Served,
    Refused,
}

/// Availability, and the outages of writes by partition in nanoseconds.
pub(super) fn measure(facts: &Facts<'_>) -> (Availability, Vec<Vec<(u64, u64)>>) {
    let everyone = |_: &Op| true;
    let mut writes = Unavailable::default();
    let mut all = Vec::new();
    for partition in &facts.partitions {
        let outages = outages(&writes_of(facts, partition, everyone));
        writes.add(partition.key, &outages);
        all.push(outages);
    }
    let reads = reads(facts, everyone);
    let by_place = by_place(facts);
    let availability = Availability {
        writes,
        reads,
        by_place,
    };
    (availability, all)
}

/// Where clients live, by the header; nothing where all live in one place.
fn by_place(facts: &Facts<'_>) -> BTreeMap<String, AtPlace> {
    let clients = facts.history.header().map(|header| &header.clients);
    let mut clients_at: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (client, fields) in clients.into_iter().flatten() {
        if let Some(place) = fields.get("place").and_then(Json::as_str) {
            clients_at.entry(place).or_default().insert(client);
        }
    }
    if clients_at.len() < 2 {
        return BTreeMap::new();
    }
    let at = |clients: BTreeSet<&str>| {
        let theirs = |op: &Op| {
            let client = op.client.as_deref();
            client.is_some_and(|client| clients.contains(client))
        };
        let mut writes = Unavailable::default();
        for partition in &facts.partitions {
            writes.add(
                partition.key,
                &outages(&writes_of(facts, partition, theirs)),
            );
        }
        let reads = reads(facts, theirs);
        AtPlace { writes, reads }
    };
    let places = clients_at.into_iter();
    places
        .map(|(place, clients)| (place.to_owned(), at(clients)))
        .collect()
}

fn reads(facts: &Facts<'_>, counts: impl Fn(&Op) -> bool) -> Unavailable {
    let mut reads = Unavailable::default();
    for (key, moments) in reads_by_key(facts, counts) {
        reads.add(key, &outages(&moments));
    }
    reads
}

impl Unavailable {
    fn add(&mut self, key: &str, outages: &[(u64, u64)]) {
        let sum = in_ms(outages.iter().map(|(from, to)| to - from).sum());
        self.by_partition.insert(key.to_owned(), sum);
        if sum > self.worst_ms {
            self.worst_ms = sum;
            self.worst = Some(key.to_owned());
        }
        if !outages.is_empty() {
            let spans = outages.iter().map(|&(from, to)| (in_ms(from), in_ms(to)));
            self.outages_ms.insert(key.to_owned(), spans.collect());
        }
    }
}

/// The worst partition's outage of writes within a fault's window.
pub(super) fn within(outages: &[Vec<(u64, u64)>], window: &FaultWindow) -> u64 {
    let end = window.to_ns.unwrap_or(u64::MAX);
    let overlap = |&(from, to): &(u64, u64)| to.min(end).saturating_sub(from.max(window.from_ns));
    let sums = outages.iter().map(|spans| spans.iter().map(overlap).sum());
    in_ms(sums.max().unwrap_or(0))
}

fn outages(moments: &[(u64, Moment)]) -> Vec<(u64, u64)> {
    let mut outages = Vec::new();
    let mut open = 0_u64;
    let mut unserved: Option<u64> = None;
    let mut last_answer = 0;
    for &(time, moment) in moments {
        match moment {
            Moment::Asked => {
                open += 1;
                unserved.get_or_insert(time);
            }
            Moment::Refused => {
                open = open.saturating_sub(1);
                last_answer = time;
            }
            Moment::Served => {
                open = open.saturating_sub(1);
                push(&mut outages, unserved, time);
                unserved = (open > 0).then_some(time);
            }
        }
    }
    push(&mut outages, unserved, last_answer);
    outages
}

fn push(outages: &mut Vec<(u64, u64)>, from: Option<u64>, to: u64) {
    if let Some(from) = from
        && to.saturating_sub(from) >= PATIENCE_NS
    {
        outages.push((from, to));
    }
}

fn writes_of(
    facts: &Facts<'_>,
    partition: &Partition<'_>,
    counts: impl Fn(&Op) -> bool,
) -> Vec<(u64, Moment)> {
    let mut moments = Vec::with_capacity(partition.events.len());
    for &event in &partition.events {
        let (Event::SendInvoked(row) | Event::SendReturned(row)) = event else {
            continue;
        };
        let send = &partition.sends[row as usize];
        if send.barrier || send.acks == Some(0) || !counts(facts.op(send.invoke)) {
            continue;
        }
        moments.push(match (event, send.ended) {
            (Event::SendInvoked(_), _) => (facts.op(send.invoke).time, Moment::Asked),
            (_, Ended::Ok) => (facts.op(send.ret).time, Moment::Served),
            _ => (facts.op(send.ret).time, Moment::Refused),
        });
    }
    moments
}

/// Polls by partition. A refused poll names its partition at most in its
/// circumstances, so those of either end are asked.
fn reads_by_key<'h>(
    facts: &Facts<'h>,
    counts: impl Fn(&Op) -> bool,
) -> BTreeMap<&'h str, Vec<(u64, Moment)>> {
    let mut by_key: BTreeMap<&str, Vec<(u64, Moment)>> = BTreeMap::new();
    let ops = facts.history.ops();
    for (position, op) in ops.iter().enumerate() {
        if !op.value.polls() || op.process == Process::Nemesis || !counts(op) {
            continue;
        }
        let partner = facts.history.partner(position).map(|other| &ops[other]);
        let is_final = |op: &Op| op.reads.values().any(|info| info.is_final);
        if is_final(op) || partner.is_some_and(is_final) {
            continue;
        }
        let moment = match op.kind {
            OpType::Invoke => Moment::Asked,
            OpType::Ok => Moment::Served,
            OpType::Fail | OpType::Info => Moment::Refused,
        };
        let mut keys: Vec<&str> = op.reads.keys().map(String::as_str).collect();
        if let Some(other) = partner {
            keys.extend(other.reads.keys().map(String::as_str));
        }
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            by_key.entry(key).or_default().push((op.time, moment));
        }
    }
    by_key
}

fn in_ms(ns: u64) -> u64 {
    ns / 1_000_000
}
