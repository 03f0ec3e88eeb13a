//! Raft (Ongaro and Ousterhout, 2014) for the controller quorum, as a state machine without IO.
//!
//! Promises: at most one leader a term; a vote, a term and an entry are on disk before anybody is
//! told of them; a committed entry is never replaced; a leader that has not heard from a majority
//! for an election time-out stops leading (check quorum), and a voter that hears a leader helps
//! nobody to depose it (PreVote, Ongaro's thesis 9.6). Entries are opaque bytes.
//!
//! Never: reads a clock, touches a socket, or compacts its log (a metadata log of a test cluster
//! is small; snapshots are not needed yet).

mod election;
pub mod log;
mod replication;

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Bytes, BytesMut};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use self::log::{RaftLog, encode_frame};
use super::ids::NodeId;
use super::messages::peer::{AppendRequest, AppendResponse, Entry, VoteRequest, VoteResponse};

/// Entries sent in one message.
const ENTRIES_PER_MESSAGE_MAX: usize = 512;

/// The part of Raft's state that is on disk beside the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardState {
    /// Latest term seen.
    pub term: u64,
    /// Whom this voter voted for in that term.
    pub voted_for: Option<NodeId>,
}

/// Time-outs of Raft, milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct RaftTimers {
    /// Least silence before an election; each wait is drawn from this to twice this.
    pub election_timeout_ms: u64,
    /// Period of heartbeats.
    pub heartbeat_ms: u64,
}

/// A request that waits for its answer; the node knows the connection behind it.
pub type Token = u64;

/// What Raft wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum RaftEffect {
    /// Ask a voter.
    SendVote(NodeId, VoteRequest),
    /// Send entries or a heartbeat to a voter.
    SendAppend(NodeId, AppendRequest),
    /// Answer a vote request.
    ReplyVote(Token, VoteResponse),
    /// Answer an append request.
    ReplyAppend(Token, AppendResponse),
    /// Put term and vote on disk, then call [`Raft::hard_state_saved`].
    SaveHardState(HardState),
    /// Put entries on disk, then call [`Raft::entries_saved`].
    AppendEntries {
        /// Index of the first.
        at: u64,
        /// Index of the last.
        last: u64,
        /// Frames.
        bytes: Bytes,
        /// Hand back to [`Raft::entries_saved`].
        generation: u64,
    },
    /// Cut the log on disk from this index, then call [`Raft::entries_saved`] with `from - 1`.
    Truncate {
        /// First index that goes.
        from: u64,
        /// Hand back to [`Raft::entries_saved`].
        generation: u64,
    },
    /// Entries up to this index are committed.
    Committed(u64),
    /// This node leads the quorum from now on.
    BecameLeader,
    /// This node does not lead the quorum any more.
    SteppedDown,
}

/// What a voter is doing.
#[derive(Clone, Debug)]
enum Role {
    Follower,
    PreCandidate { votes: BTreeSet<NodeId> },
    Candidate { votes: BTreeSet<NodeId> },
    Leader { peers: BTreeMap<NodeId, Progress> },
}

/// What a leader knows of a voter.
#[derive(Clone, Debug)]
struct Progress {
    next: u64,
    matched: u64,
    in_flight: bool,
    /// Commit index that the peer has been told.
    told_commit: u64,
    last_sent_ms: u64,
    last_heard_ms: u64,
}

/// An answer or a request that waits until its promise is on disk.
#[derive(Clone, Debug)]
struct Gated {
    hard_state_version: u64,
    index: u64,
    effect: RaftEffect,
}

/// One voter.
#[derive(Debug)]
pub struct Raft {
    id: NodeId,
    voters: BTreeSet<NodeId>,
    timers: RaftTimers,
    rng: ChaCha8Rng,
    hard: HardState,
    hard_version: u64,
    hard_saved_version: u64,
    log: RaftLog,
    /// Entries up to here are on this node's disk.
    durable: u64,
    /// Bumped by each truncation, so that a completion of a cut append is not taken for a new one.
    generation: u64,
    commit: u64,
    role: Role,
    leader: Option<NodeId>,
    heard_from_leader_ms: u64,
    election_at_ms: u64,
    gated: Vec<Gated>,
}

impl Raft {
    /// A voter with what its disk held. It starts as a follower that knows no leader.
    #[must_use]
    pub fn new(
        id: NodeId,
        voters: BTreeSet<NodeId>,
        timers: RaftTimers,
        hard: HardState,
        entries: Vec<Entry>,
        seed: u64,
        now_ms: u64,
    ) -> Self {
        let log = RaftLog::new(entries);
        let mut raft = Self {
            id,
            voters,
            timers,
            rng: ChaCha8Rng::seed_from_u64(seed),
            hard,
            hard_version: 0,
            hard_saved_version: 0,
            durable: log.last_index(),
            log,
            generation: 0,
            commit: 0,
            role: Role::Follower,
            leader: None,
            heard_from_leader_ms: 0,
            election_at_ms: 0,
            gated: Vec::new(),
        };
        raft.reset_election_timer(now_ms);
        raft
    }

    /// The leader of the quorum as far as this voter knows.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// Whether this voter leads.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader { .. })
    }

    /// The latest term seen.
    #[must_use]
    pub fn term(&self) -> u64 {
        self.hard.term
    }

    /// Index of the last entry.
    #[must_use]
    pub fn last_index(&self) -> u64 {
        self.log.last_index()
    }

    /// Index up to which entries are committed.
    #[must_use]
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// The entry at `index`.
    #[must_use]
    pub fn entry(&self, index: u64) -> Option<&Entry> {
        self.log.get(index)
    }

    /// Committed entries after `index`, for a learner.
    #[must_use]
    pub fn committed_after(&self, index: u64) -> &[Entry] {
        let known = usize::try_from(self.commit.saturating_sub(index)).unwrap_or(usize::MAX);
        self.log.after(index, known.min(ENTRIES_PER_MESSAGE_MAX))
    }

    /// What this voter is doing, in a word.
    #[must_use]
    pub fn role_name(&self) -> &'static str {
        match self.role {
            Role::Follower => "follower",
            Role::PreCandidate { .. } | Role::Candidate { .. } => "candidate",
            Role::Leader { .. } => "leader",
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        if self.is_leader() {
            self.tick_leader(now_ms, fx);
        } else if now_ms >= self.election_at_ms {
            self.start_pre_vote(now_ms, fx);
        }
    }

    /// As leader, adds an entry and tells its index; otherwise none.
    pub fn propose(&mut self, data: Bytes, now_ms: u64, fx: &mut Vec<RaftEffect>) -> Option<u64> {
        if !self.is_leader() {
            return None;
        }
        let entry = Entry {
            term: self.hard.term,
            data,
        };
        let index = self.append_to_disk(vec![entry], fx);
        self.replicate(now_ms, fx);
        Some(index)
    }

    /// Term and vote are on disk, as of the `version`-th save.
    pub fn hard_state_saved(&mut self, version: u64, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        self.hard_saved_version = self.hard_saved_version.max(version);
        self.open_gates(fx);
        self.count_own_vote(now_ms, fx);
    }

    /// How many times the hard state has been handed out to be saved.
    #[must_use]
    pub fn hard_state_version(&self) -> u64 {
        self.hard_version
    }

    /// Entries up to `last` are on disk, unless the log was cut since.
    pub fn entries_saved(&mut self, last: u64, generation: u64, fx: &mut Vec<RaftEffect>) {
        if generation == self.generation {
            self.durable = self.durable.max(last.min(self.log.last_index()));
            self.open_gates(fx);
            self.advance_commit(fx);
        }
    }

    fn set_hard_state(&mut self, hard: HardState, fx: &mut Vec<RaftEffect>) {
        if hard != self.hard {
            self.hard = hard;
            self.hard_version += 1;
            fx.push(RaftEffect::SaveHardState(hard));
        }
    }

    fn append_to_disk(&mut self, entries: Vec<Entry>, fx: &mut Vec<RaftEffect>) -> u64 {
        let at = self.log.last_index() + 1;
        let mut bytes = BytesMut::new();
        for entry in entries {
            encode_frame(self.log.last_index() + 1, &entry, &mut bytes);
            self.log.push(entry);
        }
        let last = self.log.last_index();
        fx.push(RaftEffect::AppendEntries {
            at,
            last,
            bytes: bytes.freeze(),
            generation: self.generation,
        });
        last
    }

    /// Holds `effect` back until the present hard state and the log up to `index` are on disk.
    fn gate(&mut self, index: u64, effect: RaftEffect, fx: &mut Vec<RaftEffect>) {
        self.gated.push(Gated {
            hard_state_version: self.hard_version,
            index,
            effect,
        });
        self.open_gates(fx);
    }

    fn open_gates(&mut self, fx: &mut Vec<RaftEffect>) {
        let (saved, durable) = (self.hard_saved_version, self.durable);
        self.gated.retain(|gated| {
            let open = gated.hard_state_version <= saved && gated.index <= durable;
            if open {
                fx.push(gated.effect.clone());
            }
            !open
        });
    }

    fn majority(&self) -> usize {
        self.voters.len() / 2 + 1
    }

    fn reset_election_timer(&mut self, now_ms: u64) {
        let least = self.election_wait_least();
        self.election_at_ms = now_ms
            + self
                .rng
                .random_range(least..least.saturating_mul(2).max(least + 1));
    }

    /// A cluster that has never elected anybody does not wait for a leader to fall silent.
    fn election_wait_least(&self) -> u64 {
        let timeout = self.timers.election_timeout_ms.max(1);
        if self.hard.term == 0 {
            (timeout / 10).max(1)
        } else {
            timeout
        }
    }

    fn become_follower(&mut self, term: u64, leader: Option<NodeId>, fx: &mut Vec<RaftEffect>) {
        if self.is_leader() {
            fx.push(RaftEffect::SteppedDown);
        }
        self.role = Role::Follower;
        self.leader = leader;
        if term > self.hard.term {
            self.set_hard_state(
                HardState {
                    term,
                    voted_for: None,
                },
                fx,
            );
        }
    }
}

#[cfg(test)]
mod tests;
