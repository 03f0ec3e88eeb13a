//! Which run comes next, and when a cell has had enough.
//!
//! Seed by seed over all cells, so that a comparison that is cut short is still fair, and so that cells
//! can be compared pair by pair. Pure: it is told the time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::intervals::{lost_share, outage_share};

/// Why a cell got no further run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It had all that were asked for.
    Runs,
    /// Its intervals were narrow enough.
    Precision,
    /// The time was up.
    Budget,
}

impl Stop {
    pub fn name(self) -> &'static str {
        match self {
            Stop::Runs => "runs",
            Stop::Precision => "precision",
            Stop::Budget => "budget",
        }
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub runs: usize,
    pub min_runs: usize,
    pub precision: Option<f64>,
    pub budget: Option<Duration>,
}

/// Everything that was run and is to be run.
#[derive(Debug)]
pub struct Schedule {
    limits: Limits,
    cells: Vec<State>,
}

#[derive(Debug, Default)]
struct State {
    started: BTreeSet<usize>,
    verdicts: BTreeMap<usize, Value>,
    stopped: Option<Stop>,
    time_limit_ms: f64,
}

impl Schedule {
    /// Cells by the length of their runs.
    pub fn new(limits: Limits, time_limits_ms: impl IntoIterator<Item = f64>) -> Self {
        let state = |time_limit_ms| State {
            time_limit_ms,
            ..State::default()
        };
        Self {
            limits,
            cells: time_limits_ms.into_iter().map(state).collect(),
        }
    }

    /// The next run as (cell, run).
    pub fn next(&mut self, elapsed: Duration) -> Option<(usize, usize)> {
        let runs = self.limits.runs;
        if self.limits.budget.is_some_and(|budget| elapsed >= budget) {
            for cell in self.cells.iter_mut().filter(|cell| cell.is_open(runs)) {
                cell.stopped = Some(Stop::Budget);
            }
        }
        let open = self.cells.iter_mut().enumerate();
        let open = open.filter(|(_, cell)| cell.is_open(runs));
        let (index, cell) = open.min_by_key(|(index, cell)| (cell.started.len(), *index))?;
        let run = (0..runs).find(|run| !cell.started.contains(run))?;
        cell.started.insert(run);
        Some((index, run))
    }

    /// A run that ended with a verdict, now or before the comparison was resumed.
    pub fn finished(&mut self, cell: usize, run: usize, verdict: Value) {
        let limits = self.limits;
        let Some(cell) = self.cells.get_mut(cell) else {
            return;
        };
        cell.started.insert(run);
        cell.verdicts.insert(run, verdict);
        let enough = cell.verdicts.len() >= limits.min_runs;
        if let Some(precision) = limits.precision.filter(|_| enough)
            && cell.stopped.is_none()
            && cell.is_open(limits.runs)
            && cell.width() <= precision
        {
            cell.stopped = Some(Stop::Precision);
        }
    }

    /// Verdicts of a cell by run.
    pub fn verdicts(&self, cell: usize) -> BTreeMap<usize, &Value> {
        let cell = self.cells.get(cell).into_iter();
        cell.flat_map(|cell| &cell.verdicts)
            .map(|(run, verdict)| (*run, verdict))
            .collect()
    }

    pub fn stopped(&self, cell: usize) -> Stop {
        let stopped = self.cells.get(cell).and_then(|cell| cell.stopped);
        stopped.unwrap_or(Stop::Runs)
    }

    /// Runs that ended, and that may yet be made.
    pub fn progress(&self) -> (usize, usize) {
        let done = self.cells.iter().map(|cell| cell.verdicts.len()).sum();
        let all = self.cells.iter().map(|cell| match cell.stopped {
            Some(_) => cell.started.len(),
            None => self.limits.runs,
        });
        (done, all.sum())
    }
}

impl State {
    fn is_open(&self, runs: usize) -> bool {
        self.stopped.is_none() && (0..runs).any(|run| !self.started.contains(&run))
    }

    /// The wider of its two intervals.
    fn width(&self) -> f64 {
        let verdicts: Vec<&Value> = self.verdicts.values().collect();
        let lost = lost_share(&verdicts).width();
        let outage = outage_share(&verdicts, self.time_limit_ms);
        outage.map_or(lost, |outage| lost.max(outage.width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schedule(runs: usize, precision: Option<f64>, budget: Option<u64>) -> Schedule {
        let limits = Limits {
            runs,
            min_runs: 3,
            precision,
            budget: budget.map(Duration::from_secs),
        };
        Schedule::new(limits, [10_000.0, 10_000.0])
    }

    fn verdict(lost: u64) -> Value {
        json!({"acked": 1000, "lost_acked": lost, "unacknowledged": 0, "unavailable_ms": 1000})
    }

    fn drain(schedule: &mut Schedule) -> Vec<(usize, usize)> {
        std::iter::from_fn(|| schedule.next(Duration::ZERO)).collect()
    }

    #[test]
    fn every_cell_gets_the_first_seed_before_any_gets_the_second() {
        let mut schedule = schedule(2, None, None);
        assert_eq!(drain(&mut schedule), [(0, 0), (1, 0), (0, 1), (1, 1)]);
    }

    #[test]
    fn what_was_done_before_is_not_done_again() {
        let mut schedule = schedule(2, None, None);
        schedule.finished(0, 0, verdict(1));
        schedule.finished(1, 1, verdict(1));
        assert_eq!(drain(&mut schedule), [(0, 1), (1, 0)]);
    }

    #[test]
    fn a_cell_whose_intervals_are_narrow_ends_and_one_that_lost_nothing_goes_on() {
        let mut schedule = schedule(9, Some(0.01), None);
        for run in 0..3 {
            schedule.finished(0, run, verdict(100));
            schedule.finished(1, run, verdict(0));
        }
        assert_eq!(schedule.stopped(0), Stop::Precision);
        // Three runs without a loss bound little.
        assert_eq!(
            drain(&mut schedule),
            [(1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8)]
        );
    }

    #[test]
    fn the_budget_ends_all_cells_that_are_open() {
        let mut schedule = schedule(1, None, Some(60));
        assert_eq!(schedule.next(Duration::from_secs(59)), Some((0, 0)));
        assert_eq!(schedule.next(Duration::from_secs(60)), None);
        assert_eq!(
            (schedule.stopped(0), schedule.stopped(1)),
            (Stop::Runs, Stop::Budget)
        );
    }
}
