//! The observer: asks a node through Kafka's protocol what it believes. Its
//! connections come from the lab's own address, which no fault cuts off.
//!
//! Leader, epoch and ISR are the node's own metadata; log ends are asked of
//! the replica itself with replica id -2, and high watermarks come with an
//! empty read at the log's end, which followers answer too (KIP-392). Offsets
//! count only where the epoch is the same before and after they were asked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connection::{Call, Connection};
use super::monitor::took_ms;
use super::{Message, Messages, Wiring};
use crate::clients::{HighWatermarks, LogEnds, PartitionMetadata, Request, Response};
use crate::session::{Event, NodeIndex, NodeReport, ReplicaReport};

const POLL_EVERY: Duration = Duration::from_millis(200);
const POLL_TIMEOUT: Duration = Duration::from_millis(600);
/// Brokers ask a controller, which may have to be elected first.
const QUORUM_EVERY: Duration = Duration::from_millis(1000);
/// No client of the session: it has no place, so that it is never cut off.
const NOBODY: usize = usize::MAX;

/// Watches one broker.
pub(super) struct Observer {
    wiring: Arc<Wiring>,
    node: NodeIndex,
    id: i32,
    connection: Connection,
    quorum: Connection,
    controller: Option<i32>,
    quorum_asked: Option<Instant>,
}

impl Observer {
    pub fn new(wiring: Arc<Wiring>, node: NodeIndex, id: i32) -> Observer {
        let connect = || Connection::new(Arc::clone(&wiring), NOBODY, node);
        Observer {
            node,
            id,
            connection: connect(),
            quorum: connect(),
            controller: None,
            quorum_asked: None,
            wiring,
        }
    }

    /// Watches until nobody listens any more.
    pub async fn watch(mut self, messages: Messages) {
        loop {
            let report = self.poll().await;
            let node = self.node;
            if messages
                .send(Message::Event(Event::Node { node, report }))
                .is_err()
            {
                return;
            }
            tokio::time::sleep(POLL_EVERY).await;
        }
    }

    /// None when the node does not answer as a broker.
    async fn poll(&mut self) -> Option<NodeReport> {
        self.ask_for_controller().await;
        let asked = Instant::now();
        let own = self.own_partitions().await?;
        let (mut leo, mut hw) = self.offsets(&own).await.unwrap_or_default();
        if !leo.is_empty() {
            let after = self.own_partitions().await.unwrap_or_default();
            let epoch = |p: &PartitionMetadata| (p.partition, p.leader_epoch);
            let after: BTreeMap<i32, i32> = after.iter().map(epoch).collect();
            for partition in &own {
                if after.get(&partition.partition) != Some(&partition.leader_epoch) {
                    leo.remove(&partition.partition);
                    hw.remove(&partition.partition);
                }
            }
        }
        let report = |partition: PartitionMetadata| ReplicaReport {
            topic: self.wiring.topic.clone(),
            role: match partition.leader == self.id {
                true => "leader".to_owned(),
                false => "follower".to_owned(),
            },
            partition: partition.partition,
            leader: partition.leader,
            leader_epoch: partition.leader_epoch,
            leo: leo.get(&partition.partition).copied().unwrap_or(-1),
            hw: hw.get(&partition.partition).copied().unwrap_or(-1),
            isr: partition.isr,
            replicas: partition.replicas,
        };
        Some(NodeReport {
            node_id: self.id,
            controller_leader: self.controller,
            partitions: own.into_iter().map(report).collect(),
            took_ms: took_ms(asked),
        })
    }

    /// The partitions of which the node is a replica, as it knows them.
    async fn own_partitions(&mut self) -> Option<Vec<PartitionMetadata>> {
        let Response::Metadata { partitions } =
            ask(&mut self.connection, Request::Metadata).await?
        else {
            return None;
        };
        let all = partitions.into_iter();
        let own = all.filter(|partition| partition.replicas.contains(&self.id));
        Some(own.collect())
    }

    async fn offsets(
        &mut self,
        own: &[PartitionMetadata],
    ) -> Option<(BTreeMap<i32, i64>, BTreeMap<i32, i64>)> {
        if own.is_empty() {
            return None;
        }
        let partitions = own.iter().map(|partition| partition.partition).collect();
        let ends = Request::LogEnds(LogEnds { partitions });
        let Response::Offsets(leo) = ask(&mut self.connection, ends).await? else {
            return None;
        };
        let marks = Request::HighWatermarks(HighWatermarks { from: leo.clone() });
        let hw = match ask(&mut self.connection, marks).await {
            Some(Response::Offsets(hw)) => hw,
            _ => Vec::new(),
        };
        Some((leo.into_iter().collect(), hw.into_iter().collect()))
    }

    /// A node that cannot say who leads the controllers is asked again later; what it said
    /// before is then no longer believed.
    async fn ask_for_controller(&mut self) {
        if self
            .quorum_asked
            .is_some_and(|at| at.elapsed() < QUORUM_EVERY)
        {
            return;
        }
        self.quorum_asked = Some(Instant::now());
        self.controller = match ask(&mut self.quorum, Request::DescribeQuorum).await {
            Some(Response::Quorum { leader }) => leader,
            _ => None,
        };
    }
}

async fn ask(connection: &mut Connection, request: Request) -> Option<Response> {
    let call = Call {
        request,
        timeout: POLL_TIMEOUT,
    };
    let answer = connection.call(&call).await;
    if answer.is_err() {
        connection.close();
    }
    answer.ok()
}
