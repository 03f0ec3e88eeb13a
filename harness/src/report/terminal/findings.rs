//! What was found, and what was looked for in vain.

use plimsoll_checkers::{Judged, Validity, Verdict};

use super::SHOWN;
use super::layout::wrapped;
use crate::report::numbers::count;

pub(super) fn findings(verdict: &Verdict) -> String {
    let mut text = String::new();
    for one in verdict.looked_for.iter().filter(|one| one.violations > 0) {
        let of = |judged: &&Judged| !judged.permitted && judged.finding.anomaly == one.anomaly;
        text.push_str(&format!(
            "\nVIOLATION {} ({}): {}.\n",
            one.anomaly,
            count(one.violations),
            one.definition
        ));
        for judged in verdict.anomalies.iter().filter(of).take(SHOWN) {
            let ops: Vec<String> = judged.finding.ops.iter().map(u64::to_string).collect();
            let line = format!("{} (ops {})", judged.finding.sentence, ops.join(", "));
            text.push_str(&wrapped(&line, "  "));
        }
    }
    for name in &verdict.permitted {
        let mut of = verdict.anomalies.iter();
        let first = of.find(|judged| judged.permitted && judged.finding.anomaly == *name);
        let because = first.and_then(|judged| judged.because.as_deref());
        let total = verdict.anomaly_counts.get(name).copied().unwrap_or(0);
        let line = format!(
            "Permitted: {name} ({}): {}.",
            count(total),
            because.unwrap_or("")
        );
        text.push('\n');
        text.push_str(&wrapped(&line, ""));
    }
    let clean: Vec<&str> = verdict
        .looked_for
        .iter()
        .filter(|one| one.found == 0)
        .map(|one| one.anomaly)
        .collect();
    let said = match verdict.valid {
        Validity::Unknown => "Not found in what could be judged",
        _ => "Looked for and not found",
    };
    let line = format!("{said}: {}.", clean.join(", "));
    text.push('\n');
    text.push_str(&wrapped(&line, ""));
    text
}
