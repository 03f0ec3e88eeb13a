//! ElectLeaders (key 43).

use kafka_protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use kafka_protocol::messages::{self, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::partitions_or_all;
use crate::core::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse, Election};
use crate::kafka::decode::millis;
use crate::kafka::encode::by_topic;
use crate::kafka::reader::{Reader, WireError};

/// Version 0 knows the preferred election only.
pub(in crate::kafka) fn decode(
    reader: &mut Reader,
    version: i16,
) -> Result<ElectLeadersRequest, WireError> {
    let kind = match version {
        1.. => reader.i8("the kind of election")?,
        _ => 0,
    };
    let election = match kind {
        0 => Election::Preferred,
        1 => Election::Unclean,
        other => Election::Unknown(other),
    };
    Ok(ElectLeadersRequest {
        election,
        partitions: partitions_or_all(reader)?,
        timeout_ms: millis(reader.i32("the time-out")?),
    })
}

pub(in crate::kafka) fn encode(
    version: i16,
    response: ElectLeadersResponse,
) -> messages::ElectLeadersResponse {
    let topics = by_topic(
        response.results,
        |result| &result.tp.topic,
        |result| {
            PartitionResult::default()
                .with_partition_id(result.tp.partition)
                .with_error_code(result.error.0)
                .with_error_message(result.message.map(StrBytes::from_string))
        },
    );
    let topics = topics.into_iter().map(|(name, partitions)| {
        ReplicaElectionResult::default()
            .with_topic(TopicName(StrBytes::from_string(name)))
            .with_partition_result(partitions)
    });
    let answer =
        messages::ElectLeadersResponse::default().with_replica_election_results(topics.collect());
    match version {
        1.. => answer.with_error_code(response.error.0),
        _ => answer,
    }
}
