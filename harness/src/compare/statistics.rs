//! The numbers of one cell over all of its runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::report::markdown::REORDERED;
use crate::report::numbers;

use super::intervals::{Interval, lost_share, mean_of, none_of};

/// Counts that are summed over the runs.
const SUMS: [&str; 15] = [
    "attempted",
    "acked",
    "failed",
    "indeterminate",
    "unacknowledged",
    "missing_unacknowledged",
    "lost_acked",
    "duplicates",
    "unacked_but_present",
    "stale_reads",
    "unverified",
    "late",
    "faults",
    "leader_changes",
    "isr_shrinks",
];

/// Anomalies that are columns of their own.
const ANOMALIES: [(&str, &[&str]); 3] = [
    ("reordered", &REORDERED),
    ("vanished_reads", &["vanished-read"]),
    ("divergent", &["divergent-replicas"]),
];

/// The numbers of one cell.
pub fn aggregate(verdicts: &[&Value], time_limit_ms: f64) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| {
        map.insert(name.to_owned(), value);
    };
    let with = |wanted: Value| verdicts.iter().filter(|v| v["valid"] == wanted).count();
    let each = |name: &str| -> Vec<Value> { verdicts.iter().map(|v| v[name].clone()).collect() };
    put("runs", json!(verdicts.len()));
    put("valid", json!(with(json!(true))));
    put("invalid", json!(with(json!(false))));
    put("unknown", json!(with(json!("unknown"))));
    let at_a_price = verdicts
        .iter()
        .filter(|v| v["valid"] == true && v["lost_acked"].as_u64() > Some(0));
    put("valid_with_losses", json!(at_a_price.count()));
    for name in SUMS {
        put(name, json!(sum(verdicts, name)));
    }
    for (name, anomalies) in ANOMALIES {
        let found = verdicts.iter().map(|v| count_of(v, anomalies));
        put(name, json!(found.sum::<u64>()));
    }
    put("lost_acked_each", json!(each("lost_acked")));
    let each_lost: Vec<u64> = verdicts.iter().map(|v| losses(v).0).collect();
    put("lost_or_missing_each", json!(each_lost));
    put("acked_each", json!(each("acked")));
    put("unavailable_ms_each", json!(each("unavailable_ms")));
    let loss = lost_share(verdicts);
    put("lost_share", json!(loss.point));
    put("lost_share_interval", json!([loss.low, loss.high]));
    put("lost_share_each", json!(shares(verdicts)));
    put("runs_with_loss", json!(runs_with_loss(verdicts)));
    put("none_of_these_runs_bound", json!(none_of(verdicts.len())));
    let measurable = sum(verdicts, "unacknowledged") == 0;
    put("writes_measurable", json!(measurable));
    let writes = mean_of(verdicts, "/unavailable_ms", time_limit_ms);
    put("unavailable_ms_mean", json!(writes.map(|one| one.point)));
    put("unavailable_ms_interval", bounds(writes));
    let reads = mean(verdicts, "/unavailable/reads/worst_ms");
    put("reads_unavailable_ms_mean", json!(reads));
    put(
        "latency_ms",
        json!({
            "p50": mean(verdicts, "/latency_ms/p50"),
            "p99": mean(verdicts, "/latency_ms/p99"),
            "max": verdicts.iter().filter_map(|v| v.pointer("/latency_ms/max")?.as_f64())
                .reduce(f64::max),
        }),
    );
    put("stages", json!(stages(verdicts)));
    put("smallest_isr", json!(smallest_isr(verdicts)));
    put("by_place", json!(by_place(verdicts)));
    put("by_kind", json!(by_kind(verdicts)));
    put("violations", json!(names(verdicts, "violations")));
    put("permitted", json!(names(verdicts, "permitted")));
    put("promised", json!(promised(verdicts)));
    put("seen", json!(seen(verdicts)));
    put("seeds", json!(each("seed")));
    map
}

fn sum(verdicts: &[&Value], name: &str) -> u64 {
    verdicts.iter().filter_map(|v| v[name].as_u64()).sum()
}

fn count_of(verdict: &Value, anomalies: &[&str]) -> u64 {
    let counts = &verdict["anomaly_counts"];
    let found = anomalies.iter().filter_map(|name| counts[*name].as_u64());
    found.sum()
}

fn bounds(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |one| json!([one.low, one.high]))
}

/// Lost, or missing where no acknowledgement was asked for.
fn losses(verdict: &Value) -> (u64, u64) {
    let number = |name: &str| verdict[name].as_u64().unwrap_or(0);
    match number("unacknowledged") {
        0 => (number("lost_acked"), number("acked")),
        sent => (number("missing_unacknowledged"), sent),
    }
}

fn shares(verdicts: &[&Value]) -> Vec<f64> {
    let share = |verdict: &&Value| {
        let (part, whole) = losses(verdict);
        part as f64 / whole.max(1) as f64
    };
    verdicts.iter().map(share).collect()
}

fn runs_with_loss(verdicts: &[&Value]) -> usize {
    verdicts.iter().filter(|v| losses(v).0 > 0).count()
}

fn mean(verdicts: &[&Value], pointer: &str) -> Option<f64> {
    let all: Vec<f64> = verdicts
        .iter()
        .filter_map(|v| v.pointer(pointer)?.as_f64())
        .collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

fn names(verdicts: &[&Value], field: &str) -> BTreeSet<String> {
    let lists = verdicts.iter().filter_map(|v| v[field].as_array());
    let names = lists.flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

fn stages(verdicts: &[&Value]) -> BTreeMap<String, u64> {
    let mut stages = BTreeMap::new();
    for verdict in verdicts {
        let of_run = verdict["loss_report"]["stages"].as_object();
        for (stage, number) in of_run.into_iter().flatten() {
            *stages.entry(stage.clone()).or_insert(0) += number.as_u64().unwrap_or(0);
        }
    }
    stages
}

fn smallest_isr(verdicts: &[&Value]) -> Option<u64> {
    let sizes = verdicts
        .iter()
        .filter_map(|v| v.pointer("/loss_report/smallest_isr")?.as_u64());
    sizes.min()
}

/// Mean outages in milliseconds, as the clients of each place met them.
fn by_place(verdicts: &[&Value]) -> BTreeMap<String, Value> {
    let mut places: BTreeMap<&String, [Vec<f64>; 2]> = BTreeMap::new();
    for verdict in verdicts {
        let of_run = verdict.pointer("/unavailable/by_place");
        for (place, at) in of_run.and_then(Value::as_object).into_iter().flatten() {
            let times = places.entry(place).or_default();
            for (times, side) in times.iter_mut().zip(["writes", "reads"]) {
                times.extend(at[side]["worst_ms"].as_f64());
            }
        }
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    places
        .into_iter()
        .map(|(place, [writes, reads])| {
            let means = json!({"writes_ms_mean": mean(&writes), "reads_ms_mean": mean(&reads)});
            (place.clone(), means)
        })
        .collect()
}

/// Each kind of fault over all runs: how many, what they cost, and medians of the ways out.
fn by_kind(verdicts: &[&Value]) -> BTreeMap<String, Value> {
    let mut kinds: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for verdict in verdicts {
        let faults = verdict.pointer("/loss_report/recoveries");
        for fault in faults.and_then(Value::as_array).into_iter().flatten() {
            let kind = fault["fault"].as_str().unwrap_or("unknown");
            kinds.entry(kind).or_default().push(fault);
        }
    }
    let median = |faults: &[&Value], field: &str| {
        let mut times: Vec<u64> = faults.iter().filter_map(|f| f[field].as_u64()).collect();
        times.sort_unstable();
        numbers::median(&times)
    };
    let summed = |faults: &[&Value], field: &str| -> u64 {
        faults.iter().filter_map(|f| f[field].as_u64()).sum()
    };
    kinds
        .into_iter()
        .map(|(kind, faults)| {
            let lost = ["lost", "lost_just_before", "lost_just_after"];
            let cost = json!({
                "faults": faults.len(),
                "to_new_leader_ms_median": median(&faults, "to_new_leader_ms"),
                "to_first_ack_ms_median": median(&faults, "to_first_ack_ms"),
                "heal_to_full_isr_ms_median": median(&faults, "heal_to_full_isr_ms"),
                "unavailable_ms_median": median(&faults, "unavailable_ms"),
                "lost": lost.iter().map(|field| summed(&faults, field)).sum::<u64>(),
            });
            (kind.to_owned(), cost)
        })
        .collect()
}

/// What the settings promise of acknowledged records, in few words.
fn promised(verdicts: &[&Value]) -> &'static str {
    let Some(first) = verdicts.first() else {
        return "unknown";
    };
    if sum(verdicts, "unacknowledged") > 0 {
        return "nothing is acknowledged";
    }
    let prices = first
        .pointer("/promise/permitted")
        .and_then(Value::as_array);
    let mut prices = prices.into_iter().flatten();
    match prices.any(|price| price["anomaly"] == "lost-write") {
        true => "acknowledged loss is permitted",
        false => "no acknowledged loss",
    }
}

/// What was seen, in few words.
fn seen(verdicts: &[&Value]) -> String {
    let violations = names(verdicts, "violations");
    let (runs, with_loss) = (verdicts.len(), runs_with_loss(verdicts));
    let what = match sum(verdicts, "unacknowledged") {
        0 => "lost",
        _ => "missing",
    };
    let mut seen = match (runs, with_loss) {
        (0, _) => "no run".to_owned(),
        (_, 0) => format!("none {what} in {}", numbers::counted(runs as u64, "run")),
        _ => {
            let runs = numbers::counted(runs as u64, "run");
            format!("{what} in {with_loss} of {runs}")
        }
    };
    if !violations.is_empty() {
        let names: Vec<String> = violations.into_iter().collect();
        seen = format!("{seen}; VIOLATED: {}", names.join(", "));
    }
    let unknown = verdicts.iter().filter(|v| v["valid"] == "unknown").count();
    if unknown > 0 {
        seen = format!("{seen}; {unknown} unknown");
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_sums_its_runs_and_counts_its_verdicts() {
        let one = json!({ "valid": true, "acked": 100, "lost_acked": 2, "unacknowledged": 0,
            "unavailable_ms": 1000, "latency_ms": { "p50": 1.0 },
            "loss_report": {"stages": {"unknown": 2}, "smallest_isr": 2,
                "recoveries": [{"fault": "kill", "lost": 1, "lost_just_before": 1, "to_new_leader_ms": 900}]}});
        let two = json!({ "valid": "unknown", "acked": 50, "lost_acked": 1, "unacknowledged": 0,
            "unavailable_ms": 3000, "latency_ms": { "p50": 3.0 } });
        let cell = aggregate(&[&one, &two], 10_000.0);
        assert_eq!(
            (&cell["acked"], &cell["lost_acked"]),
            (&json!(150), &json!(3))
        );
        assert_eq!((&cell["valid"], &cell["unknown"]), (&json!(1), &json!(1)));
        assert_eq!(cell["latency_ms"]["p50"].as_f64(), Some(2.0));
        assert_eq!(cell["unavailable_ms_mean"].as_f64(), Some(2000.0));
        assert_eq!(cell["by_kind"]["kill"]["lost"], 2);
        assert_eq!(cell["seen"], "lost in 2 of 2 runs; 1 unknown");
        assert_eq!(cell["promised"], "no acknowledged loss");
    }

    #[test]
    fn without_acknowledgements_what_is_missing_is_counted_and_no_outage_is() {
        let run = json!({ "valid": true, "acked": 0, "lost_acked": 0, "unacknowledged": 200,
            "missing_unacknowledged": 50, "unavailable_ms": 0 });
        let cell = aggregate(&[&run, &run], 10_000.0);
        assert_eq!(cell["lost_share"].as_f64(), Some(0.25));
        assert!(cell["unavailable_ms_mean"].is_null());
        assert_eq!(cell["promised"], "nothing is acknowledged");
        assert_eq!(cell["seen"], "missing in 2 of 2 runs");
    }
}
