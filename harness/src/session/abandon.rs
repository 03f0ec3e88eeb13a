//! The end of a run that cannot go on: no answer will come any more, so every
//! op that is open ends with what is known of it. A history without them would
//! be judged the same, but nobody could tell it from one that was cut short.

use plimsoll_checkers::history::Outcome;

use super::sends::Ended;
use super::worker::State;
use super::{Out, Session};

const WHY: &str = "the test bed failed before the answer came";

impl Session {
    /// Ends all open ops of clients; nothing may be stepped afterwards.
    pub fn abandon(&mut self, now_ns: u64, out: Out<'_>) {
        self.now_ns = now_ns;
        for worker in 0..self.workers.len() {
            match std::mem::replace(&mut self.workers[worker].state, State::Resting) {
                State::Sending(op) => {
                    let unknown = Ended {
                        outcome: Outcome::Info,
                        offset: None,
                        error: Some(WHY.to_owned()),
                        retry: false,
                    };
                    self.finish_send(worker, &op, unknown, out);
                }
                State::BeforeRetry(op) => self.give_up_retry(worker, &op, out),
                State::Polling(op) => self.fail_poll(worker, Some(op.node), WHY.to_owned(), out),
                State::Free | State::Resting | State::Identifying => {}
            }
        }
    }
}
