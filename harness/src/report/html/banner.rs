//! The verdict, large, with what was set and how to repeat it.

use plimsoll_checkers::Verdict;

use super::escape::escaped;
use super::marks::{class, mark};
use crate::report::RunMeta;
use crate::report::headline::Headline;
use crate::report::numbers::{count, duration_ms};

pub fn banner(headline: &Headline, verdict: &Verdict, meta: &RunMeta) -> String {
    let lost = headline
        .lost
        .as_ref()
        .map_or(String::new(), |lost| format!("<em>{}</em> ", escaped(lost)));
    format!(
        "<header class=\"verdict {}\"><div class=\"tag\"><b>{} {}</b><span>{}</span></div>\n\
         <h1>{lost}{}</h1>\n<p class=\"why\">{}</p>\n{}{}{}{}</header>",
        class(headline.outcome),
        mark(headline.outcome),
        escaped(headline.tag),
        escaped(&circumstances(meta)),
        escaped(&headline.sentence),
        escaped(&headline.why),
        scenario(meta),
        fate(verdict),
        settings(verdict, meta),
        command(verdict, meta),
    )
}

fn circumstances(meta: &RunMeta) -> String {
    let mut parts = vec!["plimsoll, workload log".to_owned()];
    if !meta.system.is_empty() {
        parts.push(meta.system.clone());
    }
    parts.extend(meta.time_limit_ms.map(|ms| duration_ms(ms as f64)));
    parts.extend(meta.started_utc.clone());
    parts.join(", ")
}

/// What was staged, and what it was to show.
fn scenario(meta: &RunMeta) -> String {
    meta.scenario.as_ref().map_or(String::new(), |scenario| {
        format!(
            "<p class=\"cap\"><b>Scenario: {}.</b> Expected: {}</p>\n",
            escaped(scenario.title.trim_end_matches('.')),
            escaped(&scenario.expect)
        )
    })
}

/// All attempts as one bar, to scale.
fn fate(verdict: &Verdict) -> String {
    let measures = &verdict.measures;
    if measures.attempted == 0 {
        return String::new();
    }
    let kept = measures.acked.saturating_sub(measures.lost_acked);
    let kept_word = if measures.unverified > 0 {
        "acknowledged"
    } else {
        "kept"
    };
    let labelled = |class: &str, number: u64, word: &str| match number {
        0 => String::new(),
        // A sliver has no room for words.
        _ if number * 12 < measures.attempted => format!(
            "<i class=\"{class} thin\" style=\"flex:{number} 0 0\" title=\"{} {word}\"></i>",
            count(number)
        ),
        _ => format!(
            "<i class=\"{class}\" style=\"flex:{number} 0 0\" title=\"{0} {word}\">{0} {word}</i>",
            count(number)
        ),
    };
    let sliver = |class: &str, number: u64, word: &str| match number {
        0 => String::new(),
        _ => format!(
            "<i class=\"{class}\" style=\"flex:{number} 0 0\" title=\"{} {word}\"></i>",
            count(number)
        ),
    };
    let words = format!(
        "{} attempted: {} acknowledged and {kept_word}, {} acknowledged and lost, {} sent without asking for an answer, {} indeterminate, {} failed",
        count(measures.attempted),
        count(kept),
        count(measures.lost_acked),
        count(measures.unacknowledged),
        count(measures.indeterminate),
        count(measures.failed),
    );
    let unasked = measures.unacknowledged;
    format!(
        "<div class=\"fate\" role=\"img\" aria-label=\"{words}\">{}{}{}{}{}</div>\
         <p class=\"fcap\">All {} attempts, to scale. Also {} indeterminate, {} failed{}.</p>\n",
        labelled("k", kept, kept_word),
        labelled("l", measures.lost_acked, "lost"),
        sliver("indet", measures.indeterminate, "indeterminate"),
        sliver("failed", measures.failed, "failed"),
        labelled("unasked", unasked, "sent, no answer asked"),
        count(measures.attempted),
        count(measures.indeterminate),
        count(measures.failed),
        match unasked {
            0 => String::new(),
            unasked => format!(", {} sent without asking for an answer", count(unasked)),
        },
    )
}

fn settings(verdict: &Verdict, meta: &RunMeta) -> String {
    let mut pairs = String::new();
    for (name, value) in &meta.settings {
        pairs.push_str(&pair(name, value));
    }
    if verdict.promise.strict {
        pairs.push_str(&pair("strict", "every loss counts"));
    }
    format!("<dl class=\"set\">{pairs}</dl>\n")
}

fn pair(name: &str, value: &str) -> String {
    let (name, value) = (escaped(name), escaped(value));
    format!("<div><dt>{name}</dt><dd>{value}</dd></div>")
}

fn command(verdict: &Verdict, meta: &RunMeta) -> String {
    let Some(replay) = meta.replay.as_deref().or(verdict.replay.as_deref()) else {
        return String::new();
    };
    format!(
        "<div class=\"cmd\"><pre id=\"cmd\">{}</pre>\
         <button class=\"js-only\" data-copy=\"#cmd\" aria-live=\"polite\">Copy</button></div>",
        options(replay)
    )
}

/// An option and its value stay on one line.
fn options(replay: &str) -> String {
    let mut parts = replay.split(" --");
    let command = parts.next().unwrap_or("");
    let mut html = format!("<span>{}</span>", escaped(command));
    for option in parts {
        html.push_str(&format!(" <span>--{}</span>", escaped(option)));
    }
    html
}
