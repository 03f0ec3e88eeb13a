//! Numbers of a run that can be counted as its events go by.

use super::event::{Event, Kind};
use crate::measures::{Latency, Measures};

/// Buckets of a latency's logarithm, and within each.
const SCALES: usize = 48;
const STEPS_OF_SCALE: usize = 64;

/// What was counted so far.
pub(super) struct Tally {
    attempted: u64,
    acked: u64,
    failed: u64,
    unacknowledged: u64,
    present: u64,
    reads: u64,
    pub missing_unacknowledged: u64,
    pub late: u64,
    pub stale_reads: u64,
    /// Consumers' reads that could have refuted linearizability, and whether one did.
    pub refutable_reads: u64,
    pub refuted: bool,
    pub shown_unacknowledged: bool,
    latencies: Box<[u64]>,
    longest_ns: u64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            attempted: 0,
            acked: 0,
            failed: 0,
            unacknowledged: 0,
            present: 0,
            reads: 0,
            missing_unacknowledged: 0,
            late: 0,
            stale_reads: 0,
            refutable_reads: 0,
            refuted: false,
            shown_unacknowledged: false,
            latencies: vec![0; SCALES * STEPS_OF_SCALE].into_boxed_slice(),
            longest_ns: 0,
        }
    }

    #[inline]
    pub(super) fn count(&mut self, event: &Event, began: u64) {
        match event.kind {
            Kind::ReadOk => self.reads += 1,
            _ if event.barrier => {}
            Kind::SendInvoked => self.attempted += 1,
            Kind::SendFailed => self.failed += 1,
            Kind::SendOk if event.acks == Some(0) => self.unacknowledged += 1,
            Kind::SendOk => {
                self.acked += 1;
                let took = event.time.saturating_sub(began);
                self.longest_ns = self.longest_ns.max(took);
                self.latencies[bucket(took)] += 1;
            }
            Kind::SendUnknown | Kind::ReadInvoked | Kind::ReadFailed => {}
        }
    }

    pub(super) fn consumed(&mut self, hw: i64, any: bool) {
        self.refutable_reads += u64::from(hw >= 0 || any);
    }

    /// A record without an acknowledgement is there after all.
    pub(super) fn placed(&mut self, unknown: bool) {
        self.present += u64::from(unknown);
        self.shown_unacknowledged |= !unknown;
    }

    pub(super) fn nothing_was_tested(&self) -> bool {
        self.attempted + self.reads == 0 || (self.acked == 0 && !self.shown_unacknowledged)
    }

    pub(super) fn measures(&self, faults: u64, settled: Option<bool>) -> Measures {
        let answered = self.acked + self.failed + self.unacknowledged;
        Measures {
            attempted: self.attempted,
            acked: self.acked,
            failed: self.failed,
            indeterminate: self.attempted.saturating_sub(answered),
            unacknowledged: self.unacknowledged,
            missing_unacknowledged: self.missing_unacknowledged,
            unacked_but_present: self.present,
            late: self.late,
            stale_reads: self.stale_reads,
            reads: self.reads,
            faults,
            settled,
            latency_ms: self.latency(),
            ..Measures::default()
        }
    }

    fn latency(&self) -> Latency {
        Latency {
            p50: self.quantile(50),
            p99: self.quantile(99),
            max: (self.acked > 0).then(|| in_ms(self.longest_ns)),
        }
    }

    /// To one part in 64: the upper end of the bucket.
    fn quantile(&self, percent: u64) -> Option<f64> {
        let rank = (self.acked * percent).div_ceil(100);
        let mut before = 0;
        let at = self.latencies.iter().position(|&count| {
            before += count;
            before >= rank && before > 0
        })?;
        Some(in_ms(upper_end(at).min(self.longest_ns)))
    }
}

#[inline]
fn bucket(ns: u64) -> usize {
    let scale = (64 - ns.leading_zeros()).saturating_sub(6) as usize;
    let step = (ns >> scale) as usize;
    (scale * STEPS_OF_SCALE + step).min(SCALES * STEPS_OF_SCALE - 1)
}

fn upper_end(bucket: usize) -> u64 {
    let (scale, step) = (bucket / STEPS_OF_SCALE, bucket % STEPS_OF_SCALE);
    ((step as u64 + 1) << scale) - 1
}

/// Whole microseconds, so that the JSON stays readable.
fn in_ms(ns: u64) -> f64 {
    (ns / 1000) as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_what_lies_within_one_part_in_thirty_two_of_its_end() {
        for ns in [0, 1, 63, 64, 1000, 123_456_789, 60_000_000_000] {
            let end = upper_end(bucket(ns));
            assert!(end >= ns && end - ns <= ns / 32 + 1, "{ns} {end}");
        }
    }
}
