//! Why no order exists, where every value is written once.

/// Why no order exists: the ops that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// `read` saw a value that no op wrote.
    Unwritten {
        /// The observer.
        read: u32,
    },
    /// Two ops replaced the one occurrence of a value.
    TwoSuccessors {
        /// One.
        first: u32,
        /// Other.
        second: u32,
    },
    /// Read-modify-writes that each need another's value first.
    Cycle {
        /// The ops, each needing the value of the next.
        ops: Vec<u32>,
    },
    /// By its value `early` comes first, but `late` ended before it began.
    Order {
        /// First by value.
        early: u32,
        /// First in time.
        late: u32,
    },
    /// Two blocks that each must precede the other.
    Zones {
        /// First end and last begin of one block.
        one: (u32, u32),
        /// First end and last begin of the other.
        other: (u32, u32),
    },
    /// The first value was seen after another op had replaced it.
    InitialReturned {
        /// Observer of the first value, or of one that grew from it.
        read: u32,
        /// Op of another block that ended before.
        before: u32,
    },
}

impl Flaw {
    /// The ops that show it.
    pub fn ops(&self) -> Vec<u32> {
        match self {
            Flaw::Unwritten { read } => vec![*read],
            Flaw::TwoSuccessors { first, second } => vec![*first, *second],
            Flaw::Cycle { ops } => ops.clone(),
            Flaw::Order { early, late } => vec![*early, *late],
            Flaw::Zones { one, other } => vec![one.0, one.1, other.0, other.1],
            Flaw::InitialReturned { read, before } => vec![*read, *before],
        }
    }

    /// The same with other numbers for the ops.
    pub(in super::super) fn renamed(&self, name: impl Fn(u32) -> u32) -> Self {
        match self {
            Flaw::Unwritten { read } => Flaw::Unwritten { read: name(*read) },
            Flaw::TwoSuccessors { first, second } => Flaw::TwoSuccessors {
                first: name(*first),
                second: name(*second),
            },
            Flaw::Cycle { ops } => Flaw::Cycle {
                ops: ops.iter().map(|&op| name(op)).collect(),
            },
            Flaw::Order { early, late } => Flaw::Order {
                early: name(*early),
                late: name(*late),
            },
            Flaw::Zones { one, other } => Flaw::Zones {
                one: (name(one.0), name(one.1)),
                other: (name(other.0), name(other.1)),
            },
            Flaw::InitialReturned { read, before } => Flaw::InitialReturned {
                read: name(*read),
                before: name(*before),
            },
        }
    }
}
