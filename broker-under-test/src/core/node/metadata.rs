//! What clients ask about the cluster: Metadata, ListOffsets, OffsetForLeaderEpoch.

use std::sync::Arc;

use super::{Asker, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::ids::{Addr, NodeId, TopicPartition};
use crate::core::messages::client::{
    ClientResponse, CreateTopicsRequest, EpochAnswer, EpochQuery, ListOffset, ListOffsetResult,
    MetadataRequest, MetadataResponse, NewTopic, PartitionMetadata, TopicMetadata, TopicRef,
};
use crate::core::messages::{ClientRequest, Response};
use crate::core::metadata::{Partition, Topic};
use crate::core::seam::Output;

impl Node {
    pub(super) fn metadata(
        &mut self,
        asker: Asker,
        request: &MetadataRequest,
        out: &mut Vec<Output>,
    ) {
        let topics = match &request.topics {
            None => self.all_topics(),
            Some(refs) => refs
                .iter()
                .map(|topic| self.topic_metadata(topic))
                .collect(),
        };
        let brokers = self.brokers_for_clients(false);
        let response = MetadataResponse {
            brokers: brokers
                .into_iter()
                .map(|(node, addr, _)| (node, addr))
                .collect(),
            controller: self.controller_for_clients(),
            topics,
        };
        out.push(reply(
            asker,
            Response::Client(ClientResponse::Metadata(response)),
        ));
        if request.allow_auto_create {
            self.create_unknown(request.topics.as_deref().unwrap_or_default(), out);
        }
    }

    /// (broker, client listener, fenced): those that are up and this one, or all.
    pub(super) fn brokers_for_clients(&self, with_fenced: bool) -> Vec<(NodeId, Addr, bool)> {
        self.image
            .brokers
            .iter()
            .filter(|(node, broker)| with_fenced || !broker.fenced || **node == self.config.node_id)
            .map(|(node, broker)| (*node, broker.client_addr.clone(), broker.fenced))
            .collect()
    }

    /// Any broker passes on what a controller must do, so each names itself, of which the asker knows
    /// that it is up. The leader of the quorum may be dead before anybody knows: a client that was
    /// told of it then would ask it in vain for long. (KRaft names any broker that is up, KIP-590.)
    pub(super) fn controller_for_clients(&self) -> NodeId {
        self.config.node_id
    }

    /// auto.create.topics.enable: the client asks again until the topic is there.
    fn create_unknown(&mut self, refs: &[TopicRef], out: &mut Vec<Output>) {
        if !self.config.topic_defaults.auto_create {
            return;
        }
        for topic in refs {
            let TopicRef::Name(name) = topic else {
                continue;
            };
            if self.image.topics.contains_key(name.as_str()) {
                continue;
            }
            let request = CreateTopicsRequest {
                topics: vec![NewTopic {
                    name: name.clone(),
                    partitions: -1,
                    replication_factor: -1,
                    assignments: Vec::new(),
                    configs: Vec::new(),
                }],
                validate_only: false,
                timeout_ms: self.config.timers.request_timeout_ms,
            };
            self.change(None, ClientRequest::CreateTopics(request), out);
        }
    }

    fn all_topics(&self) -> Vec<TopicMetadata> {
        let topics = &self.image.topics;
        topics
            .iter()
            .map(|(name, topic)| self.known_topic(name, topic))
            .collect()
    }

    fn topic_metadata(&self, topic: &TopicRef) -> TopicMetadata {
        let (name, unknown) = match topic {
            TopicRef::Name(name) => (
                Some(Arc::from(name.as_str())),
                ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
            ),
            TopicRef::Id(id) => (
                self.image.name_of(*id).cloned(),
                ErrorCode::UNKNOWN_TOPIC_ID,
            ),
        };
        let known = name
            .as_ref()
            .and_then(|name| self.image.topics.get_key_value(name));
        if let Some((name, topic)) = known {
            return self.known_topic(name, topic);
        }
        let id = match topic {
            TopicRef::Id(id) => *id,
            TopicRef::Name(_) => 0,
        };
        TopicMetadata {
            error: unknown,
            name: name.map(|name| name.to_string()),
            id,
            partitions: Vec::new(),
        }
    }

    fn known_topic(&self, name: &str, topic: &Topic) -> TopicMetadata {
        TopicMetadata {
            error: ErrorCode::NONE,
            name: Some(name.to_owned()),
            id: topic.id,
            partitions: (0..)
                .zip(&topic.partitions)
                .map(|(number, partition)| self.partition_metadata(number, partition))
                .collect(),
        }
    }

    fn partition_metadata(&self, number: i32, partition: &Partition) -> PartitionMetadata {
        let down = |node: &i32| {
            self.image
                .brokers
                .get(node)
                .is_none_or(|broker| broker.fenced)
        };
        PartitionMetadata {
            error: if partition.has_leader() {
                ErrorCode::NONE
            } else {
                ErrorCode::LEADER_NOT_AVAILABLE
            },
            partition: number,
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            replicas: partition.replicas.clone(),
            isr: partition.isr.clone(),
            offline: partition.replicas.iter().copied().filter(down).collect(),
        }
    }

    pub(super) fn list_offsets(
        &mut self,
        asker: Asker,
        wants: Vec<ListOffset>,
        out: &mut Vec<Output>,
    ) {
        let results = wants
            .into_iter()
            .map(|want| {
                let (error, offset, leader_epoch) = match self.replicas.get(&want.tp) {
                    Some(replica) => replica.list_offset(want.current_leader_epoch, want.timestamp),
                    None => (self.not_here(&want.tp), -1, -1),
                };
                ListOffsetResult {
                    tp: want.tp,
                    error,
                    offset,
                    leader_epoch,
                }
            })
            .collect();
        let response = ClientResponse::ListOffsets(results);
        out.push(reply(asker, Response::Client(response)));
    }

    pub(super) fn epoch_ends(
        &mut self,
        asker: Asker,
        queries: Vec<EpochQuery>,
        out: &mut Vec<Output>,
    ) {
        let answers = queries
            .into_iter()
            .map(|query| {
                let (error, leader_epoch, end_offset) =
                    self.epoch_end(&query.tp, query.current_leader_epoch, query.leader_epoch);
                EpochAnswer {
                    tp: query.tp,
                    error,
                    leader_epoch,
                    end_offset,
                }
            })
            .collect();
        let response = ClientResponse::OffsetForLeaderEpoch(answers);
        out.push(reply(asker, Response::Client(response)));
    }

    fn epoch_end(&self, tp: &TopicPartition, believed: i32, epoch: i32) -> (ErrorCode, i32, i64) {
        match self.replicas.get(tp) {
            Some(replica) => replica.epoch_end(believed, epoch),
            None => (self.not_here(tp), -1, -1),
        }
    }
}
