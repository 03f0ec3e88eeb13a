//! A number over time in bounded memory: first, last and largest exactly, the
//! median from every nth value once there are many.

use crate::report::numbers::median;

const SAMPLES_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub struct Series {
    first: Option<u64>,
    last: u64,
    max: u64,
    seen: u64,
    stride: u64,
    samples: Vec<u64>,
}

impl Default for Series {
    fn default() -> Series {
        Series {
            first: None,
            last: 0,
            max: 0,
            seen: 0,
            stride: 1,
            samples: Vec::new(),
        }
    }
}

/// What is shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub first: u64,
    pub median: u64,
    pub last: u64,
    pub max: u64,
}

impl Series {
    pub fn add(&mut self, value: u64) {
        self.first.get_or_insert(value);
        self.last = value;
        self.max = self.max.max(value);
        if self.seen.is_multiple_of(self.stride) {
            self.samples.push(value);
        }
        self.seen += 1;
        if self.samples.len() > SAMPLES_MAX {
            self.stride *= 2;
            let mut nth = 0;
            self.samples.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
        }
    }

    pub fn shown(&self) -> Option<Shown> {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        Some(Shown {
            first: self.first?,
            median: median(&sorted)?,
            last: self.last,
            max: self.max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_is_their_mean() {
        let mut series = Series::default();
        series.add(10);
        series.add(20);
        assert_eq!(series.shown().map(|shown| shown.median), Some(15));
    }

    #[test]
    fn a_long_series_keeps_its_ends_its_largest_and_about_its_median() {
        let mut series = Series::default();
        assert_eq!(series.shown(), None);
        for value in 0..100_000 {
            series.add(value);
        }
        let shown = series.shown().expect("values");
        assert_eq!((shown.first, shown.last, shown.max), (0, 99_999, 99_999));
        assert!((48_000..52_000).contains(&shown.median), "{shown:?}");
        assert!(series.samples.len() <= SAMPLES_MAX);
    }
}
