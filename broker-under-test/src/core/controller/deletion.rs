//! Deletion of topics: one record each; the brokers let go of their replicas when they apply it.

use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::messages::client::TopicRef;
use crate::core::messages::delete_topics::{DeleteTopicResult, DeleteTopicsRequest};
use crate::core::messages::peer::PeerResponse;
use crate::core::metadata::Record;

impl Controller {
    pub(super) fn delete_topics(
        &mut self,
        token: Token,
        request: DeleteTopicsRequest,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let delete = |topic| self.delete_topic(topic, fx);
        let results = request.topics.into_iter().map(delete).collect();
        self.reply_when_committed(token, PeerResponse::DeleteTopics(results));
    }

    fn delete_topic(
        &mut self,
        topic: TopicRef,
        fx: &mut Vec<ControllerEffect>,
    ) -> DeleteTopicResult {
        let (name, id) = match topic {
            TopicRef::Name(name) => match self.image.id_of(&name) {
                Some(id) => (name, id),
                None => return refused(Some(name), 0, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
            },
            TopicRef::Id(id) => match self.image.name_of(id) {
                Some(name) => (name.to_string(), id),
                None => return refused(None, id, ErrorCode::UNKNOWN_TOPIC_ID),
            },
        };
        fx.push(ControllerEffect::Note(format!("topic {name} is deleted")));
        let record = Record::DeleteTopic {
            name: name.clone(),
            id,
        };
        self.propose(record, fx);
        DeleteTopicResult {
            name: Some(name),
            id,
            error: ErrorCode::NONE,
            message: None,
        }
    }
}

fn refused(name: Option<String>, id: u128, error: ErrorCode) -> DeleteTopicResult {
    DeleteTopicResult {
        name,
        id,
        error,
        message: Some("This server does not host this topic.".to_owned()),
    }
}
