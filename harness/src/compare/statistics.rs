//! Numbers over the runs of one cell. Intervals are resampled over whole runs:
//! lost records fall together at one fail-over, so records are not independent
//! and an interval that took them so would be far too narrow.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

const RESAMPLES: usize = 2000;
/// Two-sided 95 %.
const TAIL: f64 = 0.025;
const SEED: u64 = 0x626f_6f74;

/// A share with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub point: f64,
    pub high: f64,
}

/// sum(part) / sum(whole), resampled over the runs.
pub fn ratio_interval(runs: &[(f64, f64)]) -> Interval {
    let ratio = |runs: &mut dyn Iterator<Item = (f64, f64)>| {
        let (part, whole) = runs.fold((0.0, 0.0), |(p, w), (part, whole)| (p + part, w + whole));
        if whole > 0.0 { part / whole } else { 0.0 }
    };
    let point = ratio(&mut runs.iter().copied());
    if runs.len() < 2 {
        return Interval {
            low: point,
            point,
            high: point,
        };
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut drawn = (0..runs.len()).map(|_| runs[rng.random_range(0..runs.len())]);
            ratio(&mut drawn)
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    Interval {
        low: quantile(&resampled, TAIL),
        point,
        high: quantile(&resampled, 1.0 - TAIL),
    }
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

/// The numbers of one cell.
pub fn aggregate(verdicts: &[&Value]) -> Map<String, Value> {
    let sum = |name: &str| -> u64 { verdicts.iter().filter_map(|v| v[name].as_u64()).sum() };
    let losses: Vec<(f64, f64)> = verdicts
        .iter()
        .map(|v| {
            (
                v["lost_acked"].as_f64().unwrap_or(0.0),
                v["acked"].as_f64().unwrap_or(0.0),
            )
        })
        .collect();
    let loss = ratio_interval(&losses);
    let with = |wanted: Value| verdicts.iter().filter(|v| v["valid"] == wanted).count();
    let each = |name: &str| -> Vec<Value> { verdicts.iter().map(|v| v[name].clone()).collect() };
    let mut map = Map::new();
    map.insert("runs".to_owned(), json!(verdicts.len()));
    map.insert("valid".to_owned(), json!(with(json!(true))));
    map.insert("invalid".to_owned(), json!(with(json!(false))));
    map.insert("unknown".to_owned(), json!(with(json!("unknown"))));
    for name in [
        "attempted",
        "acked",
        "failed",
        "indeterminate",
        "lost_acked",
        "duplicates",
        "faults",
        "leader_changes",
        "isr_shrinks",
    ] {
        map.insert(name.to_owned(), json!(sum(name)));
    }
    map.insert("lost_acked_each".to_owned(), json!(each("lost_acked")));
    map.insert("acked_each".to_owned(), json!(each("acked")));
    map.insert("lost_share".to_owned(), json!(loss.point));
    map.insert(
        "lost_share_interval".to_owned(),
        json!([loss.low, loss.high]),
    );
    map.insert(
        "unavailable_ms_mean".to_owned(),
        json!(mean(verdicts, "/unavailable_ms")),
    );
    let latency = json!({
        "p50": mean(verdicts, "/latency_ms/p50"),
        "p99": mean(verdicts, "/latency_ms/p99"),
        "max": verdicts.iter().filter_map(|v| v.pointer("/latency_ms/max")?.as_f64())
            .fold(0.0, f64::max),
    });
    map.insert("latency_ms".to_owned(), latency);
    map.insert("seeds".to_owned(), json!(each("seed")));
    map
}

#[expect(clippy::cast_precision_loss, reason = "a count of runs")]
fn mean(verdicts: &[&Value], pointer: &str) -> f64 {
    let all: Vec<f64> = verdicts
        .iter()
        .filter_map(|v| v.pointer(pointer)?.as_f64())
        .collect();
    if all.is_empty() {
        0.0
    } else {
        all.iter().sum::<f64>() / all.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_point_and_widens_when_losses_fall_together() {
        let even = ratio_interval(&[(10.0, 1000.0); 8]);
        assert_eq!((even.low, even.high), (0.01, 0.01));
        let mut runs = [(0.0, 1000.0); 8];
        runs[3] = (80.0, 1000.0);
        let uneven = ratio_interval(&runs);
        assert!(
            uneven.low < uneven.point && uneven.point < uneven.high,
            "{uneven:?}"
        );
        assert!((uneven.point - 0.01).abs() < 1e-9);
    }

    #[test]
    fn the_same_runs_give_the_same_interval() {
        let runs = [(1.0, 10.0), (4.0, 12.0), (0.0, 9.0)];
        assert_eq!(ratio_interval(&runs), ratio_interval(&runs));
        assert_eq!(ratio_interval(&[]).point, 0.0);
    }

    #[test]
    fn a_cell_sums_its_runs_and_counts_its_verdicts() {
        let one =
            json!({ "valid": true, "acked": 100, "lost_acked": 2, "latency_ms": { "p50": 1.0 } });
        let two = json!({ "valid": "unknown", "acked": 50, "lost_acked": 1, "latency_ms": { "p50": 3.0 } });
        let cell = aggregate(&[&one, &two]);
        assert_eq!(
            (cell["acked"].as_u64(), cell["lost_acked"].as_u64()),
            (Some(150), Some(3))
        );
        assert_eq!(
            (cell["valid"].as_u64(), cell["unknown"].as_u64()),
            (Some(1), Some(1))
        );
        assert_eq!(cell["latency_ms"]["p50"].as_f64(), Some(2.0));
    }
}
