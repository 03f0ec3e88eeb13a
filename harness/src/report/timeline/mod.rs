//! A run on one time axis: phases, faults, what each node was, and what clients
//! got, all taken from the history. No pixels here, and no judgement.

mod bins;
mod logs;
mod nodes;
mod phases;

pub use bins::{Bin, Bins};
pub use logs::{Curve, Leader, LogLane, Truncation, log_lanes};
pub use nodes::{NodeLane, Span, State, node_lanes};
pub use phases::{Phase, phases};

use plimsoll_checkers::history::{History, Op, Process, Value};

/// Everything that is drawn over time.
#[derive(Debug)]
pub struct Timeline {
    /// End of the axis, in nanoseconds since the run's start; never zero.
    pub end_ns: u64,
    pub phases: Vec<Phase>,
    pub nodes: Vec<NodeLane>,
    pub bins: Bins,
    pub logs: Vec<LogLane>,
    /// How many partitions there were, of which `logs` may be the most telling ones.
    pub partitions: usize,
}

impl Timeline {
    pub fn new(history: &History, verdict: &plimsoll_checkers::Verdict) -> Self {
        let end_ns = history.ops().last().map_or(0, |op| op.time).max(1_000_000);
        let (logs, partitions) = log_lanes(history, verdict, end_ns);
        Self {
            end_ns,
            phases: phases(history, end_ns),
            nodes: node_lanes(history, &verdict.measures.fault_windows, end_ns),
            bins: Bins::new(history, verdict, end_ns),
            logs,
            partitions,
        }
    }
}

/// The fields of a line of the nemesis.
fn fields(op: &Op) -> Option<&serde_json::Map<String, serde_json::Value>> {
    match (&op.process, &op.value) {
        (Process::Nemesis, Value::Other(serde_json::Value::Object(fields))) => Some(fields),
        _ => None,
    }
}
