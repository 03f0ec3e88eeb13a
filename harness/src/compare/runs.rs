//! Running the cells: each run is `plimsoll test` as a process of its own,
//! several at a time, the same seeds in each cell.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::cells::Comparison;
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

type Results = BTreeMap<(usize, usize), RunResult>;

/// Runs every cell with every seed; results by (cell, run).
pub fn run_all(comparison: &Comparison) -> anyhow::Result<Results> {
    let exe = own_exe()?;
    // Seed by seed, so that a comparison that is cut short is still fair.
    let work: Vec<(usize, usize)> = (0..comparison.seeds.len())
        .flat_map(|run| (0..comparison.cells.len()).map(move |cell| (cell, run)))
        .collect();
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Results::new()));
    std::thread::scope(|scope| {
        for _ in 0..comparison.jobs.min(work.len()) {
            scope.spawn(|| {
                while let Some((cell, run)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let words = words_of(&comparison.cells[*cell], comparison.seeds[*run]);
                    let result = run_one(&exe, &words);
                    let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
                    all.insert((*cell, *run), result);
                    eprintln!("compare: {} of {} runs done", all.len(), work.len());
                }
            });
        }
    });
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn run_one(exe: &std::path::Path, words: &[String]) -> RunResult {
    // A comparison runs to its end; its runs end when it is killed.
    let unbounded = Bounds {
        limit: None,
        abandon: &|| false,
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
