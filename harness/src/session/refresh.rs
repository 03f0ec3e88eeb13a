//! Keeping each side's metadata fresh: at a steady pace, and sooner when a
//! client of that side was turned away.

use super::messages::Command;
use super::metadata::{REFRESH_EVERY_NS, REFRESH_GAP_NS};
use super::timers::TimerKind;
use super::{Out, Reply, Session};
use crate::clients::{Request, Response};

const METADATA_TIMEOUT_MS: u64 = 500;

impl Session {
    fn metadata_timer(&self, side: usize) -> TimerKind {
        TimerKind::Client(self.workers.len() + side)
    }

    /// Asks one broker of a side for metadata.
    pub(super) fn refresh(&mut self, side: usize, out: Out<'_>) {
        let timer = self.metadata_timer(side);
        let now_ns = self.now_ns;
        let metadata = &mut self.sides[side];
        if metadata.in_flight || self.phase.is_over() {
            return;
        }
        metadata.in_flight = true;
        metadata.asked_ns = now_ns;
        let node = metadata.next_node();
        let client = self.workers.len() + side;
        let request = Request::Metadata;
        out.push(Command::Send {
            client,
            node,
            request,
            timeout_ms: METADATA_TIMEOUT_MS,
        });
        self.timers.clear(timer);
    }

    pub(super) fn metadata_reply(&mut self, side: usize, result: Reply, _out: Out<'_>) {
        let metadata = &mut self.sides[side];
        metadata.in_flight = false;
        let soon = match result {
            Ok(Response::Metadata { partitions }) => {
                metadata.learn(partitions);
                !metadata.knows_all_leaders(self.config.topic.partitions)
            }
            _ => true,
        };
        let asked = metadata.asked_ns;
        let wait = if soon {
            REFRESH_GAP_NS
        } else {
            REFRESH_EVERY_NS
        };
        self.timers
            .set(self.metadata_timer(side), (asked + wait).max(self.now_ns));
    }

    /// A client was turned away: its side should look again soon.
    pub(super) fn want_refresh(&mut self, side: usize) {
        let metadata = &self.sides[side];
        if !metadata.in_flight {
            let at = (metadata.asked_ns + REFRESH_GAP_NS).max(self.now_ns);
            self.timers.set(self.metadata_timer(side), at);
        }
    }
}
