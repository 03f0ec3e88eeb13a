//! Elections: PreVote, votes, and becoming leader (Raft 5.2, 5.4.1; thesis 9.6).

use std::collections::BTreeSet;

use bytes::Bytes;

use super::{HardState, Progress, Raft, RaftEffect, Role, Token};
use crate::core::ids::NodeId;
use crate::core::messages::peer::{Entry, VoteRequest, VoteResponse};

impl Raft {
    /// Asks how an election would end, without touching anybody's term.
    pub(super) fn start_pre_vote(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        self.reset_election_timer(now_ms);
        self.leader = None;
        self.role = Role::PreCandidate {
            votes: BTreeSet::from([self.id]),
        };
        for peer in self.peers() {
            fx.push(RaftEffect::SendVote(peer, self.vote_request(true)));
        }
        self.pre_vote_won(now_ms, fx);
    }

    fn peers(&self) -> Vec<NodeId> {
        let me = self.id;
        self.voters.iter().copied().filter(|id| *id != me).collect()
    }

    fn vote_request(&self, pre: bool) -> VoteRequest {
        VoteRequest {
            pre,
            term: if pre {
                self.hard.term + 1
            } else {
                self.hard.term
            },
            candidate: self.id,
            last_index: self.log.last_index(),
            last_term: self.log.last_term(),
        }
    }

    fn pre_vote_won(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        let majority = self.majority();
        if matches!(&self.role, Role::PreCandidate { votes } if votes.len() >= majority) {
            self.start_election(now_ms, fx);
        }
    }

    /// The own vote counts, and others are asked, only once it is on disk.
    fn start_election(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        self.reset_election_timer(now_ms);
        self.role = Role::Candidate {
            votes: BTreeSet::new(),
        };
        let hard = HardState {
            term: self.hard.term + 1,
            voted_for: Some(self.id),
        };
        self.set_hard_state(hard, fx);
        for peer in self.peers() {
            let ask = RaftEffect::SendVote(peer, self.vote_request(false));
            self.gate(0, ask, fx);
        }
    }

    pub(super) fn count_own_vote(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        let saved = self.hard_saved_version >= self.hard_version;
        if saved && let Role::Candidate { votes } = &mut self.role {
            votes.insert(self.id);
            self.election_won(now_ms, fx);
        }
    }

    fn election_won(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        let majority = self.majority();
        if !matches!(&self.role, Role::Candidate { votes } if votes.len() >= majority) {
            return;
        }
        let next = self.log.last_index() + 1;
        let fresh = Progress {
            next,
            matched: 0,
            in_flight: false,
            told_commit: 0,
            last_sent_ms: 0,
            last_heard_ms: now_ms,
        };
        self.role = Role::Leader {
            peers: self
                .peers()
                .into_iter()
                .map(|id| (id, fresh.clone()))
                .collect(),
        };
        self.leader = Some(self.id);
        fx.push(RaftEffect::BecameLeader);
        // Entries of earlier terms are committed only beneath one of this term (Raft 5.4.2).
        let opening = Entry {
            term: self.hard.term,
            data: Bytes::new(),
        };
        self.append_to_disk(vec![opening], fx);
        self.replicate(now_ms, fx);
    }

    /// Somebody asks for a vote.
    pub fn on_vote_request(
        &mut self,
        token: Token,
        request: &VoteRequest,
        now_ms: u64,
        fx: &mut Vec<RaftEffect>,
    ) {
        let granted = if request.pre {
            self.would_vote(request, now_ms)
        } else {
            self.vote(request, now_ms, fx)
        };
        let response = VoteResponse {
            term: self.hard.term,
            granted,
        };
        self.gate(0, RaftEffect::ReplyVote(token, response), fx);
    }

    fn would_vote(&self, request: &VoteRequest, now_ms: u64) -> bool {
        request.term > self.hard.term
            && self.is_up_to_date(request)
            && !self.hears_a_leader(now_ms)
            && self.voters.contains(&request.candidate)
    }

    fn vote(&mut self, request: &VoteRequest, now_ms: u64, fx: &mut Vec<RaftEffect>) -> bool {
        if !self.voters.contains(&request.candidate) || request.term < self.hard.term {
            return false;
        }
        if request.term > self.hard.term {
            self.become_follower(request.term, None, fx);
        }
        let free = self
            .hard
            .voted_for
            .is_none_or(|whom| whom == request.candidate);
        if !free || !self.is_up_to_date(request) {
            return false;
        }
        let hard = HardState {
            term: request.term,
            voted_for: Some(request.candidate),
        };
        self.set_hard_state(hard, fx);
        self.reset_election_timer(now_ms);
        true
    }

    fn is_up_to_date(&self, request: &VoteRequest) -> bool {
        (request.last_term, request.last_index) >= (self.log.last_term(), self.log.last_index())
    }

    fn hears_a_leader(&self, now_ms: u64) -> bool {
        self.is_leader()
            || (self.leader.is_some()
                && now_ms < self.heard_from_leader_ms + self.timers.election_timeout_ms)
    }

    /// A voter has answered.
    pub fn on_vote_response(
        &mut self,
        from: NodeId,
        request: &VoteRequest,
        response: &VoteResponse,
        now_ms: u64,
        fx: &mut Vec<RaftEffect>,
    ) {
        if response.term > self.hard.term {
            self.become_follower(response.term, None, fx);
            return;
        }
        let current = self.vote_request(request.pre).term == request.term;
        if !response.granted || !current {
            return;
        }
        match &mut self.role {
            Role::PreCandidate { votes } if request.pre => {
                votes.insert(from);
                self.pre_vote_won(now_ms, fx);
            }
            Role::Candidate { votes } if !request.pre => {
                votes.insert(from);
                self.election_won(now_ms, fx);
            }
            _ => {}
        }
    }
}
