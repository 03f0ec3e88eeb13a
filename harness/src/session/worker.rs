//! One client of the workload: a producer or a consumer with at most one op
//! open. It goes on under a new process number after an indeterminate op.

use std::collections::BTreeMap;

use plimsoll_checkers::history::{Attempt, Outcome};

use super::messages::NodeIndex;
use crate::clients::Sequence;
use crate::workload::{ClientPlan, Role};

/// A send on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendOp {
    pub partition: i32,
    pub value: i64,
    pub sequence: Option<Sequence>,
    pub attempts: Vec<Attempt>,
    /// The node that is being asked, and since when.
    pub node: Option<NodeIndex>,
    pub sent_ns: u64,
}

impl SendOp {
    /// What the whole op is known to be, given how its last attempt ended.
    pub fn outcome(&self, last: Outcome) -> Outcome {
        let doubtful = self.attempts.iter().any(|a| a.outcome == Outcome::Info);
        match last {
            Outcome::Fail if doubtful => Outcome::Info,
            outcome => outcome,
        }
    }
}

/// A read on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollOp {
    pub partition: i32,
    pub from: i64,
    pub node: NodeIndex,
    pub leader_epoch: i32,
}

/// What a worker is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Free,
    /// Waits a little after a failure, so as not to hammer.
    Resting,
    /// Gets a producer id before its first send.
    Identifying,
    Sending(SendOp),
    /// Between two attempts of one send.
    BeforeRetry(SendOp),
    Polling(PollOp),
}

/// A producer's identity with the next sequence number of each partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub producer_id: i64,
    pub producer_epoch: i16,
    next: BTreeMap<i32, i32>,
}

impl Identity {
    pub fn new(producer_id: i64, producer_epoch: i16) -> Identity {
        Identity {
            producer_id,
            producer_epoch,
            next: BTreeMap::new(),
        }
    }

    pub fn sequence(&self, partition: i32) -> Sequence {
        let sequence = self.next.get(&partition).copied().unwrap_or(0);
        let (producer_id, producer_epoch) = (self.producer_id, self.producer_epoch);
        Sequence {
            producer_id,
            producer_epoch,
            sequence,
        }
    }

    /// A batch was acknowledged: its number is used up.
    pub fn advance(&mut self, partition: i32) {
        let next = self.next.entry(partition).or_default();
        *next = next.checked_add(1).unwrap_or(0);
    }
}

/// One client.
#[derive(Clone, Debug)]
pub struct Worker {
    pub plan: ClientPlan,
    /// Which side's metadata it uses.
    pub side: usize,
    pub process: u64,
    pub state: State,
    pub identity: Option<Identity>,
    /// Where each partition's next read starts.
    pub positions: BTreeMap<i32, i64>,
}

impl Worker {
    pub fn new(plan: ClientPlan, side: usize, process: u64) -> Worker {
        let (identity, positions) = (None, BTreeMap::new());
        Worker {
            plan,
            side,
            process,
            state: State::Resting,
            identity,
            positions,
        }
    }

    pub fn is_producer(&self) -> bool {
        self.plan.role == Role::Producer
    }

    /// No op of its is open.
    pub fn is_idle(&self) -> bool {
        matches!(
            self.state,
            State::Free | State::Resting | State::Identifying
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(outcomes: &[Outcome]) -> SendOp {
        let attempt = |outcome: &Outcome| Attempt {
            node: "n1".into(),
            outcome: *outcome,
            error: None,
            time: 0,
        };
        let attempts = outcomes.iter().map(attempt).collect();
        SendOp {
            partition: 0,
            value: 1,
            sequence: None,
            attempts,
            node: None,
            sent_ns: 0,
        }
    }

    #[test]
    fn a_failure_after_an_indeterminate_attempt_is_indeterminate() {
        assert_eq!(op(&[Outcome::Info]).outcome(Outcome::Fail), Outcome::Info);
        assert_eq!(op(&[Outcome::Fail]).outcome(Outcome::Fail), Outcome::Fail);
        assert_eq!(op(&[Outcome::Info]).outcome(Outcome::Ok), Outcome::Ok);
    }

    #[test]
    fn a_sequence_number_is_used_up_only_by_an_acknowledgement() {
        let mut identity = Identity::new(7, 0);
        assert_eq!(identity.sequence(1).sequence, 0);
        identity.advance(1);
        assert_eq!(
            (identity.sequence(1).sequence, identity.sequence(2).sequence),
            (1, 0)
        );
    }
}
