//! What of a run's verdict a comparison keeps: its numbers, not its lists of records.

use serde_json::{Map, Value};

/// Lists that may be long; the run's own folder has them.
const LEFT_OUT: [&str; 6] = [
    "anomalies",
    "lost",
    "looked_for",
    "fault_windows",
    "session_guarantees",
    "unmeasured",
];
const LEFT_OUT_OF_REPORT: [&str; 3] = ["losses", "questions", "resolved"];

/// The verdict without what grows with the run.
pub fn summary(verdict: &Value) -> Value {
    let Value::Object(all) = verdict else {
        return verdict.clone();
    };
    let keep = |map: &Map<String, Value>, left_out: &[&str]| -> Map<String, Value> {
        let kept = map
            .iter()
            .filter(|(name, _)| !left_out.contains(&name.as_str()));
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let mut kept = keep(all, &LEFT_OUT);
    if let Some(Value::Object(report)) = kept.get_mut("loss_report") {
        *report = keep(report, &LEFT_OUT_OF_REPORT);
    }
    for side in ["writes", "reads"] {
        let outages = kept
            .get_mut("unavailable")
            .and_then(|all| all.get_mut(side));
        if let Some(Value::Object(outages)) = outages {
            outages.remove("outages_ms");
        }
    }
    if let Some(Value::Object(places)) = kept
        .get_mut("unavailable")
        .and_then(|all| all.get_mut("by_place"))
    {
        for side in places
            .values_mut()
            .filter_map(Value::as_object_mut)
            .flat_map(Map::values_mut)
        {
            if let Value::Object(side) = side {
                side.remove("outages_ms");
            }
        }
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_stay_and_lists_of_records_go() {
        let verdict = json!({"valid": true, "acked": 9, "lost": [1, 2], "anomalies": [{}],
            "loss_report": {"stages": {"unknown": 2}, "losses": [{}, {}]},
            "unavailable": {"writes": {"worst_ms": 5, "outages_ms": {"log-0": [[1, 2]]}},
                "by_place": {"n1": {"reads": {"worst_ms": 1, "outages_ms": {}}}}}});
        let kept = summary(&verdict);
        let expected = json!({"valid": true, "acked": 9, "loss_report": {"stages": {"unknown": 2}},
            "unavailable": {"writes": {"worst_ms": 5}, "by_place": {"n1": {"reads": {"worst_ms": 1}}}}});
        assert_eq!(kept, expected);
    }
}
