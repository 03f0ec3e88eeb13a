//! What the nemesis and the run's phases left in the history.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value as Json;

use crate::history::{History, Op, Process, Value};

/// One fault from the moment it took hold until it was healed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultWindow {
    /// The schedule's number of the fault.
    pub id: u64,
    /// What was done: `kill`, `pause`, `partition`, ...
    pub fault: String,
    /// Nodes that it was done to.
    pub targets: Vec<String>,
    /// The nemesis's own words.
    pub detail: String,
    /// In nanoseconds since the run's start.
    pub from_ns: u64,
    /// Absent while nothing says that it was healed.
    pub to_ns: Option<u64>,
}

impl FaultWindow {
    /// Whether the fault was on.
    pub fn contains(&self, time_ns: u64) -> bool {
        self.from_ns <= time_ns && self.to_ns.is_none_or(|to| time_ns <= to)
    }
}

/// How settling ended.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    pub position: u32,
    pub settled: bool,
    pub unsettled: Vec<String>,
    /// Replicas that could still be read, for the keys that lost some for good.
    pub replicas_left: BTreeMap<String, usize>,
    pub two_leaders: Vec<TwoLeaders>,
}

/// A broker that claims leadership in an epoch that is over.
#[derive(Debug, Clone)]
pub(crate) struct TwoLeaders {
    pub key: String,
    pub node: String,
    pub leader_epoch: i64,
    pub newest_epoch: i64,
}

/// The fields of a line of the nemesis with this f.
pub(crate) fn nemesis_value(op: &Op) -> Option<&serde_json::Map<String, Json>> {
    match (&op.process, &op.value) {
        (Process::Nemesis, Value::Other(Json::Object(fields))) => Some(fields),
        _ => None,
    }
}

/// All faults that took hold, by their time.
pub(super) fn windows(history: &History, nemesis: &[u32]) -> Vec<FaultWindow> {
    let mut windows = Vec::new();
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    for op in nemesis.iter().map(|&at| &history.ops()[at as usize]) {
        let Some(fields) = nemesis_value(op) else {
            continue;
        };
        let id = fields.get("id").and_then(Json::as_u64).unwrap_or(op.index);
        match text(fields, "phase") {
            "installed" => {
                open.insert(id, windows.len());
                windows.push(window(id, op, fields));
            }
            "healed" => {
                if let Some(row) = open.remove(&id)
                    && let Some(window) = windows.get_mut(row)
                {
                    let healed: &mut FaultWindow = window;
                    healed.to_ns = Some(op.time);
                }
            }
            _ => {}
        }
    }
    windows
}

fn window(id: u64, op: &Op, fields: &serde_json::Map<String, Json>) -> FaultWindow {
    FaultWindow {
        id,
        fault: op.f.clone(),
        targets: texts(fields, "targets"),
        detail: text(fields, "detail").to_owned(),
        from_ns: op.time,
        to_ns: None,
    }
}

/// The last word on settling.
pub(super) fn settled(history: &History, nemesis: &[u32]) -> Option<Settled> {
    let (position, op) = nemesis
        .iter()
        .rev()
        .map(|&position| (position, &history.ops()[position as usize]))
        .find(|(_, op)| op.f == "settled" && nemesis_value(op).is_some())?;
    let fields = nemesis_value(op)?;
    let claims = fields.get("two_leaders").and_then(Json::as_array);
    Some(Settled {
        position,
        settled: fields
            .get("settled")
            .and_then(Json::as_bool)
            .unwrap_or(false),
        unsettled: texts(fields, "unsettled"),
        replicas_left: replicas_left(fields).collect(),
        two_leaders: claims.into_iter().flatten().filter_map(claim).collect(),
    })
}

/// The keys that lost replicas for good, with how many are left of each.
pub(crate) fn replicas_left(
    fields: &serde_json::Map<String, Json>,
) -> impl Iterator<Item = (String, usize)> + '_ {
    let left = fields.get("replicas_left").and_then(Json::as_object);
    left.into_iter()
        .flatten()
        .filter_map(|(key, count)| Some((key.clone(), usize::try_from(count.as_u64()?).ok()?)))
}

fn claim(value: &Json) -> Option<TwoLeaders> {
    let fields = value.as_object()?;
    Some(TwoLeaders {
        key: text(fields, "key").to_owned(),
        node: text(fields, "node").to_owned(),
        leader_epoch: fields.get("leader_epoch")?.as_i64()?,
        newest_epoch: fields.get("newest_epoch")?.as_i64()?,
    })
}

fn text<'a>(fields: &'a serde_json::Map<String, Json>, name: &str) -> &'a str {
    fields.get(name).and_then(Json::as_str).unwrap_or("")
}

fn texts(fields: &serde_json::Map<String, Json>, name: &str) -> Vec<String> {
    let list = fields.get(name).and_then(Json::as_array);
    let texts = list.into_iter().flatten().filter_map(Json::as_str);
    texts.map(str::to_owned).collect()
}
