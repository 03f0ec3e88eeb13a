//! How far each replica's final log was read, and readers that pass through closed blocks.

use super::offsets::{BLOCK, Offsets, SEED, mix};

/// One replica's final log so far.
#[derive(Debug, Clone)]
pub(super) struct FinalLog {
    pub replica: i32,
    pub start: i64,
    pub next: i64,
    /// It began above an offset that it had not covered.
    pub stepped_over: bool,
}

impl FinalLog {
    pub(super) fn new(replica: i32, from: i64) -> Self {
        Self {
            replica,
            start: from,
            next: from,
            stepped_over: false,
        }
    }

    /// The next read of the replica begins here; one that begins again replaces what it repeats.
    pub(super) fn begin(&mut self, from: i64) {
        if from > self.next {
            self.stepped_over = true;
        } else if from < self.next && from <= self.start {
            *self = Self::new(self.replica, from);
        }
    }
}

/// A reader within blocks of which only fingerprints are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    next: i64,
    hash: u64,
}

/// The records of a closed block are not those that were seen before, or cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// The whole block was read and differs.
    Differs,
    /// The reader does not go through the whole block.
    Partial,
}

impl Cursor {
    /// A reader that begins here.
    pub(super) fn at(offset: i64) -> Self {
        Self {
            next: offset,
            hash: SEED,
        }
    }

    /// Whether a read from `from` on continues it.
    pub(super) fn continues(&self, from: i64) -> bool {
        self.next == from
    }

    /// Whether nothing is left half compared.
    pub(super) fn is_whole(&self, offsets: &Offsets) -> bool {
        self.next.rem_euclid(BLOCK) == 0 || self.next >= offsets.open_from()
    }

    /// One record in a closed block. Offsets that are passed over hold no record; the fingerprint
    /// tells where one did.
    pub(super) fn step(
        &mut self,
        offsets: &Offsets,
        offset: i64,
        value: i64,
    ) -> Result<(), Mismatch> {
        self.skip_to(offsets, offset)?;
        self.hash = mix(self.hash, value);
        self.next = offset + 1;
        if self.next.rem_euclid(BLOCK) == 0 {
            return self.end_block(offsets, offset);
        }
        Ok(())
    }

    /// The reader leaves closed blocks for open ones, or for others.
    pub(super) fn skip_to(&mut self, offsets: &Offsets, offset: i64) -> Result<(), Mismatch> {
        while self.next.div_euclid(BLOCK) < offset.div_euclid(BLOCK) {
            if self.next >= offsets.open_from() {
                break;
            }
            self.end_block(offsets, self.next)?;
            self.next = (self.next.div_euclid(BLOCK) + 1) * BLOCK;
        }
        Ok(())
    }

    fn end_block(&mut self, offsets: &Offsets, within: i64) -> Result<(), Mismatch> {
        let hash = std::mem::replace(&mut self.hash, SEED);
        match offsets.fingerprint(within) {
            Some(fingerprint) if fingerprint == hash => Ok(()),
            Some(_) => Err(Mismatch::Differs),
            None => Err(Mismatch::Partial),
        }
    }
}
