//! Faults as plain data. A fault says what is to happen to whom; it is
//! resolved to nodes only when it is injected, from the state seen then.
//! Nothing here acts, reads a clock, or draws a number.

mod aim;
mod grudge;
mod kill;
mod partition;
mod pause;
mod plane;
mod view;

pub use aim::{Aim, AimAt};
pub use grudge::{Cut, Grudge, GrudgeShape};
pub use kill::{Kill, KillHow};
pub use partition::Partition;
pub use pause::Pause;
pub use plane::{Plane, PlanePorts};
pub use view::{ClusterView, PartitionView};

use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fault {
    Kill(Kill),
    Pause(Pause),
    Partition(Partition),
}

/// The name of a class of faults, as on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    Kill,
    Pause,
    Partition,
}

impl FaultKind {
    pub const ALL: [FaultKind; 3] = [FaultKind::Kill, FaultKind::Pause, FaultKind::Partition];

    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Kill => "kill",
            FaultKind::Pause => "pause",
            FaultKind::Partition => "partition",
        }
    }
}

impl Fault {
    pub fn kind(&self) -> FaultKind {
        match self {
            Fault::Kill(_) => FaultKind::Kill,
            Fault::Pause(_) => FaultKind::Pause,
            Fault::Partition(_) => FaultKind::Partition,
        }
    }

    /// The name under which a history records it.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Kill(kill) => kill.name(),
            other => other.kind().name(),
        }
    }
}
