//! Replication of entries, commitment, and the leader's watch over its quorum (Raft 5.3, 5.4.2).

use super::{ENTRIES_PER_MESSAGE_MAX, Progress, Raft, RaftEffect, Role, Token};
use crate::core::ids::NodeId;
use crate::core::messages::peer::{AppendRequest, AppendResponse, Entry};

impl Raft {
    pub(super) fn tick_leader(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        if self.has_lost_quorum(now_ms) {
            let term = self.hard.term;
            self.become_follower(term, None, fx);
            self.reset_election_timer(now_ms);
            return;
        }
        self.replicate(now_ms, fx);
    }

    fn has_lost_quorum(&self, now_ms: u64) -> bool {
        let Role::Leader { peers } = &self.role else {
            return false;
        };
        let timeout = self.timers.election_timeout_ms;
        let heard = peers
            .values()
            .filter(|peer| now_ms < peer.last_heard_ms + timeout)
            .count();
        heard + 1 < self.majority()
    }

    /// Sends to each voter what it lacks, or a heartbeat where one is due.
    pub(super) fn replicate(&mut self, now_ms: u64, fx: &mut Vec<RaftEffect>) {
        let (term, leader, commit) = (self.hard.term, self.id, self.commit);
        let heartbeat_ms = self.timers.heartbeat_ms;
        let Role::Leader { peers } = &mut self.role else {
            return;
        };
        for (id, peer) in peers {
            let has_news = self.log.last_index() >= peer.next || peer.told_commit < commit;
            let due = now_ms >= peer.last_sent_ms + heartbeat_ms;
            if peer.in_flight || !(has_news || due) {
                continue;
            }
            let prev_index = peer.next - 1;
            let request = AppendRequest {
                term,
                leader,
                prev_index,
                prev_term: self.log.term_at(prev_index).unwrap_or(0),
                entries: self.log.after(prev_index, ENTRIES_PER_MESSAGE_MAX).to_vec(),
                commit,
            };
            peer.in_flight = true;
            peer.told_commit = commit;
            peer.last_sent_ms = now_ms;
            fx.push(RaftEffect::SendAppend(*id, request));
        }
    }

    /// A leader sends entries.
    pub fn on_append_request(
        &mut self,
        token: Token,
        request: AppendRequest,
        now_ms: u64,
        fx: &mut Vec<RaftEffect>,
    ) {
        let foreign = !self.voters.contains(&request.leader);
        if foreign || request.term < self.hard.term || self.leads_term(request.term) {
            let response = self.append_response(false, self.log.last_index());
            self.gate(0, RaftEffect::ReplyAppend(token, response), fx);
            return;
        }
        self.become_follower(request.term, Some(request.leader), fx);
        self.heard_from_leader_ms = now_ms;
        self.reset_election_timer(now_ms);
        if self.log.term_at(request.prev_index) != Some(request.prev_term) {
            let hint = self.retry_hint(request.prev_index);
            let response = self.append_response(false, hint);
            self.gate(0, RaftEffect::ReplyAppend(token, response), fx);
            return;
        }
        let matched = request.prev_index + request.entries.len() as u64;
        self.take_entries(request.prev_index, request.entries, fx);
        let response = self.append_response(true, matched);
        self.gate(matched, RaftEffect::ReplyAppend(token, response), fx);
        self.commit_up_to(request.commit.min(matched), fx);
    }

    /// Two leaders of one term cannot be; a message that claims it is not obeyed.
    fn leads_term(&self, term: u64) -> bool {
        self.is_leader() && self.hard.term == term
    }

    fn append_response(&self, success: bool, index: u64) -> AppendResponse {
        AppendResponse {
            term: self.hard.term,
            success,
            index,
        }
    }

    /// Skips back over the whole term that conflicts, one round a term instead of one an entry.
    fn retry_hint(&self, prev_index: u64) -> u64 {
        let Some(term) = self.log.term_at(prev_index) else {
            return self.log.last_index();
        };
        let mut index = prev_index;
        while index > self.commit && self.log.term_at(index) == Some(term) {
            index -= 1;
        }
        index
    }

    fn take_entries(&mut self, prev_index: u64, entries: Vec<Entry>, fx: &mut Vec<RaftEffect>) {
        let mut index = prev_index;
        let mut fresh = entries.into_iter().peekable();
        while let Some(entry) = fresh.peek() {
            match self.log.term_at(index + 1) {
                Some(term) if term == entry.term => {
                    index += 1;
                    fresh.next();
                }
                Some(_) => {
                    self.cut_from(index + 1, fx);
                    break;
                }
                None => break,
            }
        }
        let fresh: Vec<Entry> = fresh.collect();
        if !fresh.is_empty() {
            self.append_to_disk(fresh, fx);
        }
    }

    fn cut_from(&mut self, from: u64, fx: &mut Vec<RaftEffect>) {
        assert!(from > self.commit, "a committed entry is never cut");
        self.log.truncate_from(from);
        self.generation += 1;
        self.durable = self.durable.min(from - 1);
        fx.push(RaftEffect::Truncate {
            from,
            generation: self.generation,
        });
    }

    /// A voter has answered an append; `entries` is how many it was sent.
    pub fn on_append_response(
        &mut self,
        from: NodeId,
        term_sent: u64,
        response: &AppendResponse,
        now_ms: u64,
        fx: &mut Vec<RaftEffect>,
    ) {
        if response.term > self.hard.term {
            self.become_follower(response.term, None, fx);
            return;
        }
        let last = self.log.last_index();
        if term_sent != self.hard.term {
            return;
        }
        let Some(peer) = self.progress(from) else {
            return;
        };
        peer.in_flight = false;
        peer.last_heard_ms = now_ms;
        if response.success {
            peer.matched = peer.matched.max(response.index.min(last));
            peer.next = peer.matched + 1;
        } else {
            peer.next = (response.index + 1)
                .min(peer.next.saturating_sub(1))
                .max(peer.matched + 1);
        }
        self.advance_commit(fx);
        self.replicate(now_ms, fx);
    }

    /// A message to a voter got no answer; it is sent again at the next heartbeat.
    pub fn on_append_lost(&mut self, to: NodeId, term_sent: u64) {
        if term_sent != self.hard.term {
            return;
        }
        if let Some(peer) = self.progress(to) {
            peer.in_flight = false;
            peer.told_commit = 0;
        }
    }

    fn progress(&mut self, of: NodeId) -> Option<&mut Progress> {
        match &mut self.role {
            Role::Leader { peers } => peers.get_mut(&of),
            _ => None,
        }
    }

    /// The largest index that a majority has on disk, if this term wrote it.
    pub(super) fn advance_commit(&mut self, fx: &mut Vec<RaftEffect>) {
        let Role::Leader { peers } = &self.role else {
            return;
        };
        let mut matched: Vec<u64> = peers.values().map(|peer| peer.matched).collect();
        matched.push(self.durable);
        matched.sort_unstable_by(|a, b| b.cmp(a));
        let candidate = matched[self.majority() - 1];
        if self.log.term_at(candidate) == Some(self.hard.term) {
            self.commit_up_to(candidate, fx);
        }
    }

    fn commit_up_to(&mut self, index: u64, fx: &mut Vec<RaftEffect>) {
        if index > self.commit {
            self.commit = index;
            fx.push(RaftEffect::Committed(index));
        }
    }
}
