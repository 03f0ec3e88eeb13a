//! How long the cluster took to get over each fault: to a new leader, to the first acknowledgement, to
//! full in-sync sets.
//!
//! Times count from the moment at which the fault was proved to hold (it may have bitten up to a second
//! earlier), and are as fine as the monitor looked.

use std::collections::BTreeMap;

use plimsoll_checkers::history::{History, OpType};
use plimsoll_checkers::{FaultWindow, FaultWindowMeasures, PROOF_MARGIN_NS, Verdict};
use serde::Serialize;

use super::sightings::{Sighting, Sightings};
use super::spread::Spread;

/// One fault, and the way out of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recovery {
    pub id: u64,
    pub fault: String,
    pub targets: Vec<String>,
    pub from_ns: u64,
    pub to_ns: Option<u64>,
    /// Partitions that a target led when it began.
    pub led: u64,
    /// Those of them that got another leader before the next fault.
    pub changed_leader: u64,
    /// Until the last of those had one.
    pub to_new_leader_ms: Option<u64>,
    /// Until the last partition that it hit had acknowledged a send begun after it. Absent where one
    /// never did, and where no answers are asked for.
    pub to_first_ack_ms: Option<u64>,
    /// Whether an in-sync set was seen to lack somebody.
    pub shrank: bool,
    /// From the heal until all in-sync sets were full, where one had shrunk.
    pub heal_to_full_isr_ms: Option<u64>,
    pub unavailable_ms: u64,
    pub acks: u64,
    pub lost: u64,
    pub lost_just_before: u64,
    pub lost_just_after: u64,
}

impl Recovery {
    /// Lost while it was on, just before and just after.
    pub fn all_lost(&self) -> u64 {
        self.lost + self.lost_just_before + self.lost_just_after
    }
}

/// All faults of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KindOfFault {
    pub fault: String,
    pub faults: u64,
    /// Faults under which some partition changed its leader.
    pub changed_leader: u64,
    /// Medians and maxima over the faults for which they are known.
    pub to_new_leader_ms: Option<Spread>,
    pub to_first_ack_ms: Option<Spread>,
    pub heal_to_full_isr_ms: Option<Spread>,
    pub unavailable_ms: Option<Spread>,
    /// Losses while it was on, just before and just after.
    pub lost: u64,
}

/// Every fault of the run.
pub fn recoveries(history: &History, sightings: &Sightings, verdict: &Verdict) -> Vec<Recovery> {
    let acks = acks(history);
    let full = full_size(history, sightings);
    let windows = &verdict.measures.fault_windows;
    windows
        .iter()
        .map(|one| recovery(one, windows, sightings, &acks, full))
        .collect()
}

/// The same by kind, in order of name.
pub fn by_kind(recoveries: &[Recovery]) -> Vec<KindOfFault> {
    let mut kinds: BTreeMap<&str, Vec<&Recovery>> = BTreeMap::new();
    for one in recoveries {
        kinds.entry(&one.fault).or_default().push(one);
    }
    let spread = |all: &[&Recovery], of: fn(&Recovery) -> Option<u64>| {
        Spread::of(all.iter().filter_map(|one| of(one)).collect())
    };
    let kind = |(fault, all): (&str, Vec<&Recovery>)| KindOfFault {
        fault: fault.to_owned(),
        faults: all.len() as u64,
        changed_leader: all.iter().filter(|one| one.changed_leader > 0).count() as u64,
        to_new_leader_ms: spread(&all, |one| one.to_new_leader_ms),
        to_first_ack_ms: spread(&all, |one| one.to_first_ack_ms),
        heal_to_full_isr_ms: spread(&all, |one| one.heal_to_full_isr_ms),
        unavailable_ms: spread(&all, |one| Some(one.unavailable_ms)),
        lost: all.iter().map(|one| one.all_lost()).sum(),
    };
    kinds.into_iter().map(kind).collect()
}

/// Per partition: when acknowledged sends began and ended, in order of their ends.
type Acks = BTreeMap<String, Vec<(u64, u64)>>;

fn acks(history: &History) -> Acks {
    let mut acks = Acks::new();
    for (position, op) in history.ops().iter().enumerate() {
        if op.kind != OpType::Ok || op.f == "barrier" || op.acks == Some(0) {
            continue;
        }
        let begun = history
            .partner(position)
            .and_then(|at| history.ops().get(at));
        let begun = begun.map_or(op.time, |invoke| invoke.time);
        for send in op.value.sends() {
            let of_key = acks.entry(send.key.clone()).or_default();
            of_key.push((begun, op.time));
        }
    }
    acks
}

/// Members of a full in-sync set.
fn full_size(history: &History, sightings: &Sightings) -> usize {
    let topics = history
        .header()
        .into_iter()
        .flat_map(|header| header.topics.values());
    let promised = topics
        .map(|topic| usize::from(topic.replication_factor))
        .max();
    promised.filter(|size| *size > 0).unwrap_or_else(|| {
        let sizes = sightings.keys().map(|key| sightings.replicas(key).count());
        sizes.max().unwrap_or(0)
    })
}

fn recovery(
    one: &FaultWindowMeasures,
    windows: &[FaultWindowMeasures],
    sightings: &Sightings,
    acks: &Acks,
    full: usize,
) -> Recovery {
    let window = &one.window;
    // What comes after the next fault may be its doing.
    let next = windows.iter().map(|other| other.window.from_ns);
    let next = next.filter(|from| *from > window.from_ns).min();
    let until_ns = next.unwrap_or(u64::MAX);
    let led = led_by_targets(window, sightings);
    let changed: Vec<u64> = led
        .iter()
        .filter_map(|key| new_leader_ns(sightings.at(key), window, until_ns))
        .collect();
    let shrank = sightings
        .keys()
        .any(|key| shrank(sightings.at(key), window, until_ns, full));
    Recovery {
        id: window.id,
        fault: window.fault.clone(),
        targets: window.targets.clone(),
        from_ns: window.from_ns,
        to_ns: window.to_ns,
        led: led.len() as u64,
        changed_leader: changed.len() as u64,
        to_new_leader_ms: changed
            .into_iter()
            .max()
            .map(|at| since(at, window.from_ns)),
        to_first_ack_ms: first_ack_ns(&led, acks, window).map(|at| since(at, window.from_ns)),
        shrank,
        heal_to_full_isr_ms: window
            .to_ns
            .filter(|_| shrank)
            .and_then(|healed| Some(since(full_again_ns(sightings, healed, full)?, healed))),
        unavailable_ms: one.unavailable_ms,
        acks: one.acks,
        lost: one.lost,
        lost_just_before: one.lost_just_before,
        lost_just_after: one.lost_just_after,
    }
}

fn since(at_ns: u64, from_ns: u64) -> u64 {
    at_ns.saturating_sub(from_ns) / 1_000_000
}

/// Partitions that the fault's targets led, or all where it names none.
fn led_by_targets(window: &FaultWindow, sightings: &Sightings) -> Vec<String> {
    let before = window.from_ns.saturating_sub(PROOF_MARGIN_NS);
    let hit = |key: &&str| {
        let seen = sightings.at(key);
        let Some((epoch, leader)) = sightings
            .leader_at(key, before)
            .or_else(|| sightings.leader_at(key, window.from_ns))
        else {
            return false;
        };
        let named = seen
            .iter()
            .find(|one| one.epoch == epoch && one.leads && one.leader == Some(leader));
        window.targets.is_empty() || named.is_some_and(|one| window.targets.contains(&one.node))
    };
    sightings.keys().filter(hit).map(str::to_owned).collect()
}

/// When another leader of a newer epoch was first seen.
fn new_leader_ns(seen: &[Sighting], window: &FaultWindow, until_ns: u64) -> Option<u64> {
    let start = window.from_ns.saturating_sub(PROOF_MARGIN_NS);
    let before = seen.iter().take_while(|one| one.time_ns < start);
    let before = before.filter_map(|one| Some((one.epoch, one.leader?)));
    let (epoch, leader) = before
        .max_by_key(|(epoch, _)| *epoch)
        .or_else(|| seen.iter().find_map(|one| Some((one.epoch, one.leader?))))?;
    let takes_over = |one: &&Sighting| {
        one.time_ns >= start
            && one.time_ns < until_ns
            && one.leads
            && one.epoch > epoch
            && one.leader.is_some_and(|next| next != leader)
    };
    seen.iter().find(takes_over).map(|one| one.time_ns)
}

/// When the last of the partitions acknowledged a send that began under the fault.
fn first_ack_ns(led: &[String], acks: &Acks, window: &FaultWindow) -> Option<u64> {
    let first = |key: &String| {
        let mut of_key = acks.get(key)?.iter();
        let ack = of_key.find(|(begun, _)| *begun >= window.from_ns);
        ack.map(|(_, ended)| *ended)
    };
    let firsts: Option<Vec<u64>> = led.iter().map(first).collect();
    firsts?.into_iter().max()
}

/// An in-sync set that lacks somebody shortly before the proof is an earlier fault's doing: a follower
/// is dropped only after its lag, or its session, has run out.
fn shrank(seen: &[Sighting], window: &FaultWindow, until_ns: u64, full: usize) -> bool {
    let during = window.from_ns..until_ns;
    seen.iter()
        .filter(|one| one.leads && during.contains(&one.time_ns))
        .any(|one| one.in_sync.len() < full)
}

/// The first moment after a heal at which every partition's newest leader named a full in-sync set.
fn full_again_ns(sightings: &Sightings, healed_ns: u64, full: usize) -> Option<u64> {
    let mut at = healed_ns;
    for key in sightings.keys() {
        let mut newest = i64::MIN;
        let mut is_full = false;
        let mut since_ns = None;
        for one in sightings.at(key) {
            if one.epoch < newest || (!one.leads && one.epoch == newest) {
                continue;
            }
            newest = one.epoch;
            let now_full = one.leads && one.in_sync.len() >= full;
            if now_full && !is_full && one.time_ns > healed_ns {
                since_ns = Some(one.time_ns);
            }
            is_full = now_full;
            if one.time_ns > healed_ns && is_full {
                since_ns = since_ns.or(Some(healed_ns));
                break;
            }
        }
        match (is_full, since_ns) {
            (true, Some(time_ns)) => at = at.max(time_ns),
            // Full before the heal, and nothing was noted since.
            (true, None) => {}
            (false, _) => return None,
        }
    }
    Some(at)
}
