//! Deletion of topics: one record each; the brokers let go of their replicas when they apply it.
//! A topic that is asked for twice, or in two ways, is answered once and not deleted: whoever asks
//! so is mistaken about what would be lost.

use std::collections::BTreeMap;

use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::ids::TopicId;
use crate::core::messages::delete_topics::{DeleteTopicResult, DeleteTopicsRequest, TopicToDelete};
use crate::core::messages::peer::PeerResponse;
use crate::core::metadata::{Image, Record};

/// A topic that exists, or why what was asked for cannot be deleted.
type Found = Result<(String, TopicId), DeleteTopicResult>;

impl Controller {
    pub(super) fn delete_topics(
        &mut self,
        token: Token,
        request: DeleteTopicsRequest,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let found = found(&self.image, request.topics);
        let results = found.into_iter().map(|topic| match topic {
            Ok((name, id)) => self.delete_topic(name, id, fx),
            Err(refused) => refused,
        });
        let results = results.collect();
        self.reply_when_committed(token, PeerResponse::DeleteTopics(results));
    }

    fn delete_topic(
        &mut self,
        name: String,
        id: TopicId,
        fx: &mut Vec<ControllerEffect>,
    ) -> DeleteTopicResult {
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

/// What is asked for, each once, in the order of the request.
fn found(image: &Image, topics: Vec<TopicToDelete>) -> Vec<Found> {
    let mut times: BTreeMap<TopicToDelete, usize> = BTreeMap::new();
    for topic in &topics {
        *times.entry(topic.clone()).or_default() += 1;
    }
    let mut found: Vec<Found> = Vec::new();
    for topic in topics {
        if let Some(times) = times.remove(&topic) {
            found.push(find(image, topic, times));
        }
    }
    let mut ways: BTreeMap<TopicId, usize> = BTreeMap::new();
    for (_, id) in found.iter().flatten() {
        *ways.entry(*id).or_default() += 1;
    }
    let once = |topic: Found| match topic {
        Ok((name, id)) if ways.get(&id).is_some_and(|ways| *ways > 1) => Err(refused(
            TopicToDelete {
                name: Some(name),
                id,
            },
            ErrorCode::INVALID_REQUEST,
            "The topic is asked for by its name and by its id.",
        )),
        topic => topic,
    };
    found.into_iter().map(once).collect()
}

fn find(image: &Image, topic: TopicToDelete, times: usize) -> Found {
    let ill = |topic, why| Err(refused(topic, ErrorCode::INVALID_REQUEST, why));
    let unknown = |topic, error| {
        let why = "This server does not host this topic.";
        Err(refused(topic, error, why))
    };
    match (&topic.name, topic.id) {
        (Some(_), 1..) => ill(topic, "A topic has either its name or its id, not both."),
        (None, 0) => ill(topic, "Neither a topic's name nor its id is given."),
        (Some(_), 0) if times > 1 => ill(topic, "Duplicate topic name."),
        (None, 1..) if times > 1 => ill(topic, "Duplicate topic id."),
        (Some(name), 0) => match image.id_of(name) {
            Some(id) => Ok((name.clone(), id)),
            None => unknown(topic, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION),
        },
        (None, id) => match image.name_of(id) {
            Some(name) => Ok((name.to_string(), id)),
            None => unknown(topic, ErrorCode::UNKNOWN_TOPIC_ID),
        },
    }
}

fn refused(topic: TopicToDelete, error: ErrorCode, why: &str) -> DeleteTopicResult {
    DeleteTopicResult {
        name: topic.name,
        id: topic.id,
        error,
        message: Some(why.to_owned()),
    }
}
