//! pause: SIGSTOP, proved by every task of the process being in state T;
//! healed by SIGCONT, proved by none being so.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use super::proc_state::task_states;
use super::{InjectError, Injection, Installed, Nemesis, Targets, wrong_kind};
use crate::faults::{ClusterView, Fault, FaultKind};
use crate::schedule::Planned;

/// A stop takes effect within a millisecond; this is for machines under load.
const STATE_CHANGE_MAX: Duration = Duration::from_secs(5);
const STATE_POLL_EVERY: Duration = Duration::from_micros(500);
const ROUNDS_MAX: usize = 10;

/// Stops processes and lets them go on.
#[derive(Debug, Default)]
pub struct PauseNemesis {
    stopped: BTreeMap<u64, Vec<i32>>,
    /// Nodes that are paused by other means than signals.
    frozen: BTreeMap<u64, Vec<String>>,
}

impl Nemesis for PauseNemesis {
    fn supports(&self, kind: FaultKind) -> bool {
        kind == FaultKind::Pause
    }

    fn inject(
        &mut self,
        planned: &Planned,
        view: &ClusterView,
        targets: &mut Targets,
    ) -> Result<Injection, InjectError> {
        let Fault::Pause(pause) = &planned.fault else {
            return Ok(wrong_kind(&planned.fault));
        };
        let aimed = match pause.aim.resolve(view) {
            Ok(aimed) => aimed,
            Err(reason) => return Ok(Injection::Skipped(reason)),
        };
        let runs = |name: &String| targets.get(name).is_some_and(|t| !t.pids().is_empty());
        let names: Vec<String> = aimed.into_iter().filter(runs).collect();
        if names.is_empty() {
            return Ok(Injection::Skipped(
                "none of the nodes aimed at runs now".to_owned(),
            ));
        }
        if let Some(proof) = self.freeze(planned.id, &names, targets)? {
            return Ok(Injection::Installed(Installed {
                targets: names,
                cuts: Vec::new(),
                proof,
            }));
        }
        let tasks = self.stop(planned, &names, targets)?;
        let proof = format!("all {tasks} tasks in state T");
        Ok(Injection::Installed(Installed {
            targets: names,
            cuts: Vec::new(),
            proof,
        }))
    }

    fn heal(&mut self, id: u64, targets: &mut Targets) -> Result<(), InjectError> {
        for name in self.frozen.remove(&id).unwrap_or_default() {
            if let Some(target) = targets.get_mut(&name) {
                let thawing = |e| InjectError::io(format!("letting {name} go on"), e);
                target.thaw().map_err(thawing)?;
            }
        }
        for pid in self.stopped.remove(&id).unwrap_or_default() {
            match signal(pid, libc::SIGCONT) {
                // It was killed while it was stopped: there is nothing to let go on.
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => continue,
                other => other.map_err(|e| InjectError::io(format!("SIGCONT to {pid}"), e))?,
            }
            let goes_on = |states: &[char]| !states.contains(&'T');
            if await_states(pid, goes_on).is_none() {
                let why = format!("process {pid} is still stopped");
                return Err(InjectError::NotHealed {
                    id,
                    name: "pause",
                    why,
                });
            }
        }
        Ok(())
    }
}

impl PauseNemesis {
    /// Pauses nodes that have other means than signals; all nodes of a run are of one kind.
    fn freeze(
        &mut self,
        id: u64,
        names: &[String],
        targets: &mut Targets,
    ) -> Result<Option<String>, InjectError> {
        let mut proofs = Vec::new();
        for name in names {
            let Some(target) = targets.get_mut(name) else {
                continue;
            };
            let pausing = |e| InjectError::io(format!("pausing {name}"), e);
            if let Some(proof) = target.freeze().map_err(pausing)? {
                self.frozen.entry(id).or_default().push(name.clone());
                proofs.push(proof);
            }
        }
        Ok((!proofs.is_empty()).then(|| proofs.join("; ")))
    }

    /// Stops all processes of these nodes; gives the number of their tasks.
    fn stop(
        &mut self,
        planned: &Planned,
        names: &[String],
        targets: &Targets,
    ) -> Result<usize, InjectError> {
        let mut tasks = 0;
        // Until it was stopped itself, a process may have started another.
        for _ in 0..ROUNDS_MAX {
            let stopped = self.stopped.entry(planned.id).or_default();
            let of_nodes = names.iter().filter_map(|name| targets.get(name));
            let mut pids: Vec<i32> = of_nodes.flat_map(|target| target.pids()).collect();
            pids.retain(|pid| !stopped.contains(pid));
            if pids.is_empty() && tasks > 0 {
                return Ok(tasks);
            }
            if pids.is_empty() {
                let why = format!("{} ended before that", names.join(", "));
                return Err(not_held(planned, why));
            }
            stopped.extend(&pids);
            tasks += stop_all(planned, &pids)?;
        }
        let why = format!("{} start one process after another", names.join(", "));
        Err(not_held(planned, why))
    }
}

fn stop_all(planned: &Planned, pids: &[i32]) -> Result<usize, InjectError> {
    let mut stopping = Vec::new();
    for pid in pids {
        match signal(*pid, libc::SIGSTOP) {
            // It ended meanwhile.
            Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {}
            Err(e) => return Err(InjectError::io(format!("SIGSTOP to {pid}"), e)),
            Ok(()) => stopping.push(*pid),
        }
    }
    let mut tasks = 0;
    for pid in stopping {
        // No tasks at all: it ended before the signal took effect.
        let all_stopped = |states: &[char]| states.iter().all(|s| matches!(s, 'T' | 'Z' | 'X'));
        match await_states(pid, all_stopped) {
            Some(count) => tasks += count,
            None => {
                let why = format!("process {pid} has tasks that are not in state T");
                return Err(not_held(planned, why));
            }
        }
    }
    Ok(tasks)
}

fn not_held(planned: &Planned, why: String) -> InjectError {
    InjectError::NotHeld {
        id: planned.id,
        name: planned.fault.name(),
        why,
    }
}

/// Waits for the tasks' states to be as wanted; gives their number.
fn await_states(pid: i32, wanted: impl Fn(&[char]) -> bool) -> Option<usize> {
    let deadline = Instant::now() + STATE_CHANGE_MAX;
    loop {
        let states = task_states(pid).unwrap_or_default();
        if wanted(&states) {
            return Some(states.len());
        }
        if Instant::now() >= deadline {
            return None;
        }
        std::thread::sleep(STATE_POLL_EVERY);
    }
}

pub(super) fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: kill touches no memory; the pid is that of a child that was not reaped.
    if unsafe { libc::kill(pid, signal) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
