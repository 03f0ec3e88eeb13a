//! What the two walks have in common.

/// Where a walk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Its budget ran out.
    Stopped,
    /// There is an order that explains every op.
    Explained,
    /// There is none; the earliest op that no order lets end.
    Refuted(u32),
}

/// A search that can be interrupted.
pub(super) trait Walk {
    /// Goes on until `limit` steps in all.
    fn walk(&mut self, limit: u64) -> Progress;
    /// Steps so far.
    fn steps(&self) -> u64;
    /// Bytes held.
    fn bytes(&self) -> u64;
}
