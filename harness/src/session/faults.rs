//! The nemesis's part of a session: when each fault is injected and healed,
//! and what the journal says of it. A fault that is on when the clients stop
//! is healed then.

use std::collections::BTreeMap;

use plimsoll_nemesis::faults::{Fault, Plane};
use plimsoll_nemesis::schedule::{Planned, Schedule};
use serde_json::json;

use super::messages::{Command, FaultStep};
use super::timers::TimerKind;
use super::{Out, Session, record};

const MS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Injecting,
    Installed,
    Healing,
}

#[derive(Debug)]
struct Active {
    planned: Planned,
    stand: Stand,
    targets: Vec<String>,
}

/// Faults to come and faults that are on.
#[derive(Debug)]
pub struct Faults {
    schedule: Schedule,
    upcoming: Option<Planned>,
    active: BTreeMap<u64, Active>,
    start_ns: u64,
    healing_all: bool,
}

impl Faults {
    pub fn new(schedule: Schedule) -> Faults {
        Faults {
            schedule,
            upcoming: None,
            active: BTreeMap::new(),
            start_ns: 0,
            healing_all: false,
        }
    }

    /// Whether nothing is on that will ever be healed.
    pub fn all_healed(&self) -> bool {
        let mut active = self.active.values();
        active.all(|fault| fault.planned.is_forever() && fault.stand == Stand::Installed)
    }
}

impl Session {
    /// The clients have started: faults' times count from here.
    pub(super) fn start_faults(&mut self) {
        self.faults.start_ns = self.now_ns;
        self.next_fault();
    }

    fn next_fault(&mut self) {
        self.faults.upcoming = self.faults.schedule.next_fault();
        if let Some(planned) = &self.faults.upcoming {
            let at = self.faults.start_ns + planned.at_ms * MS;
            self.timers.set(TimerKind::Fault, at.max(self.now_ns));
        }
    }

    pub(super) fn fault_due(&mut self, out: Out<'_>) {
        if self.faults.healing_all {
            return;
        }
        if let Some(planned) = self.faults.upcoming.take() {
            let active = Active {
                planned: planned.clone(),
                stand: Stand::Injecting,
                targets: Vec::new(),
            };
            self.faults.active.insert(planned.id, active);
            out.push(Command::Inject {
                planned,
                view: self.cluster.view(),
            });
        }
        self.next_fault();
    }

    pub(super) fn heal_due(&mut self, id: u64, out: Out<'_>) {
        if let Some(active) = self.faults.active.get_mut(&id)
            && active.stand == Stand::Installed
            && !active.planned.is_forever()
        {
            active.stand = Stand::Healing;
            out.push(Command::Heal { id });
        }
    }

    /// No further faults; those that are on are healed now.
    pub(super) fn heal_all(&mut self, out: Out<'_>) {
        self.faults.healing_all = true;
        self.faults.upcoming = None;
        self.timers.clear(TimerKind::Fault);
        let on: Vec<u64> = self.faults.active.keys().copied().collect();
        for id in on {
            self.heal_due(id, out);
        }
    }

    pub(super) fn fault_step(&mut self, id: u64, step: FaultStep, out: Out<'_>) {
        let Some(mut active) = self.faults.active.remove(&id) else {
            return;
        };
        let fault = active.planned.fault.clone();
        let line = |value| Command::Record(Box::new(record::nemesis(fault.name(), value)));
        match step {
            FaultStep::Skipped { reason } => {
                let value = json!({ "id": id, "phase": "skipped", "targets": [],
                    "plane": plane(&fault), "detail": detail(&fault), "reason": reason });
                out.push(line(value));
            }
            FaultStep::Installed {
                targets,
                cuts,
                proof,
            } => {
                let value = json!({ "id": id, "phase": "installed", "targets": targets,
                    "plane": plane(&fault), "detail": detail(&fault), "cuts": cuts,
                    "proof": proof, "lasts_ms": lasts_ms(&active.planned) });
                out.push(line(value));
                active.stand = Stand::Installed;
                active.targets = targets;
                if active.planned.is_forever() {
                    self.cluster.lose(&active.targets);
                } else {
                    let ends = self.now_ns + active.planned.lasts_ms * MS;
                    self.timers.set(TimerKind::Heal(id), ends);
                }
                self.faults.active.insert(id, active);
                self.stats.faults += 1;
                if self.faults.healing_all {
                    self.heal_due(id, out);
                }
            }
            FaultStep::Healed { started } => {
                let value = json!({ "id": id, "phase": "healed", "targets": active.targets,
                    "plane": plane(&fault), "detail": detail(&fault) });
                out.push(line(value));
                self.started(&started, out);
            }
        }
        self.stats.faults_on = u64::try_from(self.faults.active.len()).unwrap_or(0);
    }

    fn started(&mut self, nodes: &[(String, u64)], out: Out<'_>) {
        for (node, incarnation) in nodes {
            self.cluster.started(node, *incarnation);
            let value = json!({ "node": node, "incarnation": incarnation });
            out.push(Command::Record(Box::new(record::nemesis("start", value))));
        }
    }
}

/// Nothing for a fault that is never healed.
fn lasts_ms(planned: &Planned) -> Option<u64> {
    (!planned.is_forever()).then_some(planned.lasts_ms)
}

fn plane(fault: &Fault) -> Option<&'static str> {
    match fault {
        Fault::Partition(cut) => Some(cut.plane.name()),
        _ => None,
    }
}

/// What a person wants to read: the shape of a cut, or whom a fault aimed at.
fn detail(fault: &Fault) -> String {
    match fault {
        Fault::Kill(kill) => format!("aimed at {}", kill.aim.at),
        Fault::Pause(pause) => format!("aimed at {}", pause.aim.at),
        Fault::Partition(cut) => {
            let shape = serde_json::to_value(cut.shape).unwrap_or_default();
            let shape = shape.as_str().unwrap_or("cut").to_owned();
            match cut.plane {
                Plane::All => format!("{shape}, aimed at {}", cut.aim.at),
                plane => format!(
                    "{shape} on the {} plane, aimed at {}",
                    plane.name(),
                    cut.aim.at
                ),
            }
        }
    }
}
