//! A topic goes while a node is down, and one of the same name comes.

use plimsoll_broker::core::messages::delete_topics::{DeleteTopicsRequest, TopicToDelete};
use plimsoll_broker::core::replica::Replica;

use super::*;

const RECORDS: i64 = 5;

impl Cluster {
    /// Fills a topic, deletes and creates it again while node 3 is down, and lets node 3 come back
    /// with its old log: nobody has an old record any more, and it gets the new ones.
    pub fn delete_and_create_while_a_node_is_down(&mut self) -> Result<(), String> {
        self.set_up()?;
        self.fill(RECORDS, &[1, 2, 3])?;
        self.nodes.remove(&3);
        self.ask(1, Asker::Consumer, ClientRequest::DeleteTopics(deletion()));
        self.wait_until("the topic is gone", |cluster| {
            let gone = |node: &Node| node.replicas().is_empty();
            cluster.nodes.values().all(gone) && cluster.disks[&1].logs.is_empty()
        })?;
        // Invariants go by name: what held of the first topic says nothing about the second.
        self.invariants = Invariants::default();
        if self.disks[&3].logs.is_empty() {
            return Err("node 3 has lost its log while it was down".to_owned());
        }
        self.ask(1, Asker::Creator, ClientRequest::CreateTopics(creation()));
        self.wait_until("the topic is there again", |cluster| {
            cluster
                .nodes
                .values()
                .all(|node| node.replicas().len() == 2)
        })?;
        // More than the old log has, in the same epoch: nothing in offsets and epochs tells node 3
        // that its log is not the beginning of this one.
        self.fill(RECORDS + 1, &[1, 2])?;
        self.start(3);
        self.wait_until("every replica is alike", |cluster| {
            cluster.is_well() && cluster.logs_end_at(RECORDS + 1, &[1, 2, 3])
        })?;
        self.invariants.check_healed(&self.disks)
    }

    /// Sends until every replica of these nodes holds this many records, of both partitions.
    fn fill(&mut self, records: i64, nodes: &[NodeId]) -> Result<(), String> {
        self.wait_until("leaders", |cluster| {
            let leads = |replica: &Replica| replica.is_leader();
            let led = |node: &Node| node.replicas().values().filter(|one| leads(one)).count();
            cluster.nodes.values().map(led).sum::<usize>() == 2
        })?;
        for n in 0..records * i64::from(PARTITIONS) {
            let partition = i32::try_from(n % i64::from(PARTITIONS)).unwrap();
            let tp = TopicPartition::new(TOPIC, partition);
            let leads = |node: &Node| node.replicas()[&tp].is_leader();
            let leader = self.nodes.iter().find(|(_, node)| leads(node));
            let leader = *leader.ok_or("nobody leads")?.0;
            self.next_value += 1;
            let value = Bytes::from(self.next_value.to_string());
            let request = ProduceRequest {
                acks: -1,
                timeout_ms: 5_000,
                partitions: vec![(tp.clone(), BatchBuilder::plain(0).build(&[&value]))],
            };
            let asker = Asker::Producer {
                tp,
                acks: -1,
                value,
            };
            self.ask(leader, asker, ClientRequest::Produce(request));
        }
        self.wait_until("every replica has all", |cluster| {
            cluster.logs_end_at(records, nodes)
        })
    }

    fn wait_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) -> Result<(), String> {
        match self.run_until(self.now + HEAL_MS_MAX, done)? {
            true => Ok(()),
            false => Err(format!("{what}: not in time: {}", self.describe())),
        }
    }
}

fn deletion() -> DeleteTopicsRequest {
    DeleteTopicsRequest {
        topics: vec![TopicToDelete {
            name: Some(TOPIC.to_owned()),
            id: 0,
        }],
        timeout_ms: 5_000,
    }
}

/// By hand, since a node that is down gets no replica otherwise.
fn creation() -> CreateTopicsRequest {
    CreateTopicsRequest {
        topics: vec![NewTopic {
            name: TOPIC.to_owned(),
            partitions: -1,
            replication_factor: -1,
            assignments: vec![(0, vec![1, 2, 3]), (1, vec![3, 1, 2])],
            configs: Vec::new(),
        }],
        validate_only: false,
        timeout_ms: 5_000,
    }
}
