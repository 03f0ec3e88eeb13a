//! The APIs of operators, one a file: each reads its request by hand and builds its response.

pub mod delete_topics;
pub mod describe_cluster;
pub mod describe_configs;
pub mod describe_log_dirs;
pub mod elect_leaders;
pub mod incremental_alter_configs;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::reader::{Reader, WireError};
use crate::core::ids::TopicPartition;

/// Reads `topic -> [number]`, or null for all partitions.
fn partitions_or_all(reader: &mut Reader) -> Result<Option<Vec<TopicPartition>>, WireError> {
    let topics = reader.nullable_array("topics", |reader| {
        let topic: Arc<str> = reader.string("a topic's name")?.into();
        let partitions = reader.array("partitions", |reader| {
            Ok(TopicPartition {
                topic: Arc::clone(&topic),
                partition: reader.i32("a partition")?,
            })
        })?;
        reader.tags()?;
        Ok(partitions)
    })?;
    Ok(topics.map(|topics| topics.into_iter().flatten().collect()))
}
