//! What is counted and never accused.

mod availability;
mod counts;
mod latency;
mod lost;
mod realtime_lag;
mod unseen;

use serde::Serialize;

pub use availability::{AtPlace, Availability, Unavailable};
pub use latency::Latency;
pub use lost::{LostRecord, PROOF_MARGIN_NS};
pub use realtime_lag::{Lag, realtime_lag};
pub use unseen::{Unseen, unseen_series};

use crate::facts::Facts;
use crate::facts::cluster::Cluster;
use crate::facts::faults::FaultWindow;

/// Numbers of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Sends that were begun; the next five add up to it.
    pub attempted: u64,
    /// Acknowledged.
    pub acked: u64,
    /// Certainly not done.
    pub failed: u64,
    /// Unknown.
    pub indeterminate: u64,
    /// Sent with acks=0: no answer was asked for.
    pub unacknowledged: u64,
    /// Acknowledged records that are gone.
    pub lost_acked: u64,
    /// Values at more than one offset.
    pub duplicates: u64,
    /// Records sent with acks=0 that are not in the final logs.
    pub missing_unacknowledged: u64,
    /// Indeterminate records that are in the final logs.
    pub unacked_but_present: u64,
    /// Records that appeared after the barrier.
    pub late: u64,
    /// Acknowledged records of which nothing can be told.
    pub unverified: u64,
    /// Reads that missed what had been acknowledged before they began.
    pub stale_reads: u64,
    /// The furthest that a consumer was behind real time when it polled.
    pub worst_realtime_lag: Option<Lag>,
    /// Ok reads, final ones included.
    pub reads: u64,
    /// Faults that took hold.
    pub faults: u64,
    /// Changes of leader that the monitor saw.
    pub leader_changes: u64,
    /// Shrinks of in-sync sets that the monitor saw.
    pub isr_shrinks: u64,
    /// Acknowledgements that arrived while a fault was on.
    pub acks_in_fault_windows: u64,
    /// How long the worst partition acknowledged nothing though asked to.
    pub unavailable_ms: u64,
    /// The same by partition, for writes and reads.
    pub unavailable: Availability,
    /// Of acknowledged sends.
    pub latency_ms: Latency,
    /// Whether the cluster recovered before the settle limit, where that was
    /// tried.
    pub settled: Option<bool>,
    /// The faults, with what happened under each.
    pub fault_windows: Vec<FaultWindowMeasures>,
    /// Acknowledged records that are gone, by time of their acknowledgement.
    pub lost: Vec<LostRecord>,
}

/// One fault and what happened while it was on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultWindowMeasures {
    /// The fault.
    #[serde(flatten)]
    pub window: FaultWindow,
    /// Acknowledgements that arrived meanwhile.
    pub acks: u64,
    /// How many of those were lost.
    pub lost: u64,
    /// Lost ones that were acknowledged just before it was proved to hold, while no fault was on.
    pub lost_just_before: u64,
    /// Lost ones that its target acknowledged just after it was healed, while no fault was on.
    pub lost_just_after: u64,
    /// Longest time during it in which a partition acknowledged nothing.
    pub unavailable_ms: u64,
}

pub(crate) fn measure(facts: &Facts<'_>) -> Measures {
    let mut measures = counts::count(facts);
    let cluster = Cluster::new(facts);
    let (availability, outages) = availability::measure(facts);
    measures.leader_changes = cluster.leader_changes;
    measures.isr_shrinks = cluster.isr_shrinks;
    measures.faults = facts.windows.len() as u64;
    measures.settled = facts.settled.as_ref().map(|settled| settled.settled);
    measures.worst_realtime_lag = realtime_lag::worst(facts.history);
    measures.latency_ms = latency::measure(facts);
    measures.lost = lost::list(facts);
    measures.lost_acked = measures.lost.len() as u64;
    measures.unavailable_ms = availability.writes.worst_ms;
    measures.unavailable = availability;
    let acks = ack_times(facts);
    measures.fault_windows = by_window(facts, &acks, &measures.lost, &outages);
    measures.acks_in_fault_windows = acks_under_any(facts, &acks);
    measures
}

fn by_window(
    facts: &Facts<'_>,
    acks: &[u64],
    lost: &[LostRecord],
    outages: &[Vec<(u64, u64)>],
) -> Vec<FaultWindowMeasures> {
    let within = |times: &[u64], window: &FaultWindow| {
        let from = times.partition_point(|&time| time < window.from_ns);
        let to = window.to_ns.unwrap_or(u64::MAX);
        let to = times.partition_point(|&time| time <= to);
        to.saturating_sub(from) as u64
    };
    let lost_times: Vec<u64> = lost.iter().map(|record| record.acked_ns).collect();
    facts
        .windows
        .iter()
        .map(|window| FaultWindowMeasures {
            window: window.clone(),
            acks: within(acks, window),
            lost: within(&lost_times, window),
            lost_just_before: put_down(lost, |record| record.before_fault == Some(window.id)),
            lost_just_after: put_down(lost, |record| record.after_fault == Some(window.id)),
            unavailable_ms: availability::within(outages, window),
        })
        .collect()
}

fn put_down(lost: &[LostRecord], to_it: impl Fn(&LostRecord) -> bool) -> u64 {
    lost.iter().filter(|record| to_it(record)).count() as u64
}

/// When sends were acknowledged, in order.
fn ack_times(facts: &Facts<'_>) -> Vec<u64> {
    let sends = facts
        .partitions
        .iter()
        .flat_map(|partition| &partition.sends);
    let acked = sends.filter(|send| send.acked_record());
    let mut times: Vec<u64> = acked.map(|send| facts.op(send.ret).time).collect();
    times.sort_unstable();
    times
}

fn acks_under_any(facts: &Facts<'_>, acks: &[u64]) -> u64 {
    let under = |&&time: &&u64| facts.windows.iter().any(|window| window.contains(time));
    acks.iter().filter(under).count() as u64
}
