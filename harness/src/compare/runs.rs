//! Running the cells: each run is `plimsoll test` as a process of its own,
//! several at a time, the same seeds in each cell.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::cells::Comparison;
use super::folder::{Folder, Line, Log};
use super::schedule::Schedule;
use super::summary::summary;
use super::words_of;
use crate::child_run::{self, Bounds, Outcome};
use crate::trial::own_exe;

/// What one run gave.
#[derive(Clone, Debug, Default)]
pub struct RunResult {
    pub verdict: Option<serde_json::Value>,
    /// Why there is none.
    pub failure: Option<String>,
}

/// What the threads share.
struct Shared<'a> {
    schedule: &'a mut Schedule,
    log: Log,
    failures: Vec<String>,
}

/// Makes every run that the schedule asks for; gives why those without a verdict have none.
pub fn run_all(
    comparison: &Comparison,
    folder: &Folder,
    log: Log,
    schedule: &mut Schedule,
    jobs: usize,
    stopped: &AtomicBool,
) -> anyhow::Result<Vec<String>> {
    let exe = own_exe()?;
    let start = Instant::now();
    let shared = Mutex::new(Shared {
        schedule,
        log,
        failures: Vec::new(),
    });
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while !stopped.load(Ordering::Relaxed) {
                    // The lock is given back before the run begins.
                    let next = lock().schedule.next(start.elapsed());
                    let Some((cell, run)) = next else { break };
                    let seed = comparison.seeds[run];
                    let words = words_of(&comparison.cells[cell], seed, &folder.runs());
                    let result = run_one(&exe, &words, stopped);
                    lock().note(comparison, folder, (cell, run), result);
                }
            });
        }
    });
    let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(shared.failures)
}

impl Shared<'_> {
    fn note(
        &mut self,
        comparison: &Comparison,
        folder: &Folder,
        (cell, run): (usize, usize),
        result: RunResult,
    ) {
        match result.verdict {
            Some(verdict) => {
                let line = Line {
                    cell,
                    settings: comparison.cells[cell].label(&comparison.axes),
                    run,
                    seed: comparison.seeds[run],
                    folder: relative(folder.path(), &verdict),
                    verdict: summary(&verdict),
                };
                if let Err(error) = self.log.append(&line) {
                    let failure = format!("runs.jsonl cannot be written: {error}");
                    self.failures.push(failure);
                }
                self.schedule.finished(cell, run, line.verdict);
            }
            None => self.failures.extend(result.failure),
        }
        let (done, all) = self.schedule.progress();
        say!("compare: {done} of {all} runs done");
    }
}

/// The run's folder as seen from the comparison's, so that the whole can be moved.
fn relative(folder: &Path, verdict: &serde_json::Value) -> Option<String> {
    let run = Path::new(verdict["run"].as_str()?);
    let inside = run.strip_prefix(folder).unwrap_or(run);
    Some(inside.display().to_string())
}

fn run_one(exe: &Path, words: &[String], stopped: &AtomicBool) -> RunResult {
    let unbounded = Bounds {
        limit: None,
        abandon: &|| stopped.load(Ordering::Relaxed),
    };
    match child_run::run(exe, words, &unbounded).outcome {
        Outcome::Judged(verdict) => RunResult {
            verdict: Some(*verdict),
            failure: None,
        },
        Outcome::Failed(why) => RunResult {
            verdict: None,
            failure: Some(why),
        },
        Outcome::Abandoned => RunResult::default(),
    }
}
