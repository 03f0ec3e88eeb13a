//! What goes into a session and what comes out of it. Shells carry commands
//! out, with sockets or in virtual time; a session does not know which.

use plimsoll_checkers::history::Op;
use plimsoll_nemesis::faults::{ClusterView, Cut};
use plimsoll_nemesis::schedule::Planned;
use serde::{Deserialize, Serialize};

use crate::clients::{Broken, Produce, Request, Response};

/// A client of the session, one request at a time each: workers first, then
/// those that fetch metadata, set up, and read the end state.
pub type ClientId = usize;
/// A node by its position.
pub type NodeIndex = usize;

/// One replica as its node's admin port shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplicaReport {
    pub topic: String,
    pub partition: i32,
    pub role: String,
    pub leader: i32,
    pub leader_epoch: i32,
    #[serde(default)]
    pub leo: i64,
    #[serde(default)]
    pub hw: i64,
    /// Size of its log on the disk, where it was asked for.
    #[serde(default)]
    pub bytes: Option<i64>,
    pub isr: Vec<i32>,
    pub replicas: Vec<i32>,
}

/// One node as its admin port shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    pub node_id: i32,
    #[serde(default)]
    pub controller_leader: Option<i32>,
    pub partitions: Vec<ReplicaReport>,
    /// Log directories that the node says have failed.
    #[serde(default)]
    pub failed_dirs: Vec<String>,
    /// How long the poll took: what it says is no older.
    #[serde(skip)]
    pub took_ms: u64,
}

/// What became of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultStep {
    Installed {
        targets: Vec<String>,
        cuts: Vec<Cut>,
        proof: String,
    },
    Skipped {
        reason: String,
    },
    /// Lifted; nodes that were started again, with how often they now were.
    Healed {
        started: Vec<(String, u64)>,
    },
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    Reply {
        client: ClientId,
        result: Result<Response, Broken>,
    },
    Fault {
        id: u64,
        step: FaultStep,
    },
    /// A poll of a node's admin port; none when it did not answer.
    Node {
        node: NodeIndex,
        report: Option<NodeReport>,
    },
    Timer,
    /// The user wants the run to end now, healed and judged.
    Stop,
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Command {
    Send {
        client: ClientId,
        node: NodeIndex,
        request: Request,
        timeout_ms: u64,
    },
    /// A send for the client library that sends for this client.
    HandOver {
        client: ClientId,
        produce: Produce,
    },
    Inject {
        planned: Planned,
        view: ClusterView,
    },
    Heal {
        id: u64,
    },
    Record(Box<Op>),
    /// Wake the session at this time; replaces any earlier wish.
    WakeAt(u64),
    /// The cluster never came up: the test bed failed.
    GiveUp(String),
    Finished,
}
