//! How long acknowledged sends took.

use serde::Serialize;

use crate::facts::Facts;

/// Quantiles in milliseconds; absent when nothing was acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Latency {
    /// The median.
    pub p50: Option<f64>,
    /// One in a hundred took longer.
    pub p99: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
}

pub(super) fn measure(facts: &Facts<'_>) -> Latency {
    let sends = facts
        .partitions
        .iter()
        .flat_map(|partition| &partition.sends);
    let acked = sends.filter(|send| send.acked_record());
    let took = acked.map(|send| facts.op(send.ret).time - facts.op(send.invoke).time);
    let mut took: Vec<u64> = took.collect();
    took.sort_unstable();
    Latency {
        p50: quantile(&took, 50),
        p99: quantile(&took, 99),
        max: took.last().copied().map(in_ms),
    }
}

/// The smallest of `sorted` that `percent` of them do not exceed.
fn quantile(sorted: &[u64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().map(in_ms)
}

/// Whole microseconds, so that the JSON stays readable.
fn in_ms(ns: u64) -> f64 {
    (ns / 1000) as f64 / 1000.0
}
