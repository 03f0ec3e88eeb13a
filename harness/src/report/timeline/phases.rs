//! The phases of a run, each until the next.

use plimsoll_checkers::history::History;

use super::fields;

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    pub name: String,
    pub from_ns: u64,
    pub to_ns: u64,
}

/// All phases that took any time.
pub fn phases(history: &History, end_ns: u64) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    for op in history.ops().iter().filter(|op| op.f == "phase") {
        let name = fields(op).and_then(|fields| fields.get("name")?.as_str());
        let Some(name) = name else { continue };
        if let Some(last) = phases.last_mut() {
            last.to_ns = op.time;
        }
        phases.push(Phase {
            name: name.to_owned(),
            from_ns: op.time,
            to_ns: end_ns,
        });
    }
    phases.retain(|phase| phase.to_ns > phase.from_ns);
    phases
}
