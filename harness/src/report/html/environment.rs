//! Environment and files: what a reader needs to weigh the numbers, and where the rest is.

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::History;

use super::escape::escaped;
use crate::report::RunMeta;
use crate::report::numbers::{count, duration_ms};

/// Settings that are times of the cluster.
const TIMERS: [&str; 6] = ["timeout", "lag", "interval", "linger", "limit", "session"];

pub fn section(history: &History, verdict: &Verdict, meta: &RunMeta) -> String {
    let is_timer = |name: &str| TIMERS.iter().any(|timer| name.contains(timer));
    let settings = meta.settings.iter();
    let (timers, settings): (Vec<_>, Vec<_>) =
        settings.cloned().partition(|(name, _)| is_timer(name));
    let mut run = vec![("system".to_owned(), meta.system.clone())];
    run.extend(
        meta.started_utc
            .clone()
            .map(|at| ("started".to_owned(), at)),
    );
    let is_set = |wanted: &str| meta.settings.iter().any(|(name, _)| name == wanted);
    let limit = meta.time_limit_ms.filter(|_| !is_set("time limit"));
    run.extend(limit.map(|ms| ("clients and faults".to_owned(), duration_ms(ms as f64))));
    run.extend(meta.environment.iter().cloned());
    run.push((
        "judged".to_owned(),
        format!(
            "{} sends, {} reads, {} lines",
            count(verdict.measures.attempted),
            count(verdict.measures.reads),
            count(history.ops().len() as u64)
        ),
    ));
    if let Some(seed) = verdict.seed.filter(|_| !is_set("seed")) {
        run.push(("seed".to_owned(), seed.to_string()));
    }
    format!(
        "<section aria-labelledby=h-env><h2 id=h-env>Environment and files</h2><div class=\"env\">\
         <div>{}{}</div><div>{}{}{}</div></div></section>",
        list("Run", &run),
        list("Timers", &timers),
        list("Settings", &settings),
        files(verdict, meta),
        again(verdict),
    )
}

fn list(title: &str, pairs: &[(String, String)]) -> String {
    if pairs.is_empty() {
        return String::new();
    }
    let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
    let rows: String = pairs
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value)))
        .collect();
    format!("<h3>{title}</h3><dl>{rows}</dl>")
}

/// Only a run's own folder has these.
fn files(verdict: &Verdict, meta: &RunMeta) -> String {
    let Some(run) = meta.run.as_deref().or(verdict.run.as_deref()) else {
        return String::new();
    };
    let csv = match (verdict.measures.lost_acked, verdict.anomalies.is_empty()) {
        (0, true) => "lost records and findings, of which there are none",
        (0, false) => "a row a finding; nothing was lost",
        _ => "a row for each lost record and each other finding",
    };
    let files = [
        ("test.json", "settings, seed, command".to_owned()),
        ("history.jsonl.zst", "every operation".to_owned()),
        ("verdict.json", "this page for machines".to_owned()),
        ("lost.csv", csv.to_owned()),
        ("report.md, junit.xml", "for CI".to_owned()),
        ("nodes/", "each node's log".to_owned()),
    ];
    let rows: String = files
        .iter()
        .map(|(name, what)| format!("<dt class=mono>{name}</dt><dd>{what}</dd>"))
        .collect();
    format!("<h3>Files in {}</h3><dl>{rows}</dl>", escaped(run))
}

fn again(verdict: &Verdict) -> String {
    let strict = match verdict.promise.strict {
        true => "",
        false => {
            "<dt>as a failure</dt><dd><code>--strict</code>: every loss counts, exit code 1</dd>"
        }
    };
    format!(
        "<h3>Again</h3><dl>{strict}<dt>limits</dt><dd>A seed repeats operations and faults, not the \
         timing of real processes: expect the same kind of loss, not the same count.</dd></dl>"
    )
}
