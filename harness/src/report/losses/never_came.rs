//! Kinds of fault that the run was asked for and that never took hold: what it shows, it shows without
//! them.

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::{History, Process};
use serde::Serialize;
use serde_json::Value;

/// A kind of fault that never took hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NeverCame {
    pub fault: String,
    /// Whether the schedule drew one at all.
    pub drawn: bool,
}

impl NeverCame {
    /// "pause: never drawn".
    pub fn words(&self) -> String {
        let what = match self.drawn {
            false => "never drawn",
            true => "drawn, but never took hold",
        };
        format!("{}: {what}", self.fault)
    }
}

/// In the order in which they were asked for.
pub fn never_came(history: &History, verdict: &Verdict) -> Vec<NeverCame> {
    let asked = history
        .header()
        .and_then(|header| header.extra.get("fault_kinds")?.as_array());
    let asked = asked.into_iter().flatten().filter_map(Value::as_str);
    let windows = &verdict.measures.fault_windows;
    let came = |kind: &str| {
        let mut faults = windows.iter().map(|one| one.window.fault.as_str());
        // A node that is asked to stop is a gentle kill.
        faults.any(|fault| fault == kind || (fault, kind) == ("shutdown", "kill"))
    };
    asked
        .filter(|kind| !came(kind))
        .map(|kind| NeverCame {
            fault: kind.to_owned(),
            drawn: history
                .ops()
                .iter()
                .any(|op| op.process == Process::Nemesis && op.f == kind),
        })
        .collect()
}
