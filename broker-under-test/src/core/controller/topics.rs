//! Creation of topics.

use std::collections::{BTreeMap, BTreeSet};

use super::{Controller, ControllerEffect, Token};
use crate::core::controller::placement::place;
use crate::core::errors::ErrorCode;
use crate::core::ids::NodeId;
use crate::core::messages::client::{CreateTopicResult, CreateTopicsRequest, NewTopic};
use crate::core::messages::peer::PeerResponse;
use crate::core::metadata::configs::{self, Refusal};
use crate::core::metadata::image::TopicConfig;
use crate::core::metadata::{Partition, Record};

/// More partitions than a test cluster could carry, over all its topics, are refused instead of tried.
const PARTITIONS_MAX: i32 = 10_000;
/// More topics in one request are refused: each costs the controller a look at all partitions.
const TOPICS_PER_REQUEST_MAX: usize = 1_000;
const TOPIC_NAME_BYTES_MAX: usize = 249;

/// Settings, those that the topic sets itself, and partitions.
type Planned = (TopicConfig, BTreeMap<String, String>, Vec<Partition>);

impl Controller {
    pub(super) fn create_topics(
        &mut self,
        token: Token,
        request: CreateTopicsRequest,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let validate_only = request.validate_only;
        // What this request plans counts too, so that it cannot plan more than it may create.
        let mut planned = self.image.partitions().count();
        let results = request
            .topics
            .into_iter()
            .enumerate()
            .map(|(position, topic)| {
                let room = if position < TOPICS_PER_REQUEST_MAX {
                    usize::try_from(PARTITIONS_MAX)
                        .unwrap_or(0)
                        .saturating_sub(planned)
                } else {
                    0
                };
                let result = self.create_topic(topic, validate_only, room, fx);
                planned += usize::try_from(result.partitions).unwrap_or(0);
                result
            })
            .collect();
        self.reply_when_committed(token, PeerResponse::CreateTopics(results));
    }

    fn create_topic(
        &mut self,
        topic: NewTopic,
        validate_only: bool,
        room: usize,
        fx: &mut Vec<ControllerEffect>,
    ) -> CreateTopicResult {
        let planned =
            check_room(&topic, self.defaults.partitions, room).and_then(|()| self.plan(&topic));
        let mut result = CreateTopicResult {
            name: topic.name.clone(),
            id: 0,
            error: ErrorCode::NONE,
            message: None,
            partitions: -1,
            replication_factor: -1,
        };
        match planned {
            Err((error, message)) => {
                result.error = error;
                result.message = Some(message);
            }
            Ok((config, overrides, partitions)) => {
                result.partitions = i32::try_from(partitions.len()).unwrap_or(i32::MAX);
                let replicas = partitions.first().map_or(0, |first| first.replicas.len());
                result.replication_factor = i16::try_from(replicas).unwrap_or(i16::MAX);
                if !validate_only {
                    result.id = self.next_topic_id();
                    let record = Record::CreateTopic {
                        name: topic.name,
                        id: result.id,
                        config,
                        overrides,
                        partitions,
                    };
                    self.propose(record, fx);
                }
            }
        }
        result
    }

    /// A hash of seed and index, never 0, in the form of a version 4 UUID.
    fn next_topic_id(&self) -> u128 {
        let index = self.image.applied + 1;
        let high = mix(self.seed ^ mix(index));
        let low = mix(high ^ index);
        let raw = (u128::from(high) << 64) | u128::from(low);
        raw & !(0xf000_u128 << 64) & !(0xc_u128 << 60) | (0x4000_u128 << 64) | (0x8_u128 << 60)
    }

    fn plan(&self, topic: &NewTopic) -> Result<Planned, Refusal> {
        check_name(&topic.name)?;
        if self.image.topics.contains_key(topic.name.as_str()) {
            let message = format!("Topic '{}' already exists.", topic.name);
            return Err((ErrorCode::TOPIC_ALREADY_EXISTS, message));
        }
        let overrides = own_settings(topic);
        let config = configs::resolve(&overrides, &self.defaults)?;
        let replicas = if topic.assignments.is_empty() {
            self.place_automatically(topic)?
        } else {
            self.place_by_hand(topic)?
        };
        let partitions = replicas
            .into_iter()
            .map(|nodes| self.new_partition(nodes))
            .collect();
        Ok((config, overrides, partitions))
    }

    fn new_partition(&self, replicas: Vec<NodeId>) -> Partition {
        let isr: Vec<NodeId> = replicas
            .iter()
            .copied()
            .filter(|node| self.image.is_live(*node))
            .collect();
        Partition {
            leader: isr[0],
            isr,
            replicas,
            leader_epoch: 0,
            partition_epoch: 0,
        }
    }

    fn place_automatically(&self, topic: &NewTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
        let live: Vec<NodeId> = self.image.live_brokers().collect();
        let partitions = match topic.partitions {
            -1 => self.defaults.partitions,
            n => n,
        };
        if !(1..=PARTITIONS_MAX).contains(&partitions) {
            let message = format!(
                "Number of partitions was {partitions}; it must be between 1 and {PARTITIONS_MAX}."
            );
            return Err((ErrorCode::INVALID_PARTITIONS, message));
        }
        let replicas = match topic.replication_factor {
            -1 => i64::from(self.defaults.replication_factor).min(live.len() as i64),
            n => i64::from(n),
        };
        if replicas <= 0 || live.is_empty() {
            let message = format!(
                "Replication factor: {replicas} must be larger than 0; available brokers: {}",
                live.len()
            );
            return Err((ErrorCode::INVALID_REPLICATION_FACTOR, message));
        }
        if replicas > live.len() as i64 {
            let message = format!(
                "Replication factor: {replicas} larger than available brokers: {}",
                live.len()
            );
            return Err((ErrorCode::INVALID_REPLICATION_FACTOR, message));
        }
        let start = mix(self.seed ^ self.image.applied) % live.len() as u64;
        Ok(place(
            &live,
            usize::try_from(partitions).unwrap_or(0),
            usize::try_from(replicas).unwrap_or(0),
            usize::try_from(start).unwrap_or(0),
        ))
    }

    fn place_by_hand(&self, topic: &NewTopic) -> Result<Vec<Vec<NodeId>>, Refusal> {
        let wrong = |message: String| (ErrorCode::INVALID_REPLICA_ASSIGNMENT, message);
        let mut sorted = topic.assignments.clone();
        sorted.sort_unstable();
        let mut placed = Vec::new();
        for (expected, (number, nodes)) in (0..).zip(sorted) {
            if number != expected {
                return Err(wrong(format!(
                    "Partition {expected} has no assignment, or two."
                )));
            }
            let distinct: BTreeSet<NodeId> = nodes.iter().copied().collect();
            if nodes.is_empty() || distinct.len() != nodes.len() {
                return Err(wrong(format!(
                    "Replicas {nodes:?} are empty or name a broker twice."
                )));
            }
            if let Some(node) = nodes
                .iter()
                .find(|node| !self.image.brokers.contains_key(node))
            {
                return Err(wrong(format!("Broker {node} is not registered.")));
            }
            if !nodes.iter().any(|node| self.image.is_live(*node)) {
                return Err(wrong(format!("No broker of {nodes:?} is up.")));
            }
            placed.push(nodes);
        }
        Ok(placed)
    }
}

/// A setting without a value is left to the default.
fn own_settings(topic: &NewTopic) -> BTreeMap<String, String> {
    let set = |(name, value): &(String, Option<String>)| Some((name.clone(), value.clone()?));
    topic.configs.iter().filter_map(set).collect()
}

/// Whether the cluster may still hold so many partitions, told before any of them is placed.
fn check_room(topic: &NewTopic, default: i32, room: usize) -> Result<(), Refusal> {
    let wanted = match (topic.assignments.len(), topic.partitions) {
        (0, -1) => usize::try_from(default).unwrap_or(0),
        (0, partitions) => usize::try_from(partitions).unwrap_or(0),
        (by_hand, _) => by_hand,
    };
    if wanted <= room {
        return Ok(());
    }
    let message = format!(
        "{wanted} partitions are wanted; this cluster may hold {PARTITIONS_MAX} over all topics, \
         {TOPICS_PER_REQUEST_MAX} topics a request, and has room for {room}."
    );
    Err((ErrorCode::INVALID_PARTITIONS, message))
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let ok = !name.is_empty()
        && name.len() <= TOPIC_NAME_BYTES_MAX
        && name != "."
        && name != ".."
        && name.chars().all(legal);
    if ok {
        return Ok(());
    }
    let message = format!(
        "Topic name {name:?} is illegal: 1 to {TOPIC_NAME_BYTES_MAX} characters of a-z, A-Z, 0-9, '.', '_' and '-', and neither '.' nor '..'."
    );
    Err((ErrorCode::INVALID_TOPIC_EXCEPTION, message))
}

/// SplitMix64's finalizer: spreads a counter over 64 bits.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
