//! One element of a set, and what its reads say of it.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::history::History;
use crate::models::Anomaly;

/// What is known of one element.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub value: Json,
    acked: Option<usize>,
    /// Position of the end of the op that first showed that it is there.
    known: Option<usize>,
    /// Invoke and end of the read that began last among those that hold it, and that miss it.
    last_present: Option<(usize, usize)>,
    last_absent: Option<(usize, usize)>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Later reads all hold it; the time from when it was known until then, in milliseconds.
    Stable { latency_ms: u64 },
    /// It was known, and later reads miss it.
    Lost { latency_ms: u64 },
    /// Nothing can be told.
    NeverRead,
}

impl Outcome {
    pub(super) fn latency_ms(self) -> Option<u64> {
        match self {
            Outcome::Stable { latency_ms } | Outcome::Lost { latency_ms } => Some(latency_ms),
            Outcome::NeverRead => None,
        }
    }
}

impl Element {
    pub(super) fn new(value: Json) -> Self {
        Self {
            value,
            acked: None,
            known: None,
            last_present: None,
            last_absent: None,
        }
    }

    pub(super) fn acknowledge(&mut self, position: usize) {
        self.acked.get_or_insert(position);
        self.known.get_or_insert(position);
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.acked.is_some()
    }

    pub(super) fn present(&mut self, invoke: usize, end: usize) {
        self.known.get_or_insert(end);
        if self.last_present.is_none_or(|(last, _)| last < invoke) {
            self.last_present = Some((invoke, end));
        }
    }

    pub(super) fn absent(&mut self, invoke: usize, end: usize) {
        if self.last_absent.is_none_or(|(last, _)| last < invoke) {
            self.last_absent = Some((invoke, end));
        }
    }

    pub(super) fn outcome(&self, history: &History) -> Outcome {
        let (present, absent) = (self.last_present, self.last_absent);
        let before = |one: Option<(usize, usize)>, other: Option<(usize, usize)>| match other {
            Some((other, _)) => one.is_none_or(|(one, _)| one < other),
            None => false,
        };
        // From the moment after the last read that says otherwise began.
        let since = |last: Option<(usize, usize)>| {
            let known = self.known.map_or(0, |at| history.ops()[at].time);
            let after = last.map_or(0, |(invoke, _)| history.ops()[invoke].time + 1);
            after.saturating_sub(known) / 1_000_000
        };
        let known_before_absent =
            matches!((self.known, absent), (Some(known), Some((absent, _))) if known < absent);
        if before(absent, present) {
            Outcome::Stable {
                latency_ms: since(absent),
            }
        } else if known_before_absent && before(present, absent) {
            Outcome::Lost {
                latency_ms: since(present),
            }
        } else {
            Outcome::NeverRead
        }
    }

    /// It was there, and a read that began later does not hold it.
    pub(super) fn lost(&self, history: &History) -> Anomaly {
        let at = [self.known, self.last_absent.map(|(_, end)| end)];
        let ops: Vec<_> = at
            .into_iter()
            .flatten()
            .map(|at| &history.ops()[at])
            .collect();
        let how = match self.acked == self.known {
            true => "was acknowledged",
            false => "was read",
        };
        Anomaly {
            kind: "lost-write",
            key: None,
            ops: ops.iter().map(|op| op.index).collect(),
            time_ns: ops.first().map_or(0, |op| op.time),
            message: format!("{} {how}, and the last read misses it.", self.value),
            details: BTreeMap::from([("element", self.value.clone())]),
        }
    }

    pub(super) fn shown(&self, outcome: &Outcome, history: &History) -> Json {
        let index = |at: Option<usize>| at.map(|at| history.ops()[at].index);
        json!({
            "element": self.value,
            "outcome": "stable",
            "stable_latency": outcome.latency_ms(),
            "lost_latency": null,
            "known": index(self.known),
            "last_absent": index(self.last_absent.map(|(invoke, _)| invoke)),
        })
    }
}
