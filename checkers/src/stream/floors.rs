//! What had happened in a partition when an op began: copied then, compared when it ends.

/// Keys and offsets that later ops must not fall below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Floors {
    /// Greatest offset that had been acknowledged or read; -1 for none.
    pub reached: i64,
    /// Greatest offset that had been acknowledged; -1 for none.
    pub acked: i64,
    /// Greatest key with reads trusted to their high watermarks (`consistency`).
    pub key: i64,
}

impl Floors {
    pub(super) const NONE: Floors = Floors {
        reached: -1,
        acked: -1,
        key: 0,
    };
}

/// Offsets up to this have keys that do not overflow.
pub(super) const MAX_OFFSET: i64 = i64::MAX / 4;
