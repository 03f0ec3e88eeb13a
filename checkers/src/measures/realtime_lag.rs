//! How far behind real time a consumer was: Jepsen's `realtime-lag`.
//!
//! For each ok poll and each partition that its process holds, the time from the moment at which the
//! position that the poll left it at was known to be superseded until the poll's invocation; never
//! below zero. An offset is known once an answer or an ok poll named it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use crate::history::{History, Op, OpType, Process};

/// One consumer's lag at one poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lag {
    /// When the poll was invoked, in nanoseconds since the run's start.
    pub time: u64,
    /// Who polled.
    pub process: u64,
    /// Partition.
    pub key: String,
    /// In nanoseconds.
    pub lag: u64,
}

/// The lag at every ok poll that does not belong to the final reads.
pub fn realtime_lag(history: &History) -> Vec<Lag> {
    let mut lags = Vec::new();
    each_lag(history, |time, process, key, lag| {
        let key = key.to_owned();
        lags.push(Lag {
            time,
            process,
            key,
            lag,
        });
    });
    lags
}

/// The worst of them, the earliest where several are.
pub(crate) fn worst(history: &History) -> Option<Lag> {
    let mut worst: Option<Lag> = None;
    each_lag(history, |time, process, key, lag| {
        if worst.as_ref().is_none_or(|worst| lag > worst.lag) {
            let key = key.to_owned();
            worst = Some(Lag {
                time,
                process,
                key,
                lag,
            });
        }
    });
    worst
}

/// Tells time, process, partition and lag of each in turn.
fn each_lag(history: &History, mut tell: impl FnMut(u64, u64, &str, u64)) {
    let known = Known::new(history);
    let mut held: BTreeMap<u64, Held> = BTreeMap::new();
    for (position, op) in history.ops().iter().enumerate() {
        let Process::Client(process) = op.process else {
            continue;
        };
        if op.kind == OpType::Invoke || op.reads.values().any(|info| info.is_final) {
            continue;
        }
        let held = held.entry(process).or_default();
        if op.f == "assign" || op.f == "subscribe" {
            held.assign(op);
        } else if op.kind == OpType::Ok && op.value.polls() {
            held.advance(op);
            let invoked = history
                .partner(position)
                .map_or(op.time, |at| history.ops()[at].time);
            for (key, &at) in &held.positions {
                let since = known.superseded(key, at);
                let lag = since.map_or(0, |since| invoked.saturating_sub(since));
                tell(invoked, process, key, lag);
            }
        }
    }
}

/// What a process holds, and the last offset that it has read of each.
#[derive(Default)]
struct Held {
    positions: BTreeMap<String, i64>,
}

impl Held {
    fn assign(&mut self, op: &Op) {
        let keys: BTreeSet<String> = match &op.value {
            crate::history::Value::Other(Json::Array(keys)) => keys.iter().map(name).collect(),
            _ => BTreeSet::new(),
        };
        self.positions.retain(|key, _| keys.contains(key));
        for key in keys {
            self.positions.entry(key).or_insert(-1);
        }
    }

    fn advance(&mut self, op: &Op) {
        for (key, info) in &op.reads {
            self.positions
                .insert(key.clone(), info.from.saturating_sub(1));
        }
        for (key, list) in op.value.polled().into_iter().flatten() {
            let at = self.positions.entry(key.clone()).or_insert(-1);
            if let Some(&(last, _)) = list.last() {
                *at = last;
            }
        }
    }
}

fn name(key: &Json) -> String {
    match key {
        Json::String(name) => name.clone(),
        other => other.to_string(),
    }
}

/// By partition: offsets in order, each with the first time at which it or a later one was known.
struct Known<'h> {
    by_key: BTreeMap<&'h str, Vec<(i64, u64)>>,
}

impl<'h> Known<'h> {
    fn new(history: &'h History) -> Self {
        let mut by_key: BTreeMap<&str, Vec<(i64, u64)>> = BTreeMap::new();
        for op in history.ops().iter().filter(|op| op.kind == OpType::Ok) {
            for send in op.value.sends() {
                if let Some(offset) = send.offset {
                    by_key.entry(&send.key).or_default().push((offset, op.time));
                }
            }
            for (key, list) in op.value.polled().into_iter().flatten() {
                let seen = by_key.entry(key).or_default();
                seen.extend(list.iter().map(|&(offset, _)| (offset, op.time)));
            }
        }
        for known in by_key.values_mut() {
            known.sort_unstable();
            let mut first = u64::MAX;
            for (_, time) in known.iter_mut().rev() {
                first = first.min(*time);
                *time = first;
            }
        }
        Self { by_key }
    }

    /// When something above this offset was first known.
    fn superseded(&self, key: &str, offset: i64) -> Option<u64> {
        let known = self.by_key.get(key)?;
        let above = known.partition_point(|entry| entry.0 <= offset);
        known.get(above).map(|entry| entry.1)
    }
}
