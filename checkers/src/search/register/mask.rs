//! Sets of slots of open ops as machine words.

/// A set of at most `64 * W` slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::search) struct Mask<const W: usize>(pub [u64; W]);

impl<const W: usize> Mask<W> {
    /// No slot.
    pub const EMPTY: Self = Self([0; W]);

    /// Only this slot.
    #[inline]
    pub fn of(slot: u32) -> Self {
        let mut words = [0; W];
        words[(slot / 64) as usize] = 1 << (slot % 64);
        Self(words)
    }

    #[inline]
    fn zip(self, other: Self, join: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = [0; W];
        for (at, word) in words.iter_mut().enumerate() {
            *word = join(self.0[at], other.0[at]);
        }
        Self(words)
    }

    #[inline]
    pub fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline]
    pub fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline]
    pub fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    #[inline]
    pub fn without(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    #[inline]
    pub fn has(self, slot: u32) -> bool {
        self.0[(slot / 64) as usize] >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == [0; W]
    }

    /// How many slots.
    #[inline]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Takes the lowest slot out.
    #[inline]
    pub fn pop(&mut self) -> Option<u32> {
        for (at, word) in self.0.iter_mut().enumerate() {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(at as u32 * 64 + bit);
            }
        }
        None
    }
}
