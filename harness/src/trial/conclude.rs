//! The end of a run: the journal is read back as anyone would read it, judged,
//! and reported.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use plimsoll_checkers::history::History;
use plimsoll_checkers::{STOPPED_EARLY, Validity, Verdict, check, judge};

use super::plan::Plan;
use crate::check::read_history;
use crate::cli::Format;
use crate::exit::Exit;
use crate::report::{self, RunMeta, Staged};
use crate::runner::real::Ended;

/// Closes the journal, judges it, writes the report; gives the exit code.
pub fn conclude(plan: &Plan<'_>, ended: Ended) -> anyhow::Result<Exit> {
    let closed = ended.recorder.close().context("closing the journal");
    if let Some(failure) = ended.failure {
        let folder = plan.folder.path().display();
        let mut why = format!("the test bed failed; see {folder}");
        if let Err(not_closed) = closed {
            why = format!("{why} ({not_closed:#})");
        }
        return Err(anyhow::Error::new(failure).context(why));
    }
    closed?;
    let history = read_history(&plan.folder.journal())?;
    let mut verdict = judge(check(&history), &plan.promise());
    verdict.seed = Some(plan.seed);
    if let Some(after) = ended.stopped_after {
        let at = ended.violation.as_deref();
        cut_short(&mut verdict, after, plan.invocation.args.time_limit.ms, at);
    }
    let meta = meta(plan, &history);
    let losses = report::losses(Some(plan.folder.path()), &history, &verdict)?;
    report::write(plan.folder.path(), &history, &verdict, &meta, &losses)?;
    plan.folder
        .compress_journal()
        .context("compressing the journal")?;
    if verdict.valid == Validity::Valid {
        plan.folder.drop_node_data(&plan.found.description.data);
        if verdict.anomaly_counts.is_empty() {
            plan.folder.drop_evidence();
        }
    }
    match plan.invocation.args.format {
        Format::Json => {
            let json = report::verdict_json(&verdict, &meta, &losses);
            writeln!(std::io::stdout(), "{json}").context("writing the verdict to stdout")?;
        }
        Format::Human => {
            let colour = report::stderr_has_colour();
            let text = report::terminal(&verdict, &meta, &losses, colour);
            say!("{}", text.trim_end_matches('\n'));
        }
    }
    Ok(Exit::of(verdict.valid))
}

/// A run that somebody stopped has not shown what it was asked to: a violation stays one, but
/// nothing found is no answer.
fn cut_short(verdict: &mut Verdict, after: Duration, time_limit_ms: u64, at: Option<&str>) {
    if verdict.valid == Validity::Valid {
        verdict.valid = Validity::Unknown;
    }
    let mut why = format!(
        "the run was stopped after {:.1} s of {:.1} s",
        after.as_secs_f64(),
        Duration::from_millis(time_limit_ms).as_secs_f64(),
    );
    why.extend(at.map(|at| stopped_at(at, verdict)));
    // The same thing in the checkers' words.
    let others = verdict.reason.take().unwrap_or_default();
    let others = others.split("; ").filter(|other| !other.is_empty());
    for other in others.filter(|other| *other != STOPPED_EARLY) {
        why.push_str(&format!("; {other}"));
    }
    verdict.reason = Some(why);
}

/// What a run was stopped at was seen as it went by. Judged as a whole it may be another anomaly: a
/// record that was lost makes a gap in the order, and is no longer there to be out of order itself.
fn stopped_at(suspicion: &str, verdict: &Verdict) -> String {
    let anomaly = suspicion.split(' ').next().unwrap_or_default();
    if verdict.violations.contains(&anomaly) {
        return format!(", at a violation: {suspicion}");
    }
    let in_the_end = match verdict.violations.is_empty() {
        true => "the whole history shows no violation".to_owned(),
        false => format!(
            "the whole history shows it as {}",
            verdict.violations.join(", ")
        ),
    };
    format!(", at a first suspicion of {suspicion}; {in_the_end}")
}

fn meta(plan: &Plan<'_>, history: &History) -> RunMeta {
    let system = history.header().map(|header| header.system.clone());
    RunMeta {
        run: Some(plan.folder.path().display().to_string()),
        replay: Some(plan.replay()),
        started_utc: Some(plan.started_utc.clone()),
        time_limit_ms: Some(plan.invocation.args.time_limit.ms),
        system: system.unwrap_or_default(),
        settings: plan.settings(),
        scenario: plan.invocation.scenario.as_ref().map(|scenario| Staged {
            title: scenario.title.clone(),
            expect: scenario.expect.trim().to_owned(),
        }),
        environment: report::environment::of_this_machine(),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_checkers::formats;

    use super::*;

    fn verdict(name: &str) -> Verdict {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../checkers/tests/golden");
        let text = std::fs::read(format!("{folder}/{name}.jsonl")).expect("a golden history");
        let history = formats::read(&text[..]).expect("a history");
        let promise = history.header().expect("a header").promise.clone();
        judge(check(&history), &promise)
    }

    fn reason(verdict: &mut Verdict, at: Option<&str>) -> String {
        cut_short(verdict, Duration::from_millis(8900), 30_000, at);
        verdict.reason.clone().unwrap_or_default()
    }

    #[test]
    fn a_suspicion_that_was_judged_otherwise_is_not_called_a_violation() {
        let stopped = "the run was stopped after 8.9 s of 30.0 s, at a";
        let mut lost = verdict("lost-write-invalid");
        assert_eq!(
            reason(&mut lost, Some("realtime-order in log-0 at offset 490")),
            format!(
                "{stopped} first suspicion of realtime-order in log-0 at offset 490; \
                 the whole history shows it as lost-write"
            )
        );
        let mut lost = verdict("lost-write-invalid");
        assert_eq!(
            reason(&mut lost, Some("lost-write in log-0 at offset 1")),
            format!("{stopped} violation: lost-write in log-0 at offset 1")
        );
        let mut valid = verdict("lost-write-valid");
        assert!(reason(&mut valid, Some("x in log-0")).ends_with("shows no violation"));
        assert_eq!(valid.valid, Validity::Unknown);
    }

    #[test]
    fn a_run_that_was_stopped_says_so_once_and_keeps_its_other_doubts() {
        let mut valid = verdict("lost-write-valid");
        valid.reason = Some(format!(
            "{STOPPED_EARLY}; log-0 was not read to its barrier"
        ));
        assert_eq!(
            reason(&mut valid, None),
            "the run was stopped after 8.9 s of 30.0 s; log-0 was not read to its barrier"
        );
    }
}
