//! kill: SIGKILL or SIGTERM, proved by the process having been reaped; healed
//! by starting the node again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{InjectError, Injection, Installed, Nemesis, Target, Targets, wrong_kind};
use crate::faults::{ClusterView, Fault, FaultKind, KillHow};
use crate::schedule::Planned;

/// SIGKILL takes effect in milliseconds; this is for machines under load.
const REAP_KILLED_MAX: Duration = Duration::from_secs(5);
/// A controlled shutdown hands leadership over first; a JVM takes its time.
const REAP_SHUTDOWN_MAX: Duration = Duration::from_secs(60);

/// Ends processes and starts them again.
#[derive(Debug, Default)]
pub struct KillNemesis {
    down: BTreeMap<u64, Vec<String>>,
}

impl Nemesis for KillNemesis {
    fn supports(&self, kind: FaultKind) -> bool {
        kind == FaultKind::Kill
    }

    fn inject(
        &mut self,
        planned: &Planned,
        view: &ClusterView,
        targets: &mut Targets,
    ) -> Result<Injection, InjectError> {
        let Fault::Kill(kill) = &planned.fault else {
            return Ok(wrong_kind(&planned.fault));
        };
        let aimed = match kill.aim.resolve(view) {
            Ok(aimed) => aimed,
            Err(reason) => return Ok(Injection::Skipped(reason)),
        };
        let running = running(&aimed, targets);
        if running.is_empty() {
            return Ok(Injection::Skipped(format!(
                "{} not running now",
                aimed.join(", ")
            )));
        }
        self.down.insert(planned.id, running.clone());
        end_all(planned.id, &planned.fault, kill.how, &running, targets)?;
        let proof = "every process was reaped".to_owned();
        Ok(Injection::Installed(Installed {
            targets: running,
            cuts: Vec::new(),
            proof,
        }))
    }

    fn heal(&mut self, id: u64, targets: &mut Targets) -> Result<(), InjectError> {
        for name in self.down.remove(&id).unwrap_or_default() {
            if let Some(target) = targets.get_mut(&name)
                && target.pids().is_empty()
            {
                target
                    .restart()
                    .map_err(|e| InjectError::io(format!("restarting {name}"), e))?;
            }
        }
        Ok(())
    }
}

fn running(aimed: &[String], targets: &Targets) -> Vec<String> {
    let runs = |name: &&String| targets.get(*name).is_some_and(|t| !t.pids().is_empty());
    aimed.iter().filter(runs).cloned().collect()
}

/// All signals go out before the first wait, so that nodes end together.
fn end_all(
    id: u64,
    fault: &Fault,
    how: KillHow,
    names: &[String],
    targets: &mut Targets,
) -> Result<(), InjectError> {
    let within = match how {
        KillHow::Kill => REAP_KILLED_MAX,
        KillHow::Term => REAP_SHUTDOWN_MAX,
    };
    for name in names {
        if let Some(target) = targets.get_mut(name) {
            let signal = match how {
                KillHow::Kill => libc::SIGKILL,
                KillHow::Term => target.stop_signal(),
            };
            send(target.as_mut(), signal, name)?;
        }
    }
    for name in names {
        let Some(target) = targets.get_mut(name) else {
            continue;
        };
        let reaped = target
            .reaped(within)
            .map_err(|e| InjectError::io(format!("waiting for {name} to end"), e))?;
        if !reaped {
            let why = format!("{name} still runs {} s after the signal", within.as_secs());
            return Err(InjectError::NotHeld {
                id,
                name: fault.name(),
                why,
            });
        }
    }
    Ok(())
}

fn send(target: &mut dyn Target, signal: i32, name: &str) -> Result<(), InjectError> {
    target.expect_down();
    target
        .signal(signal)
        .map_err(|e| InjectError::io(format!("sending signal {signal} to {name}"), e))
}
