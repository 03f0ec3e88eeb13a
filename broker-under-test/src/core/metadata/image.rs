//! The image: the metadata log, applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::record::Record;
use crate::core::ids::{Addr, NO_LEADER, NodeId, TopicId, TopicPartition};

/// Producer ids in a block; block n is `[n * PRODUCER_IDS, (n + 1) * PRODUCER_IDS)`.
pub const PRODUCER_IDS: i64 = 1_000;

/// Settings of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicConfig {
    /// min.insync.replicas.
    pub min_insync_replicas: i32,
    /// unclean.leader.election.enable.
    pub unclean_leader_election: bool,
    /// flush.messages = 1.
    pub flush_every_batch: bool,
}

/// State of one partition as the controller has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// All replicas, the preferred leader first.
    pub replicas: Vec<NodeId>,
    /// In-sync replicas.
    pub isr: Vec<NodeId>,
    /// The leader, or -1.
    pub leader: NodeId,
    /// Bumped with each change of leader.
    pub leader_epoch: i32,
    /// Bumped with each change.
    pub partition_epoch: i32,
}

/// A topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Its id.
    pub id: TopicId,
    /// Its settings.
    pub config: TopicConfig,
    /// Those that it sets itself, by name.
    pub overrides: BTreeMap<String, String>,
    /// Its partitions, by number.
    pub partitions: Vec<Partition>,
}

/// A registered broker.
#[derive(Clone, Debug, PartialEq)]
pub struct Broker {
    /// Index of its registration.
    pub epoch: u64,
    /// This start of it.
    pub incarnation: u64,
    /// Its client listener.
    pub client_addr: Addr,
    /// Its replication listener.
    pub replication_addr: Addr,
    /// Whether it counts as down.
    pub fenced: bool,
    /// Whether it is about to stop.
    pub stopping: bool,
}

/// All metadata as of one index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Index of the last entry applied.
    pub applied: u64,
    /// Brokers ever registered.
    pub brokers: BTreeMap<NodeId, Broker>,
    /// Topics.
    pub topics: BTreeMap<Arc<str>, Topic>,
    names: BTreeMap<TopicId, Arc<str>>,
}

impl Image {
    /// Applies the entry at `index`, which must be the next; an opening entry has no record.
    pub fn apply(&mut self, index: u64, record: Option<Record>) {
        assert_eq!(index, self.applied + 1, "metadata is applied in order");
        self.applied = index;
        match record {
            Some(Record::RegisterBroker {
                node,
                incarnation,
                client_addr,
                replication_addr,
            }) => {
                let broker = Broker {
                    epoch: index,
                    incarnation,
                    client_addr,
                    replication_addr,
                    fenced: true,
                    stopping: false,
                };
                self.brokers.insert(node, broker);
            }
            Some(Record::SetFenced {
                node,
                broker_epoch,
                fenced,
                stopping,
            }) => self.set_fenced(node, broker_epoch, fenced, stopping),
            Some(Record::CreateTopic {
                name,
                id,
                config,
                overrides,
                partitions,
            }) => {
                let topic = Topic {
                    id,
                    config,
                    overrides,
                    partitions,
                };
                self.create_topic(&name, topic);
            }
            Some(Record::DeleteTopic { name, id }) => self.delete_topic(&name, id),
            Some(Record::ConfigureTopic {
                name,
                id,
                config,
                overrides,
            }) => {
                if let Some(topic) = self.topic_mut(&name, id) {
                    topic.config = config;
                    topic.overrides = overrides;
                }
            }
            Some(Record::ChangePartition { tp, state }) => self.change_partition(&tp, state),
            Some(Record::ReserveProducerIds { .. }) | None => {}
        }
    }

    fn set_fenced(&mut self, node: NodeId, epoch: u64, fenced: bool, stopping: bool) {
        if let Some(broker) = self.brokers.get_mut(&node)
            && broker.epoch == epoch
        {
            broker.fenced = fenced;
            broker.stopping = stopping;
        }
    }

    fn create_topic(&mut self, name: &str, topic: Topic) {
        let name: Arc<str> = Arc::from(name);
        self.names.insert(topic.id, name.clone());
        self.topics.insert(name, topic);
    }

    fn delete_topic(&mut self, name: &str, id: TopicId) {
        if self.topic_mut(name, id).is_some() {
            self.topics.remove(name);
            self.names.remove(&id);
        }
    }

    fn topic_mut(&mut self, name: &str, id: TopicId) -> Option<&mut Topic> {
        self.topics.get_mut(name).filter(|topic| topic.id == id)
    }

    fn change_partition(&mut self, tp: &TopicPartition, state: Partition) {
        if let Some(partition) = self.partition_mut(tp) {
            *partition = state;
        }
    }

    fn partition_mut(&mut self, tp: &TopicPartition) -> Option<&mut Partition> {
        let at = usize::try_from(tp.partition).ok()?;
        self.topics.get_mut(&tp.topic)?.partitions.get_mut(at)
    }

    /// One partition.
    #[must_use]
    pub fn partition(&self, tp: &TopicPartition) -> Option<&Partition> {
        let at = usize::try_from(tp.partition).ok()?;
        self.topics.get(&tp.topic)?.partitions.get(at)
    }

    /// The name of the topic with this id.
    #[must_use]
    pub fn name_of(&self, id: TopicId) -> Option<&Arc<str>> {
        self.names.get(&id)
    }

    /// The id of the topic with this name.
    #[must_use]
    pub fn id_of(&self, name: &str) -> Option<TopicId> {
        self.topics.get(name).map(|topic| topic.id)
    }

    /// Whether a broker is registered, up, and not about to stop.
    #[must_use]
    pub fn is_live(&self, node: NodeId) -> bool {
        self.brokers
            .get(&node)
            .is_some_and(|broker| !broker.fenced && !broker.stopping)
    }

    /// Whether a broker may be in an ISR: live, and the same start of it that fetched.
    #[must_use]
    pub fn is_eligible(&self, node: NodeId, broker_epoch: u64) -> bool {
        self.is_live(node)
            && self
                .brokers
                .get(&node)
                .is_some_and(|broker| broker.epoch == broker_epoch)
    }

    /// Brokers that are up.
    pub fn live_brokers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.brokers
            .keys()
            .copied()
            .filter(|node| self.is_live(*node))
    }

    /// Every partition with its name.
    pub fn partitions(&self) -> impl Iterator<Item = (TopicPartition, &Topic, &Partition)> {
        self.topics.iter().flat_map(|(name, topic)| {
            (0..)
                .zip(&topic.partitions)
                .map(move |(number, partition)| {
                    let tp = TopicPartition {
                        topic: name.clone(),
                        partition: number,
                    };
                    (tp, topic, partition)
                })
        })
    }

    /// How many partitions a broker leads.
    #[must_use]
    pub fn led_by(&self, node: NodeId) -> usize {
        self.partitions()
            .filter(|(_, _, partition)| partition.leader == node)
            .count()
    }
}

impl Partition {
    /// Whether anybody leads.
    #[must_use]
    pub fn has_leader(&self) -> bool {
        self.leader != NO_LEADER
    }
}
