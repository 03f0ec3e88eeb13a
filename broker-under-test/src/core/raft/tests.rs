//! Raft under thousands of seeded schedules: messages lost, delayed and reordered, voters that
//! crash and forget what was not on disk.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::*;

const TIMERS: RaftTimers = RaftTimers {
    election_timeout_ms: 60,
    heartbeat_ms: 10,
};

enum Packet {
    Vote(VoteRequest),
    Append(AppendRequest),
    Voted(VoteRequest, VoteResponse),
    Appended(u64, AppendResponse),
    Lost(u64),
}

/// What one voter's disk holds, and the writes still on their way to it.
#[derive(Default)]
struct Disk {
    hard: HardState,
    entries: Vec<Entry>,
    queue: Vec<RaftEffect>,
}

struct Cluster {
    rng: ChaCha8Rng,
    now: u64,
    voters: BTreeMap<NodeId, Raft>,
    disks: BTreeMap<NodeId, Disk>,
    saves: BTreeMap<NodeId, u64>,
    packets: Vec<(u64, NodeId, NodeId, Packet)>,
    tokens: BTreeMap<u64, (NodeId, Option<VoteRequest>, u64)>,
    next_token: u64,
    leaders: BTreeMap<u64, NodeId>,
    committed: Vec<Entry>,
    proposed: u64,
    cut: Option<NodeId>,
}

impl Cluster {
    fn new(seed: u64) -> Self {
        let mut cluster = Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            now: 0,
            voters: BTreeMap::new(),
            disks: (1..=3).map(|id| (id, Disk::default())).collect(),
            saves: BTreeMap::new(),
            packets: Vec::new(),
            tokens: BTreeMap::new(),
            next_token: 0,
            leaders: BTreeMap::new(),
            committed: Vec::new(),
            proposed: 0,
            cut: None,
        };
        (1..=3).for_each(|id| cluster.start(id));
        cluster
    }

    fn start(&mut self, id: NodeId) {
        let disk = self.disks.get_mut(&id).unwrap();
        disk.queue.clear();
        let raft = Raft::new(
            id,
            BTreeSet::from([1, 2, 3]),
            TIMERS,
            disk.hard,
            disk.entries.clone(),
            self.rng.random(),
            self.now,
        );
        self.voters.insert(id, raft);
        self.saves.insert(id, 0);
    }

    fn step(&mut self, faults: bool) {
        self.now += 1;
        if faults && self.rng.random_ratio(1, 300) {
            let id = self.rng.random_range(1..=3);
            self.start(id);
        }
        if faults && self.rng.random_ratio(1, 200) {
            self.cut = self
                .rng
                .random_bool(0.6)
                .then(|| self.rng.random_range(1..=3));
        }
        if !faults {
            self.cut = None;
        }
        self.write_disks();
        self.deliver();
        for id in 1..=3 {
            self.drive(id, |raft, now, fx| raft.tick(now, fx));
            if self.rng.random_ratio(1, 20) && self.voters[&id].is_leader() {
                self.proposed += 1;
                let data = Bytes::from(self.proposed.to_be_bytes().to_vec());
                self.drive(id, |raft, now, fx| {
                    raft.propose(data, now, fx);
                });
            }
        }
    }

    fn write_disks(&mut self) {
        for id in 1..=3 {
            while !self.disks[&id].queue.is_empty() && self.rng.random_bool(0.5) {
                let effect = self.disks.get_mut(&id).unwrap().queue.remove(0);
                self.write(id, effect);
            }
        }
    }

    fn write(&mut self, id: NodeId, effect: RaftEffect) {
        let disk = self.disks.get_mut(&id).unwrap();
        match effect {
            RaftEffect::SaveHardState(hard) => {
                disk.hard = hard;
                let version = self.saves.get_mut(&id).unwrap();
                *version += 1;
                let version = *version;
                self.drive(id, |raft, now, fx| raft.hard_state_saved(version, now, fx));
            }
            RaftEffect::AppendEntries {
                at,
                last,
                bytes,
                generation,
            } => {
                assert_eq!(at, disk.entries.len() as u64 + 1);
                let mut rest = &bytes[..];
                while let Some((_, entry, used)) = log::decode_frame(rest) {
                    disk.entries.push(entry);
                    rest = &rest[used..];
                }
                self.drive(id, |raft, _, fx| raft.entries_saved(last, generation, fx));
            }
            RaftEffect::Truncate { from, generation } => {
                disk.entries.truncate(usize::try_from(from).unwrap() - 1);
                self.drive(id, |raft, _, fx| {
                    raft.entries_saved(from - 1, generation, fx)
                });
            }
            _ => unreachable!(),
        }
    }

    fn deliver(&mut self) {
        let due: Vec<_> = self
            .packets
            .extract_if(.., |packet| packet.0 <= self.now)
            .collect();
        for (_, from, to, packet) in due {
            if self.cut == Some(from) || self.cut == Some(to) {
                continue;
            }
            match packet {
                Packet::Vote(request) => {
                    let token = self.token(from, Some(request.clone()), 0);
                    self.drive(to, |raft, now, fx| {
                        raft.on_vote_request(token, &request, now, fx)
                    });
                }
                Packet::Append(request) => {
                    let token = self.token(from, None, request.term);
                    self.drive(to, |raft, now, fx| {
                        raft.on_append_request(token, request, now, fx)
                    });
                }
                Packet::Voted(request, response) => self.drive(to, |raft, now, fx| {
                    raft.on_vote_response(from, &request, &response, now, fx);
                }),
                Packet::Appended(term, response) => self.drive(to, |raft, now, fx| {
                    raft.on_append_response(from, term, &response, now, fx);
                }),
                Packet::Lost(term) => self.drive(to, |raft, _, _| raft.on_append_lost(from, term)),
            }
        }
    }

    fn token(&mut self, from: NodeId, request: Option<VoteRequest>, term: u64) -> u64 {
        self.next_token += 1;
        self.tokens.insert(self.next_token, (from, request, term));
        self.next_token
    }

    fn send(&mut self, from: NodeId, to: NodeId, packet: Packet) {
        if self.rng.random_ratio(1, 20) {
            return;
        }
        let at = self.now + self.rng.random_range(1..8);
        self.packets.push((at, from, to, packet));
    }

    fn drive(&mut self, id: NodeId, step: impl FnOnce(&mut Raft, u64, &mut Vec<RaftEffect>)) {
        let mut fx = Vec::new();
        step(self.voters.get_mut(&id).unwrap(), self.now, &mut fx);
        for effect in fx {
            self.carry_out(id, effect);
        }
    }

    fn carry_out(&mut self, id: NodeId, effect: RaftEffect) {
        match effect {
            RaftEffect::SendVote(to, request) => self.send(id, to, Packet::Vote(request)),
            RaftEffect::SendAppend(to, request) => {
                let give_up = (self.now + 30, to, id, Packet::Lost(request.term));
                self.packets.push(give_up);
                self.send(id, to, Packet::Append(request));
            }
            RaftEffect::ReplyVote(token, response) => {
                let (to, request, _) = self.tokens.remove(&token).unwrap();
                self.send(id, to, Packet::Voted(request.unwrap(), response));
            }
            RaftEffect::ReplyAppend(token, response) => {
                let (to, _, term) = self.tokens.remove(&token).unwrap();
                self.send(id, to, Packet::Appended(term, response));
            }
            RaftEffect::BecameLeader => {
                let term = self.voters[&id].term();
                let other = self.leaders.insert(term, id);
                assert!(
                    other.is_none_or(|was| was == id),
                    "two leaders in term {term}"
                );
            }
            RaftEffect::Committed(index) => self.check_committed(id, index),
            RaftEffect::SteppedDown => {}
            to_disk => self.disks.get_mut(&id).unwrap().queue.push(to_disk),
        }
    }

    fn check_committed(&mut self, id: NodeId, index: u64) {
        for at in 1..=index {
            let entry = self.voters[&id].entry(at).unwrap().clone();
            match self.committed.get(usize::try_from(at).unwrap() - 1) {
                Some(known) => assert_eq!(*known, entry, "committed entry {at} changed"),
                None => self.committed.push(entry),
            }
        }
    }
}

#[test]
fn a_committed_entry_never_changes_and_a_term_has_one_leader_over_200_seeds() {
    for seed in 0..200 {
        let mut cluster = Cluster::new(seed);
        (0..2_000).for_each(|_| cluster.step(true));
        let before = cluster.committed.len();
        (0..1_000).for_each(|_| cluster.step(false));
        assert!(
            cluster.committed.len() > before,
            "seed {seed}: nothing commits after the heal"
        );
    }
}

#[test]
fn a_leader_without_a_majority_steps_down_within_two_election_timeouts() {
    let mut cluster = Cluster::new(1);
    while !(1..=3).any(|id| cluster.voters[&id].is_leader()) {
        cluster.step(false);
    }
    let leader = (1..=3).find(|id| cluster.voters[id].is_leader()).unwrap();
    for _ in 0..2 * TIMERS.election_timeout_ms {
        cluster.now += 1;
        cluster.drive(leader, |raft, now, fx| raft.tick(now, fx));
    }
    assert!(!cluster.voters[&leader].is_leader());
}

#[test]
fn a_voter_is_not_asked_again_for_a_second_candidate_of_its_term() {
    let mut raft = Raft::new(
        1,
        BTreeSet::from([1, 2, 3]),
        TIMERS,
        HardState {
            term: 4,
            voted_for: Some(2),
        },
        Vec::new(),
        0,
        0,
    );
    let request = VoteRequest {
        pre: false,
        term: 4,
        candidate: 3,
        last_index: 9,
        last_term: 4,
    };
    let mut fx = Vec::new();
    raft.on_vote_request(1, &request, 1, &mut fx);
    let refused = VoteResponse {
        term: 4,
        granted: false,
    };
    assert_eq!(fx, vec![RaftEffect::ReplyVote(1, refused)]);
}
