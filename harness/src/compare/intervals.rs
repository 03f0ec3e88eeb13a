//! Intervals over whole runs.
//!
//! Lost records fall together at one fail-over, so records are not independent, and an interval that
//! took them so would be far too narrow. With few runs the bootstrap alone is too narrow as well, so an
//! interval reaches as far as the wider of two: the percentile bootstrap over whole runs (Efron and
//! Tibshirani 1993, chapter 13), and the ratio estimator with Student's t (Cochran, Sampling Techniques,
//! 1977, chapter 6). Where no run lost anything both say nothing, and the exact binomial bound stands in
//! (Clopper and Pearson 1934): with n such runs, at most 1 - 0.05^(1/n) of all runs lose anything, and so
//! the mean share is at most that.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

const RESAMPLES: usize = 2000;
/// Two-sided 95 %.
const TAIL: f64 = 0.025;
const SEED: u64 = 0x626f_6f74;

/// A number with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub point: f64,
    pub high: f64,
}

impl Interval {
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The share of acknowledged records that were lost, over the runs of a cell.
pub fn lost_share(verdicts: &[&Value]) -> Interval {
    let number = |verdict: &Value, name: &str| verdict[name].as_f64().unwrap_or(0.0);
    let asked_for_none = |verdict: &&&Value| number(verdict, "unacknowledged") > 0.0;
    // Without acknowledgements what is missing stands for what is lost.
    let (part, whole) = match verdicts.iter().any(|verdict| asked_for_none(&verdict)) {
        true => ("missing_unacknowledged", "unacknowledged"),
        false => ("lost_acked", "acked"),
    };
    let runs: Vec<(f64, f64)> = verdicts
        .iter()
        .map(|verdict| (number(verdict, part), number(verdict, whole)))
        .collect();
    ratio(&runs, 1.0)
}

/// The time in which the worst partition acknowledged nothing, as a share of the run; not with acks=0.
pub fn outage_share(verdicts: &[&Value], time_limit_ms: f64) -> Option<Interval> {
    let outage = mean_of(verdicts, "/unavailable_ms", time_limit_ms)?;
    let scaled = |ms: f64| ms / time_limit_ms.max(1.0);
    Some(Interval {
        low: scaled(outage.low),
        point: scaled(outage.point),
        high: scaled(outage.high),
    })
}

/// The mean of a time that was measured in every run, of which none can exceed `most`; none where sends
/// asked for no answers.
pub fn mean_of(verdicts: &[&Value], pointer: &str, most: f64) -> Option<Interval> {
    let unmeasured = |verdict: &&&Value| verdict["unacknowledged"].as_u64().unwrap_or(0) > 0;
    if verdicts.is_empty() || verdicts.iter().any(|verdict| unmeasured(&verdict)) {
        return None;
    }
    let numbers = verdicts.iter().filter_map(|v| v.pointer(pointer)?.as_f64());
    let runs: Vec<(f64, f64)> = numbers.map(|number| (number, 1.0)).collect();
    (!runs.is_empty()).then(|| ratio(&runs, most))
}

/// At most this share of runs does what none of n did, with 95 % confidence.
pub fn none_of(runs: usize) -> f64 {
    match runs {
        0 => 1.0,
        runs => 1.0 - 0.05_f64.powf(1.0 / as_number(runs)),
    }
}

/// sum(part) / sum(whole) over runs; no run's own ratio exceeds `most`.
pub fn ratio(runs: &[(f64, f64)], most: f64) -> Interval {
    let point = ratio_of(runs.iter().copied());
    if point == 0.0 {
        let high = most * none_of(runs.len());
        return Interval {
            low: 0.0,
            point,
            high,
        };
    }
    if runs.len() < 2 {
        return Interval {
            low: 0.0,
            point,
            high: most.max(point),
        };
    }
    let (low, high) = bootstrap(runs);
    let reach = student(runs.len() - 1) * standard_error(runs, point);
    Interval {
        low: low.min(point - reach).max(0.0),
        point,
        // A run may overrun a limit that was set for all.
        high: high.max((point + reach).min(most)),
    }
}

/// The mean of differences between paired runs.
pub fn paired(differences: &[f64]) -> Option<Interval> {
    if differences.len() < 2 {
        return None;
    }
    let count = as_number(differences.len());
    let point = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|one| (one - point).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let reach = student(differences.len() - 1) * error;
    Some(Interval {
        low: point - reach,
        point,
        high: point + reach,
    })
}

fn ratio_of(runs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (part, whole) = runs.fold((0.0, 0.0), |(p, w), (part, whole)| (p + part, w + whole));
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn bootstrap(runs: &[(f64, f64)]) -> (f64, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| ratio_of((0..runs.len()).map(|_| runs[rng.random_range(0..runs.len())])))
        .collect();
    resampled.sort_by(f64::total_cmp);
    (quantile(&resampled, TAIL), quantile(&resampled, 1.0 - TAIL))
}

/// Of the ratio estimator, from the residuals of the runs.
fn standard_error(runs: &[(f64, f64)], ratio: f64) -> f64 {
    let count = as_number(runs.len());
    let whole: f64 = runs.iter().map(|run| run.1).sum();
    let squares: f64 = runs
        .iter()
        .map(|(part, whole)| (part - ratio * whole).powi(2))
        .sum();
    (squares / (count - 1.0) * count).sqrt() / whole.max(f64::MIN_POSITIVE)
}

/// The 97.5 % quantile of Student's t by degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    // Beyond the table the first term of the expansion is exact to a thousandth.
    TABLE
        .get(freedom.saturating_sub(1))
        .copied()
        .unwrap_or(1.960 + 2.4 / as_number(freedom))
}

#[expect(clippy::cast_precision_loss, reason = "a count of runs")]
pub fn as_number(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "an index into a short vector"
)]
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (q * last as f64).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_point_and_widens_when_losses_fall_together() {
        let even = ratio(&[(10.0, 1000.0); 8], 1.0);
        assert!(even.width() < 1e-9, "{even:?}");
        let mut runs = [(0.0, 1000.0); 8];
        runs[3] = (80.0, 1000.0);
        let uneven = ratio(&runs, 1.0);
        assert!((uneven.point - 0.01).abs() < 1e-9);
        assert!(uneven.low == 0.0 && uneven.high > 0.03, "{uneven:?}");
    }

    #[test]
    fn the_same_runs_give_the_same_interval() {
        let runs = [(1.0, 10.0), (4.0, 12.0), (0.0, 9.0)];
        assert_eq!(ratio(&runs, 1.0), ratio(&runs, 1.0));
    }

    #[test]
    fn a_count_of_zero_has_an_upper_bound_that_shrinks_with_the_runs() {
        let bound = |runs: usize| ratio(&vec![(0.0, 1000.0); runs], 1.0).high;
        // 0.05^(1/3) = 0.3684, 0.05^(1/59) = 0.9505.
        assert!((bound(3) - 0.6316).abs() < 1e-3);
        assert!((bound(59) - 0.0495).abs() < 1e-3);
        assert_eq!(ratio(&[], 1.0).high, 1.0);
    }

    #[test]
    fn one_run_says_little_and_three_reach_as_far_as_students_t() {
        assert_eq!(ratio(&[(5.0, 10.0)], 1.0).width(), 1.0);
        // Ratios 0.1, 0.2, 0.3: the mean is 0.2 and its standard error 0.1 / sqrt(3).
        let three = ratio(&[(1.0, 10.0), (2.0, 10.0), (3.0, 10.0)], 1.0);
        assert!((three.high - (0.2 + 4.303 * 0.1 / 3.0_f64.sqrt())).abs() < 1e-6);
        assert_eq!(three.low, 0.0);
    }

    #[test]
    fn paired_differences_tell_what_overlapping_intervals_do_not() {
        let told = paired(&[9.0, 10.0, 11.0, 10.0]).expect("four");
        assert!(told.low > 0.0);
        assert!(paired(&[1.0]).is_none());
    }
}
