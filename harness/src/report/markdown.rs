//! report.md: the loss report for a CI summary. GitHub's flavour, no HTML but `<br>`-free tables, and
//! bounded, since a summary has a limit of its own.

use std::fmt::Write;

use plimsoll_checkers::Verdict;

use super::RunMeta;
use super::headline::{Outcome, headline};
use super::losses::{LossReport, in_words};
use super::lost::{ranges, span};
use super::numbers::{at, count, duration_ms, share};
use super::sides::sides;

/// Rows of one table.
const ROWS: usize = 20;

/// The whole file.
pub fn markdown(verdict: &Verdict, meta: &RunMeta, losses: &LossReport) -> String {
    let headline = headline(verdict);
    let sign = match headline.outcome {
        Outcome::Kept => "✅",
        Outcome::Permitted => "🔶",
        Outcome::Broken => "❌",
        Outcome::Unknown => "❔",
    };
    let mut text = format!(
        "## {sign} {}: {}\n\n",
        headline.tag,
        escaped(&headline.text())
    );
    if !headline.why.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&headline.why));
    }
    if let Some(scenario) = &meta.scenario {
        let _ = writeln!(
            text,
            "Scenario: **{}**. Expected: {}\n",
            escaped(&scenario.title),
            escaped(&scenario.expect)
        );
    }
    let settings: Vec<String> = meta
        .settings
        .iter()
        .map(|(name, value)| format!("{} **{}**", escaped(name), escaped(value)))
        .collect();
    let _ = writeln!(text, "{}\n", settings.join(", "));
    text.push_str(&numbers(verdict, losses));
    text.push_str(&lost(verdict, losses));
    text.push_str(&violations(verdict));
    text.push_str(&faults(losses));
    text.push_str(&places(verdict, losses));
    text.push_str(&resolved(losses));
    text.push_str(&questions(losses));
    if let Some(replay) = meta.replay.as_deref().or(verdict.replay.as_deref()) {
        let _ = writeln!(
            text,
            "### Repeat\n\n```sh\n{}\n```",
            replay.replace("```", "")
        );
    }
    if let Some(run) = meta.run.as_deref().or(verdict.run.as_deref()) {
        let _ = writeln!(text, "\nEverything is in `{}`.", run.replace('`', ""));
    }
    text
}

/// Text from outside, made harmless inside a table's cell or a paragraph.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

/// A table with its head; numbers stand right where a column is named with a leading `>`.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let name = |column: &&str| column.trim_start_matches('>').to_owned();
    let rule = |column: &&str| {
        if column.starts_with('>') {
            "---:"
        } else {
            "---"
        }
    };
    let heads: Vec<String> = head.iter().map(name).collect();
    let rules: Vec<&str> = head.iter().map(rule).collect();
    let mut text = format!("| {} |\n|{}|\n", heads.join(" | "), rules.join("|"));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.push('\n');
    text
}

fn numbers(verdict: &Verdict, losses: &LossReport) -> String {
    let measures = &verdict.measures;
    let mut rows = Vec::new();
    let mut row = |name: &str, number: String, note: String| {
        rows.push(vec![name.to_owned(), number, note]);
    };
    row("attempted", count(measures.attempted), String::new());
    match losses.writes_measurable {
        true => row(
            "acknowledged",
            count(measures.acked),
            format!("{} of attempted", share(measures.acked, measures.attempted)),
        ),
        false => row(
            "sent without asking for an answer",
            count(measures.unacknowledged),
            format!("{} of them missing", count(measures.missing_unacknowledged)),
        ),
    }
    row(
        "failed",
        count(measures.failed),
        "certainly not written".to_owned(),
    );
    row(
        "indeterminate",
        count(measures.indeterminate),
        format!("{} of them in the log", count(measures.unacked_but_present)),
    );
    row(
        "**lost acknowledged**",
        format!("**{}**", count(measures.lost_acked)),
        match measures.lost_acked {
            0 => String::new(),
            lost => format!("{} of acknowledged", share(lost, measures.acked)),
        },
    );
    row("duplicates", count(measures.duplicates), String::new());
    for (name, anomalies) in OTHER_FATES {
        let found: u64 = anomalies
            .iter()
            .filter_map(|anomaly| verdict.anomaly_counts.get(anomaly))
            .sum();
        row(name, count(found), String::new());
    }
    row(
        "stale reads",
        count(measures.stale_reads),
        "measured".to_owned(),
    );
    let outage = match losses.writes_measurable {
        true => duration_ms(measures.unavailable_ms as f64),
        false => "not measurable".to_owned(),
    };
    let worst = measures
        .unavailable
        .writes
        .worst
        .clone()
        .unwrap_or_default();
    row("no write acknowledged", outage, escaped(&worst));
    row(
        "no read answered",
        duration_ms(measures.unavailable.reads.worst_ms as f64),
        escaped(&measures.unavailable.reads.worst.clone().unwrap_or_default()),
    );
    if let (Some(p50), Some(p99)) = (measures.latency_ms.p50, measures.latency_ms.p99) {
        row(
            "ack p50",
            duration_ms(p50),
            format!("p99 {}", duration_ms(p99)),
        );
    }
    table(&["", ">records or time", ""], &rows)
}

/// Anomalies in which records stand in another order than they must.
pub const REORDERED: [&str; 5] = [
    "realtime-order",
    "nonmonotonic-send",
    "int-nonmonotonic-send",
    "monotonic-writes",
    "writes-follow-reads",
];

/// Fates that the verdict counts by anomaly.
const OTHER_FATES: [(&str, &[&str]); 4] = [
    ("reordered", &REORDERED),
    ("vanished after a read", &["vanished-read"]),
    ("divergent replicas", &["divergent-replicas"]),
    ("offsets given twice", &["inconsistent-offsets"]),
];

fn lost(verdict: &Verdict, losses: &LossReport) -> String {
    if verdict.measures.lost.is_empty() {
        return String::new();
    }
    let ranges = ranges(verdict, losses);
    let rows: Vec<Vec<String>> = ranges
        .iter()
        .take(ROWS)
        .map(|range| {
            vec![
                escaped(range.key),
                count(range.records),
                range.offsets.map_or("unknown".to_owned(), span),
                span(range.values),
                at(range.acked_ns.0),
                escaped(range.node.unwrap_or("unknown")),
                escaped(&range.fault_in_words(verdict)),
                range.stage.words().to_owned(),
            ]
        })
        .collect();
    let head = [
        "partition",
        ">lost",
        ">offsets",
        ">values",
        ">first acked at, s",
        "acked by",
        "fault",
        "stage",
    ];
    let mut text = format!("### Lost\n\n{}", table(&head, &rows));
    if let Some(more) = ranges.len().checked_sub(ROWS).filter(|more| *more > 0) {
        let _ = writeln!(text, "{more} more ranges are in lost.csv.\n");
    }
    text
}

fn violations(verdict: &Verdict) -> String {
    let mut text = String::new();
    for one in verdict.looked_for.iter().filter(|one| one.violations > 0) {
        let mut of = verdict.anomalies.iter();
        let first = of.find(|judged| !judged.permitted && judged.finding.anomaly == one.anomaly);
        let sentence = first.map_or(one.definition, |judged| &judged.finding.sentence);
        let _ = writeln!(
            text,
            "- **{}** ({}): {}",
            one.anomaly,
            count(one.violations),
            escaped(sentence)
        );
    }
    match text.is_empty() {
        true => text,
        false => format!("### Violations\n\n{text}\n"),
    }
}

fn faults(losses: &LossReport) -> String {
    let mut never_came: String = losses
        .never_came
        .iter()
        .map(|one| format!("- {}\n", escaped(&one.words())))
        .collect();
    if !never_came.is_empty() {
        never_came.push('\n');
    }
    if losses.by_kind.is_empty() {
        return match never_came.is_empty() {
            true => never_came,
            false => format!("### Faults\n\n{never_came}"),
        };
    }
    let rows: Vec<Vec<String>> = losses
        .by_kind
        .iter()
        .map(|kind| {
            let spread = |times| in_words(times, kind.faults);
            vec![
                escaped(&kind.fault),
                count(kind.faults),
                spread(kind.to_new_leader_ms),
                match losses.writes_measurable {
                    true => spread(kind.to_first_ack_ms),
                    false => "not measurable".to_owned(),
                },
                spread(kind.heal_to_full_isr_ms),
                match losses.writes_measurable {
                    true => spread(kind.unavailable_ms),
                    false => "not measurable".to_owned(),
                },
                count(kind.lost),
            ]
        })
        .collect();
    let head = [
        "fault",
        ">n",
        ">to a new leader",
        ">to the first ack",
        ">from heal to full ISR",
        ">no write meanwhile",
        ">lost",
    ];
    format!(
        "### Faults, by kind: median (and worst)\n\n{}{never_came}",
        table(&head, &rows)
    )
}

fn places(verdict: &Verdict, losses: &LossReport) -> String {
    let sides = sides(verdict);
    if sides.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = sides
        .iter()
        .map(|side| {
            vec![
                escaped(&side.name),
                match losses.writes_measurable {
                    true => duration_ms(side.writes_ms as f64),
                    false => "not measurable".to_owned(),
                },
                duration_ms(side.reads_ms as f64),
            ]
        })
        .collect();
    let head = ["clients", ">no write", ">no read"];
    format!("### Unavailable, by side\n\n{}", table(&head, &rows))
}

fn resolved(losses: &LossReport) -> String {
    let Some(resolved) = &losses.resolved else {
        return String::new();
    };
    let fates = &resolved.indeterminate;
    let mut text = format!(
        "### What the disks say (the verdict stays)\n\n\
         Indeterminate sends: {} on every replica's disk, {} on some, {} nowhere, {} unknown. \
         Lost records: {} still on some disk, {} on none. Divergent offsets: {}.\n\n",
        count(fates.on_every_replica),
        count(fates.on_some),
        count(fates.nowhere),
        count(fates.unknown),
        count(resolved.lost_on_some_disk),
        count(resolved.lost_on_no_disk),
        count(resolved.divergent_offsets),
    );
    for what in resolved.unreadable.iter().take(ROWS) {
        let _ = writeln!(text, "- not read: {}", escaped(what));
    }
    text
}

fn questions(losses: &LossReport) -> String {
    let mut text = String::new();
    for one in &losses.questions {
        let _ = writeln!(text, "- **{}** {}", one.question, escaped(&one.answer));
    }
    match text.is_empty() {
        true => text,
        false => format!("### Questions\n\n{text}\n"),
    }
}
