//! The end of a run: the journal is read back as anyone would read it, judged,
//! and reported.

use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use plimsoll_checkers::history::History;
use plimsoll_checkers::{Validity, Verdict, check, judge};

use super::plan::Plan;
use crate::check::read_history;
use crate::cli::Format;
use crate::exit::Exit;
use crate::report::{self, RunMeta};
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
    let why = format!(
        "the run was stopped after {:.1} s of {:.1} s{}",
        after.as_secs_f64(),
        Duration::from_millis(time_limit_ms).as_secs_f64(),
        at.map_or(String::new(), |at| format!(", at a violation: {at}")),
    );
    verdict.reason = Some(match verdict.reason.take() {
        Some(reason) => format!("{why}; {reason}"),
        None => why,
    });
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
        environment: report::environment::of_this_machine(),
    }
}
