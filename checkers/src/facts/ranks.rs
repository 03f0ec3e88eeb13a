//! Positions of integers in a table, without a hash map: direct where they lie
//! close together, by binary search where they do not.
//!
//! Memory follows the number of integers, never their size.

use super::records::widen;

/// Maps a fixed set of integers to `0..len`, in ascending order.
#[derive(Debug, Clone)]
pub(crate) enum Ranks {
    /// Every integer of a range has a place, used or not.
    Dense { first: i64, len: usize },
    /// Sorted and without repeats.
    Sparse(Vec<i64>),
}

impl Ranks {
    /// No places at all.
    pub(crate) fn none() -> Self {
        Ranks::Sparse(Vec::new())
    }

    /// Ranks of all `numbers`, repeats allowed.
    pub(crate) fn new(numbers: impl Iterator<Item = i64> + Clone) -> Self {
        let mut span: Option<(i64, i64)> = None;
        let mut count = 0_u64;
        for number in numbers.clone() {
            widen(&mut span, number);
            count += 1;
        }
        let Some((first, last)) = span else {
            return Self::none();
        };
        let room = 16 * count + 1024;
        let distance = last.abs_diff(first);
        if distance < room {
            // `distance` is below `room`, a small multiple of what is in memory.
            return Ranks::Dense {
                first,
                len: distance as usize + 1,
            };
        }
        let mut numbers: Vec<i64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ranks::Sparse(numbers)
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Ranks::Dense { len, .. } => *len,
            Ranks::Sparse(numbers) => numbers.len(),
        }
    }

    /// The place of `number`, if it has one.
    #[inline]
    pub(crate) fn of(&self, number: i64) -> Option<usize> {
        match self {
            Ranks::Dense { first, len } => {
                let place = number.wrapping_sub(*first) as u64;
                (number >= *first && place < *len as u64).then_some(place as usize)
            }
            Ranks::Sparse(numbers) => numbers.binary_search(&number).ok(),
        }
    }

    /// The first place whose number is not below `number`; `len` if there is
    /// none.
    pub(crate) fn at_or_after(&self, number: i64) -> usize {
        match self {
            Ranks::Dense { first, len } if number > *first => {
                usize::try_from(number.abs_diff(*first)).map_or(*len, |place| place.min(*len))
            }
            Ranks::Dense { .. } => 0,
            Ranks::Sparse(numbers) => numbers.partition_point(|&other| other < number),
        }
    }

    /// The number at `place`, which must be below `len`.
    pub(crate) fn number(&self, place: usize) -> i64 {
        match self {
            Ranks::Dense { first, .. } => first.wrapping_add(place as i64),
            Ranks::Sparse(numbers) => numbers[place],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn close_and_far_numbers_get_the_same_order() {
        for numbers in [vec![5, 3, 9, 3], vec![i64::MIN, 0, i64::MAX, 7]] {
            let ranks = Ranks::new(numbers.iter().copied());
            for &number in &numbers {
                let place = ranks.of(number).unwrap();
                assert_eq!(ranks.number(place), number);
                assert_eq!(ranks.at_or_after(number), place);
            }
            assert_eq!(ranks.at_or_after(i64::MIN), 0);
        }
        assert_eq!(Ranks::none().len(), 0);
        assert_eq!(Ranks::new([1, 9].into_iter()).of(10), None);
        assert_eq!(Ranks::new([1, 9].into_iter()).of(i64::MIN), None);
        assert_eq!(Ranks::new([1, 9].into_iter()).at_or_after(i64::MAX), 9);
    }
}
