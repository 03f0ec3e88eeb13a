//! Carrying faults out. A fault is recorded as installed only after it was
//! proved to hold; one that does not apply now is skipped with a reason; one
//! that should have held and did not is a failure of the test bed.

mod cut;
mod family;
mod feed;
mod kill;
mod links;
mod pause;
mod proc_state;
mod proof;
mod rules;
mod table;
mod target;

pub use cut::CutNemesis;
pub use family::family;
pub use kill::KillNemesis;
pub use links::{Link, LinkMap};
pub use pause::PauseNemesis;
pub use rules::RuleTable;
pub use table::{CutMeans, CutTable};
pub use target::{Target, Targets};

use std::io;

use crate::faults::{ClusterView, Cut, Fault, FaultKind};
use crate::lab::LabError;
use crate::schedule::Planned;

/// A fault that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    pub targets: Vec<String>,
    pub cuts: Vec<Cut>,
    /// How it was proved to hold.
    pub proof: String,
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Injection {
    Installed(Installed),
    /// It does not apply now, and nothing was done.
    Skipped(String),
}

/// The test bed failed: a fault could not be carried out, or did not hold.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    #[error("fault {id} ({name}) should have held and did not: {why}")]
    NotHeld {
        id: u64,
        name: &'static str,
        why: String,
    },
    #[error("fault {id} ({name}) could not be healed: {why}")]
    NotHealed {
        id: u64,
        name: &'static str,
        why: String,
    },
    #[error("{doing}: {error}")]
    Io { doing: String, error: io::Error },
    #[error("nft refused the cuts: {0}")]
    Nft(String),
    #[error("iptables refused the cuts: {0}")]
    Iptables(String),
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl InjectError {
    pub(crate) fn io(doing: impl Into<String>, error: io::Error) -> InjectError {
        InjectError::Io {
            doing: doing.into(),
            error,
        }
    }
}

/// Carries out one class of faults.
pub trait Nemesis: Send {
    fn supports(&self, kind: FaultKind) -> bool;
    fn inject(
        &mut self,
        planned: &Planned,
        view: &ClusterView,
        targets: &mut Targets,
    ) -> Result<Injection, InjectError>;
    /// Undoes the fault of this id; one that is not installed is no error.
    fn heal(&mut self, id: u64, targets: &mut Targets) -> Result<(), InjectError>;
}

/// Several nemeses as one: each fault goes to the first that supports it.
#[derive(Default)]
pub struct Composed {
    members: Vec<Box<dyn Nemesis>>,
}

impl Composed {
    pub fn new(members: Vec<Box<dyn Nemesis>>) -> Composed {
        Composed { members }
    }
}

impl Nemesis for Composed {
    fn supports(&self, kind: FaultKind) -> bool {
        self.members.iter().any(|member| member.supports(kind))
    }

    fn inject(
        &mut self,
        planned: &Planned,
        view: &ClusterView,
        targets: &mut Targets,
    ) -> Result<Injection, InjectError> {
        let kind = planned.fault.kind();
        match self.members.iter_mut().find(|member| member.supports(kind)) {
            Some(member) => member.inject(planned, view, targets),
            None => Ok(Injection::Skipped(format!(
                "{} is not possible here (plain processes know kill and pause only)",
                planned.fault.name()
            ))),
        }
    }

    fn heal(&mut self, id: u64, targets: &mut Targets) -> Result<(), InjectError> {
        self.members
            .iter_mut()
            .try_for_each(|member| member.heal(id, targets))
    }
}

/// Every nemesis takes only its own kind; anything else is a routing mistake
/// of ours and is refused as skipped rather than half done.
fn wrong_kind(fault: &Fault) -> Injection {
    Injection::Skipped(format!("{} is not a fault of this nemesis", fault.name()))
}
