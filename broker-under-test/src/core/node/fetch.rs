//! Fetch requests of consumers and followers: wait until there is something, then read it,
//! partition by partition, so that the bytes of an answer are bounded.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{Asker, IoContext, Node, reply};
use crate::core::errors::ErrorCode;
use crate::core::ids::{ConnId, TopicPartition};
use crate::core::messages::Response;
use crate::core::messages::client::ClientResponse;
use crate::core::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchedPartition};
use crate::core::messages::peer::PeerResponse;
use crate::core::replica::{FetchStatus, ReadPlan};
use crate::core::seam::{Done, Op, Output};

/// No fetch waits longer, milliseconds.
const WAIT_MS_MAX: u64 = 60 * 1_000;

/// Fetches under way.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    pending: BTreeMap<u64, Pending>,
    /// Which fetches wait for progress of a partition.
    parked: BTreeMap<TopicPartition, BTreeSet<u64>>,
    deadlines: BTreeSet<(u64, u64)>,
}

#[derive(Debug)]
struct Pending {
    asker: Asker,
    from_peer: bool,
    request: FetchRequest,
    deadline_ms: u64,
    results: Vec<FetchedPartition>,
    /// What is being read, where a read is under way.
    reading: Option<ReadPlan>,
    bytes_left: u32,
}

impl Fetches {
    pub(super) fn forget(&mut self, conn: ConnId) {
        let gone: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.asker.conn == conn)
            .map(|(key, _)| *key)
            .collect();
        for key in gone {
            self.unpark(key);
            self.pending.remove(&key);
        }
    }

    fn park(&mut self, key: u64) {
        let Some(pending) = self.pending.get(&key) else {
            return;
        };
        self.deadlines.insert((pending.deadline_ms, key));
        for want in &pending.request.partitions {
            self.parked.entry(want.tp.clone()).or_default().insert(key);
        }
    }

    fn unpark(&mut self, key: u64) {
        let Some(pending) = self.pending.get(&key) else {
            return;
        };
        self.deadlines.remove(&(pending.deadline_ms, key));
        for want in &pending.request.partitions {
            if let Some(keys) = self.parked.get_mut(&want.tp) {
                keys.remove(&key);
                if keys.is_empty() {
                    self.parked.remove(&want.tp);
                }
            }
        }
    }
}

impl Node {
    pub(super) fn fetch(
        &mut self,
        asker: Asker,
        from_peer: bool,
        request: FetchRequest,
        out: &mut Vec<Output>,
    ) {
        let key = self.fresh_id();
        let deadline_ms = self.now.mono_ms + request.max_wait_ms.min(WAIT_MS_MAX);
        if from_peer {
            self.note_follower_progress(&request, out);
        }
        let pending = Pending {
            asker,
            from_peer,
            deadline_ms,
            bytes_left: request.max_bytes,
            request,
            results: Vec::new(),
            reading: None,
        };
        self.fetches.pending.insert(key, pending);
        if self.is_worth_answering(key) || deadline_ms <= self.now.mono_ms {
            self.read_on(key, out);
        } else {
            self.fetches.park(key);
        }
    }

    /// A follower's fetch acknowledges what lies before its offset, unless its log has diverged:
    /// then its offset says nothing about ours (KAFKA-13141).
    fn note_follower_progress(&mut self, request: &FetchRequest, out: &mut Vec<Output>) {
        let Some(follower) = request.follower else {
            return;
        };
        for want in &request.partitions {
            let counts = matches!(
                self.status(want, request),
                FetchStatus::Ready(_) | FetchStatus::Empty(_)
            );
            if counts {
                let offset = want.fetch_offset;
                self.with_replica(&want.tp, out, |replica, ctx, fx| {
                    replica.on_follower_fetch(ctx, follower, offset, fx);
                });
            }
        }
    }

    fn status(&self, want: &FetchPartition, request: &FetchRequest) -> FetchStatus {
        if want.tp.topic.is_empty() {
            return FetchStatus::Refused(ErrorCode::UNKNOWN_TOPIC_ID);
        }
        match self.replicas.get(&want.tp) {
            Some(replica) => {
                replica.fetch_status(&self.context(), want, request.follower, request.any_replica)
            }
            None => FetchStatus::Refused(self.not_here(&want.tp)),
        }
    }

    fn is_worth_answering(&self, key: u64) -> bool {
        let Some(pending) = self.fetches.pending.get(&key) else {
            return false;
        };
        let request = &pending.request;
        request.partitions.is_empty()
            || request
                .partitions
                .iter()
                .any(|want| !matches!(self.status(want, request), FetchStatus::Empty(_)))
    }

    /// A partition has moved: those who wait for it may have something to read.
    pub(super) fn on_progress(&mut self, tp: &TopicPartition, out: &mut Vec<Output>) {
        let waiting: Vec<u64> = match self.fetches.parked.get(tp) {
            Some(keys) => keys.iter().copied().collect(),
            None => return,
        };
        for key in waiting {
            if self.is_worth_answering(key) {
                self.fetches.unpark(key);
                self.read_on(key, out);
            }
        }
    }

    pub(super) fn expire_fetches(&mut self, out: &mut Vec<Output>) {
        while let Some(&(deadline_ms, key)) = self.fetches.deadlines.first() {
            if deadline_ms > self.now.mono_ms {
                return;
            }
            self.fetches.unpark(key);
            self.fetches.deadlines.remove(&(deadline_ms, key));
            self.read_on(key, out);
        }
    }

    /// Goes through the partitions that are left until one must be read from storage.
    fn read_on(&mut self, key: u64, out: &mut Vec<Output>) {
        loop {
            let Some(pending) = self.fetches.pending.get(&key) else {
                return;
            };
            let index = pending.results.len();
            let Some(want) = pending.request.partitions.get(index) else {
                self.answer_fetch(key, out);
                return;
            };
            let status = self.status(want, &pending.request);
            let plan = match status {
                FetchStatus::Ready(plan) if plan.from < plan.end && pending.bytes_left > 0 => {
                    self.read(key, plan, out);
                    return;
                }
                other => other,
            };
            let result = self.result_without_records(want, plan);
            if let Some(pending) = self.fetches.pending.get_mut(&key) {
                pending.results.push(result);
            }
        }
    }

    fn result_without_records(
        &self,
        want: &FetchPartition,
        status: FetchStatus,
    ) -> FetchedPartition {
        let mut result = FetchedPartition::empty(want, ErrorCode::NONE);
        match status {
            FetchStatus::Refused(error) => {
                result.error = error;
                if let Some(partition) = self.image.partition(&want.tp) {
                    result.current_leader = (partition.leader, partition.leader_epoch);
                }
            }
            FetchStatus::Diverging(epoch, end) => result.diverging = Some((epoch, end)),
            FetchStatus::Ready(plan) | FetchStatus::Empty(plan) => {
                result.high_watermark = plan.high_watermark;
                result.log_start = plan.log_start;
            }
        }
        result
    }

    fn read(&mut self, key: u64, plan: ReadPlan, out: &mut Vec<Output>) {
        let Some(pending) = self.fetches.pending.get_mut(&key) else {
            return;
        };
        let want = &pending.request.partitions[pending.results.len()];
        let op = Op::Read {
            log: want.tp.clone(),
            from: plan.from,
            max_bytes: want.max_bytes.min(pending.bytes_left),
            end: plan.end,
            generation: plan.generation,
        };
        pending.reading = Some(plan);
        self.io(IoContext::Read { fetch: key }, op, out);
    }

    /// Bytes read from a log that was truncated meanwhile may not be there any more: read again.
    pub(super) fn on_read(&mut self, key: u64, done: Done, out: &mut Vec<Output>) {
        let Some(pending) = self.fetches.pending.get_mut(&key) else {
            return;
        };
        let Some(plan) = pending.reading.take() else {
            return;
        };
        let want = &pending.request.partitions[pending.results.len()];
        let log = self
            .replicas
            .get(&want.tp)
            .map(|replica| (replica.topic_id(), replica.generation()));
        if let Done::Read(records) = done
            && log == Some((plan.topic_id, plan.generation))
        {
            let result = with_records(want, plan, records);
            pending.bytes_left = pending
                .bytes_left
                .saturating_sub(u32::try_from(result.records.len()).unwrap_or(u32::MAX));
            pending.results.push(result);
        }
        self.read_on(key, out);
    }

    fn answer_fetch(&mut self, key: u64, out: &mut Vec<Output>) {
        let Some(pending) = self.fetches.pending.remove(&key) else {
            return;
        };
        let response = FetchResponse {
            partitions: pending.results,
        };
        let body = if pending.from_peer {
            Response::Peer(PeerResponse::Fetch(response))
        } else {
            Response::Client(ClientResponse::Fetch(response))
        };
        out.push(reply(pending.asker, body));
    }
}

fn with_records(want: &FetchPartition, plan: ReadPlan, records: Bytes) -> FetchedPartition {
    FetchedPartition {
        high_watermark: plan.high_watermark,
        log_start: plan.log_start,
        records,
        ..FetchedPartition::empty(want, ErrorCode::NONE)
    }
}
