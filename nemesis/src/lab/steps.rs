//! The steps of making a lab, in order, and the error that names the one that
//! failed. A machine that forbids namespaces does so at different steps, so an
//! error that does not say which one is no help.

use std::fmt;
use std::io;

/// One step of making the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Pipe,
    Clone,
    UidMap,
    MountPrivate,
    MountProc,
    MountRun,
    BoundingSet,
    Loopback,
    Exec,
    Bridge,
    Netns,
    Veth,
    Nft,
}

impl Step {
    /// All steps, in the order in which they are taken.
    pub const ALL: [Step; 13] = [
        Step::Pipe,
        Step::Clone,
        Step::UidMap,
        Step::BoundingSet,
        Step::MountPrivate,
        Step::MountProc,
        Step::MountRun,
        Step::Loopback,
        Step::Exec,
        Step::Bridge,
        Step::Netns,
        Step::Veth,
        Step::Nft,
    ];

    /// What the step does, in words for a person.
    pub fn describe(self) -> &'static str {
        match self {
            Step::Pipe => "make the pipe that the lab's life hangs on",
            Step::Clone => "fork into new user, pid, mount and network namespaces",
            Step::UidMap => "write the user namespace's uid and gid maps",
            Step::BoundingSet => "drop CAP_SYS_TIME from the bounding set",
            Step::MountPrivate => "make mount propagation private",
            Step::MountProc => "mount /proc for the new pid namespace",
            Step::MountRun => "mount a tmpfs on /run",
            Step::Loopback => "bring the loopback device up",
            Step::Exec => "start plimsoll again as the lab's pid 1",
            Step::Bridge => "make the lab's bridge (ip link add type bridge)",
            Step::Netns => "make a network namespace for a node (ip netns add)",
            Step::Veth => "join a node to the bridge (ip link add type veth)",
            Step::Nft => "load a bridge table (nft)",
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Step> {
        Step::ALL.into_iter().find(|step| *step as u8 == byte)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// A lab that could not be made or left.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    #[error(
        "the lab could not be made: step \"{step}\" failed: {error}\n{}",
        ways_out()
    )]
    Step { step: Step, error: io::Error },
    #[error(
        "the lab could not be made: step \"{step}\": `{program}` is missing or cannot be run \
         ({error}); install it (Debian: apt-get install iproute2 nftables)"
    )]
    Program {
        step: Step,
        program: &'static str,
        error: io::Error,
    },
    #[error(
        "the lab could not be made: step \"{step}\": `{program}` said: {said}\n{}",
        ways_out()
    )]
    Refused {
        step: Step,
        program: &'static str,
        said: String,
    },
    #[error("the lab's environment is broken: {0}")]
    Environment(String),
    #[error("no place \"{0}\" in this lab")]
    NoSuchPlace(String),
    #[error("entering a place failed: {0}")]
    Enter(#[source] io::Error),
}

impl LabError {
    pub(crate) fn step(step: Step, error: io::Error) -> LabError {
        LabError::Step { step, error }
    }

    /// The step that failed, where one did.
    pub fn failed_step(&self) -> Option<Step> {
        match self {
            LabError::Step { step, .. }
            | LabError::Program { step, .. }
            | LabError::Refused { step, .. } => Some(*step),
            _ => None,
        }
    }
}

/// The three ways out where a machine forbids namespaces, and the one that
/// always works.
pub fn ways_out() -> &'static str {
    "Ways out:\n\
     \x20 1. permit user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 (Debian), \
     sysctl -w user.max_user_namespaces=15000\n\
     \x20 2. Ubuntu 23.10 and later: an AppArmor profile with `userns,` for this binary, or \
     sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n\
     \x20 3. run plimsoll as root\n\
     Without a lab, `--where local` runs plain processes, with kill and pause only."
}
