//! What clients got, second by second (or whatever width suits the run).

use std::collections::BTreeSet;

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::{History, Op, OpType, Value};

/// One stretch of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bin {
    pub kept: u64,
    pub lost: u64,
    /// Sent with acks=0: nobody said that it arrived.
    pub unasked: u64,
    pub failed: u64,
    pub indeterminate: u64,
    /// p10, p50 and p99 of acknowledgements, in milliseconds.
    pub latency_ms: Option<[f64; 3]>,
}

/// All of them.
#[derive(Debug)]
pub struct Bins {
    pub width_ns: u64,
    pub bins: Vec<Bin>,
    /// When indeterminate sends ended.
    pub indeterminate_ns: Vec<u64>,
}

/// Widths that a person can divide by.
const WIDTHS_MS: [u64; 11] = [
    50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000,
];

impl Bins {
    pub fn new(history: &History, verdict: &Verdict, end_ns: u64) -> Self {
        let width_ns = width_ns(end_ns);
        let lost: BTreeSet<u64> = verdict.measures.lost.iter().map(|one| one.op).collect();
        let count = usize::try_from(end_ns.div_ceil(width_ns))
            .unwrap_or(1)
            .max(1);
        let mut bins = vec![Bin::default(); count];
        let mut took: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut indeterminate_ns = Vec::new();
        for (position, op) in history.ops().iter().enumerate() {
            if op.f == "barrier" || op.kind == OpType::Invoke || !is_send(op) {
                continue;
            }
            let index = usize::try_from(op.time / width_ns)
                .unwrap_or(0)
                .min(count - 1);
            let bin = &mut bins[index];
            match op.kind {
                OpType::Ok if op.acks == Some(0) => bin.unasked += 1,
                OpType::Ok if lost.contains(&op.index) => bin.lost += 1,
                OpType::Ok => bin.kept += 1,
                OpType::Fail => bin.failed += 1,
                OpType::Info | OpType::Invoke => {
                    bin.indeterminate += 1;
                    indeterminate_ns.push(op.time);
                }
            }
            let invoke = history.partner(position).map(|at| &history.ops()[at]);
            let asked = op.acks != Some(0);
            if let (OpType::Ok, true, Some(invoke)) = (op.kind, asked, invoke) {
                took[index].push(op.time - invoke.time);
            }
        }
        for (bin, mut took) in bins.iter_mut().zip(took) {
            bin.latency_ms = quantiles(&mut took);
        }
        Self {
            width_ns,
            bins,
            indeterminate_ns,
        }
    }

    /// The greatest number of acknowledgements, or of sends that asked for none, in one bin.
    pub fn most_acks(&self) -> u64 {
        let acks = self.bins.iter();
        let acks = acks.map(|bin| bin.kept + bin.lost + bin.unasked);
        acks.max().unwrap_or(0)
    }

    /// The greatest number of errors in one bin.
    pub fn most_errors(&self) -> u64 {
        let errors = self.bins.iter().map(|bin| bin.failed + bin.indeterminate);
        errors.max().unwrap_or(0)
    }
}

/// About sixty bins, unless that needs a width nobody can divide by.
fn width_ns(end_ns: u64) -> u64 {
    let wanted = end_ns / 90;
    let fits = WIDTHS_MS.iter().map(|ms| ms * 1_000_000);
    let last = WIDTHS_MS[WIDTHS_MS.len() - 1] * 1_000_000;
    fits.filter(|width| *width >= wanted)
        .min()
        .unwrap_or_else(|| last.max(wanted))
}

fn is_send(op: &Op) -> bool {
    matches!(op.value, Value::Send(_))
}

fn quantiles(took: &mut [u64]) -> Option<[f64; 3]> {
    took.sort_unstable();
    let at = |percent: usize| {
        let rank = (took.len() * percent).div_ceil(100).saturating_sub(1);
        took.get(rank).map(|ns| *ns as f64 / 1e6)
    };
    Some([at(10)?, at(50)?, at(99)?])
}
