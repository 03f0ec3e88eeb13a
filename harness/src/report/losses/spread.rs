//! A middle and a worst of some times.

use serde::Serialize;

use crate::report::numbers::{count, duration_ms, median};

/// Of how many times, their median and the longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub measured: u64,
    pub median: u64,
    pub max: u64,
}

impl Spread {
    pub fn of(mut times: Vec<u64>) -> Option<Self> {
        times.sort_unstable();
        Some(Self {
            measured: times.len() as u64,
            median: median(&times)?,
            max: *times.last()?,
        })
    }
}

/// "2.1 s (max 2.4 s)"; with the number of times where not every fault has one: "2.4 s (1 of 2)".
pub fn in_words(spread: Option<Spread>, faults: u64) -> String {
    let Some(spread) = spread else {
        return "none seen".to_owned();
    };
    let median = duration_ms(spread.median as f64);
    let mut more = Vec::new();
    if spread.median != spread.max {
        more.push(format!("max {}", duration_ms(spread.max as f64)));
    }
    if spread.measured != faults {
        more.push(format!("{} of {}", count(spread.measured), count(faults)));
    }
    match more.is_empty() {
        true => median,
        false => format!("{median} ({})", more.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_is_their_mean_and_a_single_time_stands_alone() {
        let two = Spread::of(vec![4000, 1000]);
        assert_eq!(in_words(two, 2), "2.5 s (max 4.0 s)");
        assert_eq!(in_words(two, 3), "2.5 s (max 4.0 s; 2 of 3)");
        assert_eq!(
            in_words(Spread::of(vec![1000, 2000, 9000]), 3),
            "2.0 s (max 9.0 s)"
        );
        assert_eq!(in_words(Spread::of(vec![2400]), 1), "2.4 s");
        assert_eq!(in_words(Spread::of(vec![2400]), 2), "2.4 s (1 of 2)");
        assert_eq!(in_words(Spread::of(Vec::new()), 2), "none seen");
    }
}
