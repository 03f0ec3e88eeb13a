//! kill: a node's process ends and is started again when the fault heals.

use serde::{Deserialize, Serialize};

use super::aim::Aim;

/// How the process is ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillHow {
    /// SIGKILL: nothing in the process has a say.
    #[default]
    Kill,
    /// SIGTERM: a controlled shutdown, as in a rolling restart.
    Term,
}

/// Ends the processes of the nodes aimed at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    pub aim: Aim,
    #[serde(default)]
    pub how: KillHow,
}

impl Kill {
    pub(super) fn name(&self) -> &'static str {
        match self.how {
            KillHow::Kill => "kill",
            KillHow::Term => "shutdown",
        }
    }
}
