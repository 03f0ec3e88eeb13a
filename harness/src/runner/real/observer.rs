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
use crate::clients::{HighWatermarks, LogDirs, LogEnds, PartitionMetadata, Request, Response};
use crate::session::{Event, NodeIndex, NodeReport, ReplicaReport};

const POLL_EVERY: Duration = Duration::from_millis(200);
const POLL_TIMEOUT: Duration = Duration::from_millis(600);
/// What takes a node longer: brokers ask a controller who leads, and look at their disks.
const SELDOM: Duration = Duration::from_millis(1000);
/// No client of the session: it has no place, so that it is never cut off.
const NOBODY: usize = usize::MAX;

/// Watches one broker.
pub(super) struct Observer {
    wiring: Arc<Wiring>,
    node: NodeIndex,
    id: i32,
    connection: Connection,
    /// For what may take long.
    patient: Connection,
    controller: Option<i32>,
    seldom_asked: Option<Instant>,
    /// Its partitions as it last named them.
    known: Vec<i32>,
    dirs: LogDirs,
}

impl Observer {
    pub fn new(wiring: Arc<Wiring>, node: NodeIndex, id: i32) -> Observer {
        let connect = || Connection::new(Arc::clone(&wiring), NOBODY, node);
        Observer {
            node,
            id,
            connection: connect(),
            patient: connect(),
            controller: None,
            seldom_asked: None,
            known: Vec::new(),
            dirs: LogDirs::default(),
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
        if self.seldom_asked.is_none_or(|at| at.elapsed() >= SELDOM) {
            self.seldom_asked = Some(Instant::now());
            self.ask_for_controller().await;
            self.look_at_disks().await;
        }
        let asked = Instant::now();
        let own = self.own_partitions().await?;
        let (leo, hw) = self.offsets(&own).await.unwrap_or_default();
        let bytes: BTreeMap<i32, i64> = self.dirs.bytes.iter().copied().collect();
        let report = |partition: &PartitionMetadata| ReplicaReport {
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
            bytes: bytes.get(&partition.partition).copied(),
            isr: partition.isr.clone(),
            replicas: partition.replicas.clone(),
        };
        let partitions = own.iter().map(report).collect();
        self.known = own.iter().map(|partition| partition.partition).collect();
        Some(NodeReport {
            node_id: self.id,
            controller_leader: self.controller,
            partitions,
            failed_dirs: self.dirs.failed.clone(),
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

    /// Log ends and high watermarks, of partitions that stayed in their epochs meanwhile.
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
        let after = self.own_partitions().await?;
        let epochs = |of: &[PartitionMetadata]| -> BTreeMap<i32, i32> {
            let each = of.iter().map(|p| (p.partition, p.leader_epoch));
            each.collect()
        };
        let (before, after) = (epochs(own), epochs(&after));
        let stayed = |(partition, _): &(i32, i64)| before.get(partition) == after.get(partition);
        let kept = |offsets: Vec<(i32, i64)>| offsets.into_iter().filter(stayed).collect();
        Some((kept(leo), kept(hw)))
    }

    /// A node that does not say is believed to be as it was.
    async fn look_at_disks(&mut self) {
        if self.known.is_empty() {
            return;
        }
        let partitions = self.known.clone();
        let dirs = Request::LogDirs(LogEnds { partitions });
        if let Some(Response::LogDirs(dirs)) = ask(&mut self.patient, dirs).await {
            self.dirs = dirs;
        }
    }

    /// A node that cannot say who leads the controllers is asked again later; what it said
    /// before is then no longer believed.
    async fn ask_for_controller(&mut self) {
        self.controller = match ask(&mut self.patient, Request::DescribeQuorum).await {
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
