//! The session's wishes to be woken, in order of time. Each kind of timer of
//! each owner exists at most once.

use std::collections::{BTreeMap, BTreeSet};

use super::messages::ClientId;

/// What is to be done when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimerKind {
    Generate,
    /// A client's rest, retry or refresh.
    Client(ClientId),
    Fault,
    Heal(u64),
    Phase,
}

/// All timers that are set.
#[derive(Debug, Default)]
pub struct Timers {
    by_time: BTreeSet<(u64, TimerKind)>,
    by_kind: BTreeMap<TimerKind, u64>,
    told: Option<u64>,
}

impl Timers {
    pub fn set(&mut self, kind: TimerKind, at_ns: u64) {
        if let Some(old) = self.by_kind.insert(kind, at_ns) {
            self.by_time.remove(&(old, kind));
        }
        self.by_time.insert((at_ns, kind));
    }

    pub fn clear(&mut self, kind: TimerKind) {
        if let Some(old) = self.by_kind.remove(&kind) {
            self.by_time.remove(&(old, kind));
        }
    }

    /// The next timer that is due.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<TimerKind> {
        let (at, kind) = *self.by_time.first()?;
        if at > now_ns {
            return None;
        }
        self.clear(kind);
        Some(kind)
    }

    /// The time to be woken at, when it is another one than was told before.
    pub fn news(&mut self) -> Option<u64> {
        let next = self.by_time.first().map(|(at, _)| *at);
        if next == self.told {
            return None;
        }
        self.told = next;
        next
    }

    /// The shell has woken the session: what was told is used up.
    pub fn woken(&mut self) {
        self.told = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_due_in_order_of_time_and_once() {
        let mut timers = Timers::default();
        timers.set(TimerKind::Fault, 20);
        timers.set(TimerKind::Client(1), 10);
        timers.set(TimerKind::Client(1), 15);
        assert_eq!(timers.news(), Some(15));
        assert_eq!(timers.news(), None);
        assert_eq!(timers.pop_due(30), Some(TimerKind::Client(1)));
        assert_eq!(timers.pop_due(30), Some(TimerKind::Fault));
        assert_eq!(timers.pop_due(30), None);
    }
}
