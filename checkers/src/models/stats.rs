//! `stats`: how ops ended, in all and by f. Not valid when some f never succeeded.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::vocabulary::ops;
use super::{Anomaly, Model, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    ok: u64,
    fail: u64,
    info: u64,
    last: usize,
}

pub(super) fn judge(history: &History) -> Result<ModelVerdict, HistoryError> {
    let mut verdict = ModelVerdict::valid(Model::Stats);
    let mut all = Counts::default();
    let mut by_f: BTreeMap<&str, Counts> = BTreeMap::new();
    for (position, op) in ops(history) {
        if op.kind == OpType::Invoke {
            continue;
        }
        let of_f = by_f.entry(&op.f).or_default();
        for counts in [&mut all, of_f] {
            counts.last = position;
            match op.kind {
                OpType::Ok => counts.ok += 1,
                OpType::Fail => counts.fail += 1,
                OpType::Info | OpType::Invoke => counts.info += 1,
            }
        }
    }
    for (f, counts) in &by_f {
        if counts.ok == 0 {
            verdict.accuse(never_succeeded(history, f, counts));
        }
    }
    verdict.counts.extend([
        ("count", all.ok + all.fail + all.info),
        ("ok_count", all.ok),
        ("fail_count", all.fail),
        ("info_count", all.info),
    ]);
    let by_f = by_f
        .into_iter()
        .map(|(f, counts)| (f.to_owned(), shown(&counts)));
    verdict.details.insert("by_f", Json::Object(by_f.collect()));
    Ok(verdict)
}

fn shown(counts: &Counts) -> Json {
    json!({
        "valid": counts.ok > 0,
        "count": counts.ok + counts.fail + counts.info,
        "ok_count": counts.ok,
        "fail_count": counts.fail,
        "info_count": counts.info,
    })
}

fn never_succeeded(history: &History, f: &str, counts: &Counts) -> Anomaly {
    let op = &history.ops()[counts.last];
    Anomaly {
        kind: "never-succeeded",
        key: None,
        ops: vec![op.index],
        time_ns: op.time,
        message: format!(
            "No {f} succeeded: {} failed, {} are indeterminate.",
            counts.fail, counts.info
        ),
        details: BTreeMap::new(),
    }
}
