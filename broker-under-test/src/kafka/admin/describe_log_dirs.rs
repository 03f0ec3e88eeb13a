//! DescribeLogDirs (key 35).

use kafka_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
};
use kafka_protocol::messages::{DescribeLogDirsResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::partitions_or_all;
use crate::core::messages::describe::{DescribeLogDirsRequest, LogDirDescription};
use crate::kafka::encode::by_topic;
use crate::kafka::reader::{Reader, WireError};

pub(in crate::kafka) fn decode(reader: &mut Reader) -> Result<DescribeLogDirsRequest, WireError> {
    let partitions = partitions_or_all(reader)?;
    Ok(DescribeLogDirsRequest {
        partitions: partitions.map(|partitions| partitions.into_iter().collect()),
    })
}

/// The sizes of the volume (version 4) are not known to the core: -1, as the protocol has it.
pub(in crate::kafka) fn encode(answer: LogDirDescription) -> DescribeLogDirsResponse {
    let topics = by_topic(
        answer.replicas,
        |replica| &replica.tp.topic,
        |replica| {
            DescribeLogDirsPartition::default()
                .with_partition_index(replica.tp.partition)
                .with_partition_size(i64::try_from(replica.bytes).unwrap_or(i64::MAX))
                .with_offset_lag(replica.offset_lag)
        },
    );
    let topics = topics.into_iter().map(|(name, partitions)| {
        DescribeLogDirsTopic::default()
            .with_name(TopicName(StrBytes::from_string(name)))
            .with_partitions(partitions)
    });
    let dir = DescribeLogDirsResult::default()
        .with_log_dir(StrBytes::from_string(answer.path))
        .with_topics(topics.collect());
    DescribeLogDirsResponse::default().with_results(vec![dir])
}
