//! One op from its invoke to its completion, as positions in the history.

use plimsoll_checkers::history::{History, Op, OpType};

/// `to` is missing while nothing answered; a line of the nemesis is `from` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub from: usize,
    pub to: Option<usize>,
}

impl Span {
    /// The op whose invoke or completion stands at `position`.
    pub fn at(history: &History, position: usize) -> Self {
        match history.partner(position) {
            Some(invoke) if invoke < position => Self {
                from: invoke,
                to: Some(position),
            },
            to => Self { from: position, to },
        }
    }

    /// The op as it was invoked.
    pub fn invoke<'h>(&self, history: &'h History) -> &'h Op {
        &history.ops()[self.from]
    }

    /// The op as it ended.
    pub fn completion<'h>(&self, history: &'h History) -> Option<&'h Op> {
        self.to.map(|to| &history.ops()[to])
    }

    /// How it ended; an op without an answer is as unknown as one that says so.
    pub fn outcome(&self, history: &History) -> OpType {
        self.completion(history).map_or(OpType::Info, |op| op.kind)
    }
}
