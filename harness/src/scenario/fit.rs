//! Whether a scenario's faults can happen in the cluster that it is to be run
//! in. What is skipped in a run that was staged makes it say nothing.

use std::collections::BTreeSet;

use plimsoll_nemesis::faults::{Aim, AimAt, Fault};

use super::Scenario;
use crate::session::key;

/// The cluster as the options make it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Nodes by their names; none where these are not known before the start.
    pub nodes: Option<Vec<String>>,
    /// Partitions by their names.
    pub partitions: BTreeSet<String>,
    pub replication_factor: u16,
    pub time_limit_ms: u64,
}

impl Scenario {
    /// Partitions that were given by their numbers get the topic's name.
    pub fn name_partitions(&mut self, topic: &str) {
        for planned in &mut self.faults {
            let partition = &mut aim_mut(&mut planned.fault).partition;
            let number = partition.as_ref().and_then(|name| name.parse().ok());
            *partition = number.map(|number| key(topic, number)).or(partition.take());
        }
    }

    /// Why a fault can never happen there, if one cannot.
    pub fn misfit(&self, stage: &Stage) -> Option<String> {
        let each = self.faults.iter();
        each.map(|planned| {
            (
                planned.id,
                due(planned.at_ms, stage).or(aimed(&planned.fault, stage)),
            )
        })
        .find_map(|(id, why)| Some(format!("scenario {}: fault {id} {}", self.name, why?)))
    }
}

fn due(at_ms: u64, stage: &Stage) -> Option<String> {
    (at_ms >= stage.time_limit_ms).then(|| {
        format!(
            "is due {} ms after the start, but clients stop after {} ms; raise --time-limit",
            at_ms, stage.time_limit_ms
        )
    })
}

fn aim(fault: &Fault) -> &Aim {
    match fault {
        Fault::Kill(kill) => &kill.aim,
        Fault::Pause(pause) => &pause.aim,
        Fault::Partition(cut) => &cut.aim,
    }
}

fn aim_mut(fault: &mut Fault) -> &mut Aim {
    match fault {
        Fault::Kill(kill) => &mut kill.aim,
        Fault::Pause(pause) => &mut pause.aim,
        Fault::Partition(cut) => &mut cut.aim,
    }
}

fn aimed(fault: &Fault, stage: &Stage) -> Option<String> {
    let Aim { at, partition, .. } = aim(fault);
    if let Some(partition) = partition
        .as_ref()
        .filter(|name| !stage.partitions.contains(*name))
    {
        let known: Vec<&str> = stage.partitions.iter().map(String::as_str).collect();
        return Some(format!(
            "names partition {partition}; there are: {}",
            known.join(", ")
        ));
    }
    match (at, &stage.nodes) {
        (AimAt::Node(name), Some(nodes)) if !nodes.contains(name) => Some(format!(
            "has the target {name}, which is no node; nodes are {}, and roles random, leader, \
             controller, followers, follower-N, all",
            nodes.join(", ")
        )),
        (AimAt::Follower(nth), _) if *nth >= usize::from(stage.replication_factor) => {
            Some(format!(
                "has the target follower-{nth}, but a partition has {} replicas with its leader",
                stage.replication_factor
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misfit(fault: &str) -> Option<String> {
        let text = format!("title='t'\n[[fault]]\nlasts=1\nkind='pause'\n{fault}\n");
        let stage = Stage {
            nodes: Some(vec!["n1".to_owned(), "n2".to_owned()]),
            partitions: ["log-0".to_owned(), "log-1".to_owned()].into(),
            replication_factor: 2,
            time_limit_ms: 5000,
        };
        let mut scenario = Scenario::parse("mine", &text).expect("it parses");
        scenario.name_partitions("log");
        scenario.misfit(&stage)
    }

    #[test]
    fn a_fault_that_can_never_happen_is_told_before_the_run() {
        for (fault, hint) in [
            ("at=1\ntarget='n7'", "n1, n2"),
            ("at=1\ntarget='leeder'", "roles random, leader"),
            ("at=1\npartition='log-2'", "log-0, log-1"),
            ("at=1\npartition=2", "log-0, log-1"),
            ("at=1\ntarget='follower-2'", "2 replicas"),
            ("at=5\ntarget='leader'", "raise --time-limit"),
        ] {
            let why = misfit(fault).expect(fault);
            assert!(
                why.contains("fault 1") && why.contains(hint),
                "{fault}: {why}"
            );
        }
        for sound in [
            "at=4.9\ntarget='n2'\npartition='log-1'",
            "at=0\ntarget='follower-1'",
            "at=0\npartition=1",
        ] {
            assert_eq!(misfit(sound), None, "{sound}");
        }
    }
}
