//! ElectLeaders: elections that somebody asks for (KIP-460).

use std::collections::BTreeSet;

use super::election::elect;
use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::ids::{NO_LEADER, TopicPartition};
use crate::core::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, Election, ElectionResult,
};
use crate::core::messages::peer::PeerResponse;
use crate::core::metadata::{Image, Partition};

/// Why there is no election: the code, and a sentence.
type Refusal = (ErrorCode, String);

impl Controller {
    /// Each partition is answered once. Where all are asked for, those that need no election are left out of the answer.
    pub(super) fn elect_leaders(
        &mut self,
        token: Token,
        request: ElectLeadersRequest,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let all = request.partitions.is_none();
        let wanted = request
            .partitions
            .unwrap_or_else(|| self.image.partitions().map(|(tp, _, _)| tp).collect());
        let mut results = Vec::new();
        let mut answered = BTreeSet::new();
        for tp in wanted {
            if !answered.insert(tp.clone()) {
                continue;
            }
            let outcome = self.elect_one(&tp, request.election, fx);
            let (error, message) = match outcome {
                Ok(()) => (ErrorCode::NONE, None),
                Err((error, message)) => (error, Some(message)),
            };
            if !(all && error == ErrorCode::ELECTION_NOT_NEEDED) {
                results.push(ElectionResult { tp, error, message });
            }
        }
        let error = match request.election {
            Election::Unknown(_) => ErrorCode::INVALID_REQUEST,
            Election::Preferred | Election::Unclean => ErrorCode::NONE,
        };
        let response = ElectLeadersResponse { error, results };
        self.reply_when_committed(token, PeerResponse::ElectLeaders(response));
    }

    fn elect_one(
        &mut self,
        tp: &TopicPartition,
        election: Election,
        fx: &mut Vec<ControllerEffect>,
    ) -> Result<(), Refusal> {
        let Some(partition) = self.image.partition(tp) else {
            let message = format!("There is no partition {tp}.");
            return Err((ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message));
        };
        let next = match election {
            Election::Preferred => prefer(&self.image, partition)?,
            Election::Unclean => revive(&self.image, partition)?,
            Election::Unknown(kind) => return Err(unknown(kind)),
        };
        self.change_partitions(vec![(tp.clone(), next)], fx);
        Ok(())
    }
}

fn unknown(kind: i8) -> Refusal {
    let message = format!("There is no election of type {kind}; 0 is preferred, 1 is unclean.");
    (ErrorCode::INVALID_REQUEST, message)
}

/// The partition led by its first replica.
fn prefer(image: &Image, partition: &Partition) -> Result<Partition, Refusal> {
    let preferred = partition.replicas.first().copied().unwrap_or(NO_LEADER);
    if partition.leader == preferred {
        let message = format!("Broker {preferred} leads already.");
        return Err((ErrorCode::ELECTION_NOT_NEEDED, message));
    }
    if !image.is_live(preferred) || !partition.isr.contains(&preferred) {
        let message = format!("Broker {preferred} is not up and in the ISR.");
        return Err((ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE, message));
    }
    let mut next = partition.clone();
    next.leader = preferred;
    next.leader_epoch += 1;
    next.partition_epoch += 1;
    Ok(next)
}

/// The partition, which has no leader, led by any live replica.
fn revive(image: &Image, partition: &Partition) -> Result<Partition, Refusal> {
    if partition.has_leader() {
        let message = format!("Broker {} leads.", partition.leader);
        return Err((ErrorCode::ELECTION_NOT_NEEDED, message));
    }
    elect(image, partition, true)
        .filter(Partition::has_leader)
        .ok_or_else(|| {
            let message = format!("No broker of {:?} is up.", partition.replicas);
            (ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::controller::election::tests::{image, partition};

    #[test]
    fn the_preferred_leader_takes_over_only_from_within_the_isr() {
        let next = prefer(&image(&[1, 2]), &partition(2, &[2, 1])).unwrap();
        assert_eq!(
            (next.leader, next.leader_epoch, next.partition_epoch),
            (1, 6, 10)
        );
        assert_eq!(next.isr, vec![2, 1]);
        let code = |live: &[i32], partition| prefer(&image(live), &partition).unwrap_err().0;
        let unavailable = ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE;
        assert_eq!(code(&[1, 2], partition(2, &[2])), unavailable);
        assert_eq!(code(&[2], partition(2, &[2, 1])), unavailable);
        assert_eq!(
            code(&[1, 2], partition(1, &[1])),
            ErrorCode::ELECTION_NOT_NEEDED
        );
    }

    #[test]
    fn an_unclean_election_is_held_only_where_nobody_leads_and_somebody_lives() {
        let next = revive(&image(&[3]), &partition(-1, &[1])).unwrap();
        assert_eq!((next.leader, next.isr), (3, vec![3]));
        let code = |live: &[i32], partition| revive(&image(live), &partition).unwrap_err().0;
        assert_eq!(
            code(&[3], partition(3, &[3])),
            ErrorCode::ELECTION_NOT_NEEDED
        );
        assert_eq!(
            code(&[], partition(-1, &[1])),
            ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE
        );
    }
}
