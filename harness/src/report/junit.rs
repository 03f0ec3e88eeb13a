//! junit.xml: each anomaly that was looked for is a test case, so that a CI server lists them.
//!
//! A violation is a failure, a verdict that cannot be told an error, and what the settings permit
//! passes with a note.

use std::fmt::Write;

use plimsoll_checkers::{LookedFor, Validity, Verdict};

use super::RunMeta;
use super::headline::headline;

/// Sentences of one failure.
const SENTENCES: usize = 10;

/// The whole file.
pub fn junit(verdict: &Verdict, meta: &RunMeta) -> String {
    let mut cases: String = verdict
        .looked_for
        .iter()
        .map(|one| case(verdict, one))
        .collect();
    let (mut errors, mut tests) = (0, verdict.looked_for.len());
    if verdict.valid == Validity::Unknown || verdict.reason.is_some() {
        tests += 1;
        let reason = verdict.reason.as_deref().unwrap_or("it cannot be told");
        let element = match verdict.valid {
            Validity::Unknown => {
                errors = 1;
                format!("<error message=\"{}\"/>", escaped(reason))
            }
            _ => format!("<system-out>{}</system-out>", escaped(reason)),
        };
        let _ = writeln!(
            cases,
            "    <testcase classname=\"plimsoll.verdict\" name=\"everything could be judged\">{element}</testcase>"
        );
    }
    let failures = verdict
        .looked_for
        .iter()
        .filter(|one| one.violations > 0)
        .count();
    let mut properties = String::new();
    let replay = meta.replay.clone().or_else(|| verdict.replay.clone());
    let run = meta.run.clone().or_else(|| verdict.run.clone());
    let named = [("replay", replay), ("run", run)];
    let named = named
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    for (name, value) in named.chain(meta.settings.iter().cloned()) {
        let _ = writeln!(
            properties,
            "      <property name=\"{}\" value=\"{}\"/>",
            escaped(&name),
            escaped(&value)
        );
    }
    let seconds = meta.time_limit_ms.unwrap_or(0) as f64 / 1000.0;
    let timestamp = meta.started_utc.as_ref().map_or(String::new(), |at| {
        format!(" timestamp=\"{}\"", escaped(at.trim_end_matches('Z')))
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"plimsoll\" \
         tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" \
         time=\"{seconds:.3}\"{timestamp}>\n    <properties>\n{properties}    </properties>\n{cases}    \
         <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
        escaped(&headline(verdict).text())
    )
}

fn case(verdict: &Verdict, one: &LookedFor) -> String {
    let head = format!(
        "    <testcase classname=\"plimsoll.anomalies\" name=\"no {}\"",
        escaped(one.anomaly)
    );
    if one.violations == 0 {
        return match one.found {
            0 => format!("{head}/>\n"),
            found => format!(
                "{head}><system-out>{found} found, permitted by the settings</system-out></testcase>\n"
            ),
        };
    }
    let of = verdict.anomalies.iter();
    let of = of.filter(|judged| !judged.permitted && judged.finding.anomaly == one.anomaly);
    let sentences: Vec<&str> = of
        .take(SENTENCES)
        .map(|judged| judged.finding.sentence.as_str())
        .collect();
    format!(
        "{head}><failure message=\"{} found: {}\" type=\"{}\">{}</failure></testcase>\n",
        one.violations,
        escaped(one.definition),
        escaped(one.anomaly),
        escaped(&sentences.join("\n"))
    )
}

/// Text that XML 1.0 can hold: control characters have no form there at all.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(letter),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            other => safe.push(other),
        }
    }
    safe
}
