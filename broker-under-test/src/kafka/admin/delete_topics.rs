//! DeleteTopics (key 20): by name, from version 6 on also by id.

use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::{DeleteTopicsResponse, TopicName};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use crate::core::messages::delete_topics::{DeleteTopicResult, DeleteTopicsRequest, TopicToDelete};
use crate::kafka::decode::millis;
use crate::kafka::reader::{Reader, WireError};

pub(in crate::kafka) fn decode(
    reader: &mut Reader,
    version: i16,
) -> Result<DeleteTopicsRequest, WireError> {
    let topics = reader.array("topics", |reader| {
        if version < 6 {
            let name = Some(reader.string("a topic's name")?);
            return Ok(TopicToDelete { name, id: 0 });
        }
        let name = reader.nullable_string("a topic's name")?;
        let id = reader.u128("a topic's id")?;
        reader.tags()?;
        Ok(TopicToDelete { name, id })
    })?;
    Ok(DeleteTopicsRequest {
        topics,
        timeout_ms: millis(reader.i32("the time-out")?),
    })
}

pub(in crate::kafka) fn encode(
    version: i16,
    results: Vec<DeleteTopicResult>,
) -> DeleteTopicsResponse {
    let text = |text: String| StrBytes::from_string(text);
    let responses = results.into_iter().map(|result| {
        // Before version 6 a topic always has a name, since it was asked for by name.
        let name = match result.name {
            None if version < 6 => Some(String::new()),
            name => name,
        };
        let answer = DeletableTopicResult::default()
            .with_name(name.map(text).map(TopicName))
            .with_error_code(result.error.0);
        let answer = match version {
            5.. => answer.with_error_message(result.message.map(text)),
            _ => answer,
        };
        match version {
            6.. => answer.with_topic_id(Uuid::from_u128(result.id)),
            _ => answer,
        }
    });
    DeleteTopicsResponse::default().with_responses(responses.collect())
}
