//! High watermarks and records by replica, incarnation and leader epoch: within these a high
//! watermark never falls, and nothing that was shown lies above a later one.

/// What replies of one reign have shown.
#[derive(Debug, Clone, Copy)]
struct Reign {
    replica: i32,
    incarnation: u64,
    leader_epoch: i32,
    /// Highest watermark and highest offset shown by replies that have ended.
    hw: i64,
    shown: i64,
    /// The same, before the last few replies that were open beside others.
    steps: [(u64, i64, i64); STEPS],
    used: usize,
}

/// Replies that may be open at once and still be told apart exactly.
const STEPS: usize = 64;

/// All reigns of a partition, the newest last.
#[derive(Debug, Default)]
pub(super) struct Reigns {
    reigns: Vec<Reign>,
}

/// Reigns that are remembered; a reply of one that was forgotten starts anew.
const MAX_REIGNS: usize = 64;

/// One reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply {
    pub replica: i32,
    pub incarnation: u64,
    pub leader_epoch: i32,
    pub hw: i64,
    /// Last offset that it shows, or -1.
    pub last: i64,
    /// Stamps of its begin and end, in the stream's order.
    pub began: u64,
    pub ended: u64,
}

/// How a reply contradicts an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contradiction {
    /// Its watermark is lower than this one.
    HwFell(i64),
    /// An earlier reply had shown this offset, which is not below its watermark.
    ShownAbove(i64),
}

impl Reigns {
    /// Compares a reply with all that had ended before it began, and notes it.
    pub(super) fn reply(&mut self, reply: Reply) -> Option<Contradiction> {
        if reply.replica < 0 || reply.leader_epoch < 0 || reply.hw < 0 {
            return None;
        }
        let same = |reign: &Reign| {
            (reign.replica, reign.incarnation, reign.leader_epoch)
                == (reply.replica, reply.incarnation, reply.leader_epoch)
        };
        let Some(at) = self.reigns.iter().rposition(same) else {
            if self.reigns.len() == MAX_REIGNS {
                self.reigns.remove(0);
            }
            self.reigns.push(Reign::new(reply));
            return None;
        };
        let reign = &mut self.reigns[at];
        let (hw, shown) = reign.before(reply.began);
        reign.note(reply);
        if hw > reply.hw {
            return Some(Contradiction::HwFell(hw));
        }
        (shown >= reply.hw).then_some(Contradiction::ShownAbove(shown))
    }
}

impl Reign {
    fn new(reply: Reply) -> Self {
        let mut reign = Self {
            replica: reply.replica,
            incarnation: reply.incarnation,
            leader_epoch: reply.leader_epoch,
            hw: -1,
            shown: -1,
            steps: [(0, -1, -1); STEPS],
            used: 0,
        };
        reign.note(reply);
        reign
    }

    /// The greatest watermark and offset of replies that had ended before `began`. Where more
    /// replies ended meanwhile than are remembered, less than that, which accuses nobody wrongly.
    fn before(&self, began: u64) -> (i64, i64) {
        let steps = &self.steps[..self.used];
        match steps.iter().rev().find(|step| step.0 < began) {
            Some(&(_, hw, shown)) => (hw, shown),
            None => (-1, -1),
        }
    }

    fn note(&mut self, reply: Reply) {
        if reply.hw <= self.hw && reply.last <= self.shown && self.used > 0 {
            return;
        }
        self.hw = self.hw.max(reply.hw);
        self.shown = self.shown.max(reply.last);
        if self.used == STEPS {
            self.steps.copy_within(STEPS / 2.., 0);
            self.used = STEPS / 2;
        }
        self.steps[self.used] = (reply.ended, self.hw, self.shown);
        self.used += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(hw: i64, last: i64, began: u64, ended: u64) -> Reply {
        Reply {
            replica: 1,
            incarnation: 1,
            leader_epoch: 0,
            hw,
            last,
            began,
            ended,
        }
    }

    #[test]
    fn only_replies_that_had_ended_before_are_contradicted() {
        let mut reigns = Reigns::default();
        assert_eq!(reigns.reply(reply(10, 9, 1, 5)), None);
        assert_eq!(
            reigns.reply(reply(8, 7, 2, 6)),
            None,
            "open at the same time"
        );
        assert_eq!(
            reigns.reply(reply(9, 8, 7, 8)),
            Some(Contradiction::HwFell(10))
        );
        assert_eq!(
            reigns.reply(reply(10, 14, 9, 10)),
            None,
            "sampled before it read"
        );
        assert_eq!(
            reigns.reply(reply(12, 11, 11, 12)),
            Some(Contradiction::ShownAbove(14))
        );
    }
}
