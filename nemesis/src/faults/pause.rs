//! pause: a node's process stops in mid-step (SIGSTOP) and goes on later
//! (SIGCONT) as if no time had passed.

use serde::{Deserialize, Serialize};

use super::aim::Aim;

/// Stops the processes of the nodes aimed at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    pub aim: Aim,
}
