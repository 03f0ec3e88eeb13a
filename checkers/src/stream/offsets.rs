//! What stands at each offset of a partition, for as long as it may be asked for.
//!
//! Offsets lie in blocks. A block that is complete, read and far behind the newest one is closed: only
//! a fingerprint of it stays, by which a reader that goes through the whole of it is still compared.
//! So memory follows what is open, not what has passed.

use std::collections::VecDeque;

/// Offsets in a block.
pub(super) const BLOCK: i64 = 4096;
/// Complete blocks that stay open behind the newest one.
const KEPT_BLOCKS: usize = 64;
/// The widest jump of an offset that is followed, in blocks.
const MAX_JUMP_BLOCKS: i64 = 64;

/// Nothing is known of the offset. No record has this value: it lies in the range of words, and is
/// none.
const EMPTY: i64 = 0x87ff_ffff_ffff_ffff_u64 as i64;
/// A read passed over the offset: no record stands there.
const ABSENT: i64 = 0x87ff_ffff_ffff_fffe_u64 as i64;

const WORDS: usize = BLOCK as usize / 64;

struct Block {
    values: Box<[i64]>,
    /// Acknowledged and not read yet.
    unread: [u64; WORDS],
    /// Offsets of which something is known.
    known: u32,
    unread_count: u32,
}

impl Block {
    fn new() -> Self {
        Self {
            values: vec![EMPTY; BLOCK as usize].into_boxed_slice(),
            unread: [0; WORDS],
            known: 0,
            unread_count: 0,
        }
    }

    fn clear(mut self) -> Self {
        self.values.fill(EMPTY);
        self.unread = [0; WORDS];
        (self.known, self.unread_count) = (0, 0);
        self
    }

    fn is_complete(&self) -> bool {
        self.known == BLOCK as u32 && self.unread_count == 0
    }

    fn fingerprint(&self) -> u64 {
        let records = self.values.iter().filter(|&&value| value != ABSENT);
        records.fold(SEED, |hash, &value| mix(hash, value))
    }
}

/// Where fingerprints begin.
pub(super) const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Adds a record's value to a fingerprint; the order counts.
#[inline]
pub(super) fn mix(hash: u64, value: i64) -> u64 {
    let mixed = (hash ^ value as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 32)
}

/// What is known of one offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Nothing yet.
    Empty,
    /// No record stands there.
    Absent,
    /// This record.
    Holds(i64),
    /// Only a fingerprint of its block is left.
    Closed,
}

/// One partition's offsets.
#[derive(Default)]
pub(super) struct Offsets {
    /// Number of the first block that is kept or closed.
    first: Option<i64>,
    closed: Vec<u64>,
    open: VecDeque<Block>,
    /// Room of closed blocks for new ones.
    spare: Vec<Block>,
}

/// The offset lies too far from the others to be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooFar;

impl Offsets {
    fn block_of(offset: i64) -> i64 {
        offset.div_euclid(BLOCK)
    }

    /// First offset that is not closed.
    pub(super) fn open_from(&self) -> i64 {
        let first = self.first.unwrap_or(0);
        (first + self.closed.len() as i64).saturating_mul(BLOCK)
    }

    /// First offset of all that are known, as far as blocks say.
    pub(super) fn start(&self) -> i64 {
        self.first.unwrap_or(0).saturating_mul(BLOCK)
    }

    #[inline]
    fn place(&self, offset: i64) -> Option<(usize, usize)> {
        let block = Self::block_of(offset) - self.first? - self.closed.len() as i64;
        let block = usize::try_from(block).ok()?;
        (block < self.open.len()).then_some((block, offset.rem_euclid(BLOCK) as usize))
    }

    #[inline]
    pub(super) fn get(&self, offset: i64) -> Slot {
        match self.place(offset) {
            Some((block, at)) => match self.open[block].values[at] {
                EMPTY => Slot::Empty,
                ABSENT => Slot::Absent,
                value => Slot::Holds(value),
            },
            None if self.first.is_some() && offset < self.open_from() => Slot::Closed,
            None => Slot::Empty,
        }
    }

    /// The run of open offsets of one block from `offset` on, to be compared in one go.
    #[inline]
    pub(super) fn run(&self, offset: i64) -> &[i64] {
        match self.place(offset) {
            Some((block, at)) => &self.open[block].values[at..],
            None => &[],
        }
    }

    /// Notes a record at an empty offset.
    pub(super) fn hold(&mut self, offset: i64, value: i64, read: bool) -> Result<(), TooFar> {
        let (block, at) = self.make_room(offset)?;
        let block = &mut self.open[block];
        block.values[at] = value;
        block.known += 1;
        if !read {
            block.unread[at / 64] |= 1 << (at % 64);
            block.unread_count += 1;
        }
        Ok(())
    }

    /// Notes that no record stands at an empty offset.
    pub(super) fn pass_over(&mut self, offset: i64) -> Result<(), TooFar> {
        let (block, at) = self.make_room(offset)?;
        self.open[block].values[at] = ABSENT;
        self.open[block].known += 1;
        Ok(())
    }

    /// Notes that records from `offset` on, all in one block, were read; how many had not been.
    #[inline]
    pub(super) fn note_read(&mut self, offset: i64, count: usize) -> u64 {
        let Some((block, at)) = self.place(offset) else {
            return 0;
        };
        let block = &mut self.open[block];
        if block.unread_count == 0 {
            return 0;
        }
        let end = (at + count).min(BLOCK as usize);
        let (mut fresh, mut at) = (0, at);
        while at < end {
            let (word, low) = (at / 64, at % 64);
            let high = (end - word * 64).min(64);
            // Bits low..high of the word.
            let mask = (u64::MAX >> (64 - (high - low))) << low;
            fresh += (block.unread[word] & mask).count_ones();
            block.unread[word] &= !mask;
            at = (word + 1) * 64;
        }
        block.unread_count -= fresh;
        u64::from(fresh)
    }

    fn make_room(&mut self, offset: i64) -> Result<(usize, usize), TooFar> {
        let block = Self::block_of(offset);
        let first = *self.first.get_or_insert(block);
        let next = first + (self.closed.len() + self.open.len()) as i64;
        if block < first {
            self.grow_down(block, first)?;
        } else if block >= next {
            if block - next > MAX_JUMP_BLOCKS {
                return Err(TooFar);
            }
            for _ in next..=block {
                let block = self.spare.pop().map_or_else(Block::new, Block::clear);
                self.open.push_back(block);
            }
            self.close_old();
        }
        self.place(offset).ok_or(TooFar)
    }

    /// A record below everything that is known; nothing may be closed yet.
    fn grow_down(&mut self, block: i64, first: i64) -> Result<(), TooFar> {
        if !self.closed.is_empty() || first - block > MAX_JUMP_BLOCKS {
            return Err(TooFar);
        }
        for _ in block..first {
            self.open.push_front(Block::new());
        }
        self.first = Some(block);
        Ok(())
    }

    fn close_old(&mut self) {
        while self.open.len() > KEPT_BLOCKS {
            match self.open.front() {
                Some(block) if block.is_complete() => {
                    self.closed.push(block.fingerprint());
                    self.spare.extend(self.open.pop_front());
                }
                _ => return,
            }
        }
    }

    /// The fingerprint of the closed block that `offset` lies in.
    pub(super) fn fingerprint(&self, offset: i64) -> Option<u64> {
        let block = Self::block_of(offset) - self.first?;
        self.closed.get(usize::try_from(block).ok()?).copied()
    }

    /// Acknowledged records that nobody read.
    pub(super) fn unread(&self) -> u64 {
        self.open
            .iter()
            .map(|block| u64::from(block.unread_count))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_blocks_are_closed_to_a_fingerprint_and_others_stay() {
        let mut offsets = Offsets::default();
        let blocks = KEPT_BLOCKS as i64 + 10;
        for offset in 0..blocks * BLOCK {
            offsets
                .hold(offset, offset * 2, offset != 5 * BLOCK + 1)
                .unwrap();
        }
        assert_eq!(
            offsets.open_from(),
            5 * BLOCK,
            "the unread record holds its block open"
        );
        assert_eq!(offsets.get(17), Slot::Closed);
        let whole = (0..BLOCK).fold(SEED, |hash, offset| mix(hash, offset * 2));
        assert_eq!(offsets.fingerprint(17), Some(whole));
        assert_eq!(offsets.note_read(5 * BLOCK, 3), 1);
        assert_eq!(offsets.unread(), 0);
        assert_eq!(offsets.get(blocks * BLOCK), Slot::Empty);
        assert_eq!(offsets.hold(i64::MAX, 1, true), Err(TooFar));
    }
}
