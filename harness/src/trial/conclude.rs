//! The end of a run: the journal is read back as anyone would read it, judged,
//! and reported.

use anyhow::Context;
use plimsoll_checkers::{Validity, check, judge};

use super::plan::Plan;
use crate::exit::Exit;
use crate::runner::real::Ended;
use crate::store::read_history;

/// Closes the journal, judges it, writes the report; gives the exit code.
pub fn conclude(plan: &Plan<'_>, ended: Ended) -> anyhow::Result<Exit> {
    ended.recorder.close().context("closing the journal")?;
    if let Some(failure) = ended.failure {
        let folder = plan.folder.path().display();
        return Err(
            anyhow::Error::new(failure).context(format!("the test bed failed; see {folder}"))
        );
    }
    let history = read_history(&plan.folder.journal())?;
    let promise = plan.promise();
    let mut verdict = judge(check(&history), &promise);
    verdict.seed = Some(plan.seed);
    verdict.run = Some(plan.folder.path().display().to_string());
    verdict.replay = Some(plan.replay());
    plan.folder
        .write_json("verdict.json", &serde_json::to_value(&verdict)?)?;
    plan.folder
        .compress_journal()
        .context("compressing the journal")?;
    if verdict.valid == Validity::Valid {
        plan.folder.drop_node_data();
    }
    if plan.invocation.args.format == crate::cli::Format::Json {
        println!("{}", serde_json::to_string_pretty(&verdict)?);
    } else {
        eprintln!(
            "{}",
            serde_json::to_string_pretty(&verdict)?
                .chars()
                .take(3000)
                .collect::<String>()
        );
    }
    Ok(match verdict.valid {
        Validity::Valid => Exit::Valid,
        Validity::Invalid => Exit::Violation,
        Validity::Unknown => Exit::Unknown,
    })
}
