//! The loop of a soak: who runs what next, and what is done with each run that
//! is over. Several workers share the books under one lock; runs go on outside
//! of it.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::folder::SoakFolder;
use super::junit;
use super::ledger::Ledger;
use super::memory::own_rss_kib;
use super::plan::Plan;
use super::record::{Ending, Record};
use super::run::Assignment;
use super::suite::{Every, Suite};
use super::summary::Summary;
use super::terms::{Terms, millis};
use crate::child_run::interrupted;

/// A test bed that has failed this often, and nothing else, is not tried further.
const FAILURES_IN_VAIN: u64 = 10;
/// A wait after each failure of the test bed in a row, up to a bound.
const BACKOFF: Duration = Duration::from_millis(500);
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// What a soak is made of.
pub struct SoakParts {
    pub exe: PathBuf,
    pub suite: Suite,
    pub plan: Plan,
    pub terms: Terms,
    pub folder: SoakFolder,
    pub ledger: Ledger,
    pub log: File,
}

struct Books {
    ledger: Ledger,
    log: File,
    failures_in_a_row: u32,
    /// Why the soak cannot go on, where it cannot.
    broken: Option<anyhow::Error>,
}

/// A soak under way.
pub struct Soak {
    exe: PathBuf,
    suite: Suite,
    plan: Plan,
    terms: Terms,
    folder: SoakFolder,
    books: Mutex<Books>,
    start: Instant,
    /// Time that earlier starts have used.
    earlier_ms: u64,
    ending: AtomicBool,
    /// Whether a signal ended it.
    stopped: AtomicBool,
}

enum Work {
    Run(u64),
    Round(u64),
}

impl Soak {
    pub fn new(parts: SoakParts) -> Soak {
        Soak {
            exe: parts.exe,
            suite: parts.suite,
            plan: parts.plan,
            terms: parts.terms,
            folder: parts.folder,
            earlier_ms: parts.ledger.at_ms,
            books: Mutex::new(Books {
                ledger: parts.ledger,
                log: parts.log,
                failures_in_a_row: 0,
                broken: None,
            }),
            start: Instant::now(),
            ending: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    /// Runs until a limit, a signal, or a violation at which to stop.
    pub fn run(&self) -> anyhow::Result<()> {
        let interrupted = interrupted("soak").context("listening for signals")?;
        // A soak that has nothing left to do still writes its summaries.
        self.write_summaries(&self.books().ledger)?;
        std::thread::scope(|scope| {
            for _ in 0..self.terms.jobs {
                scope.spawn(|| self.work(&interrupted));
            }
        });
        let signalled = interrupted.load(Ordering::Relaxed);
        self.stopped.store(signalled, Ordering::Relaxed);
        let mut books = self.books();
        match books.broken.take() {
            Some(broken) => Err(broken),
            None => self.write_summaries(&books.ledger),
        }
    }

    /// The last word: the books, for a terminal, and as JSON.
    pub fn into_summary(self) -> (Ledger, String, serde_json::Value) {
        let books = self.books();
        let summary = self.summary(&books.ledger);
        let (text, json) = (summary.terminal(), summary.json());
        drop(books);
        let books = self.books.into_inner();
        let books = books.unwrap_or_else(PoisonError::into_inner);
        (books.ledger, text, json)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Counters and lines, each added to in one step: sound if a holder panicked.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn elapsed_ms(&self) -> u64 {
        self.earlier_ms.saturating_add(millis(self.start.elapsed()))
    }

    fn work(&self, interrupted: &Arc<AtomicBool>) {
        while let Some(work) = self.next(interrupted) {
            match work {
                Work::Run(run) => self.carry_out(&self.assigned(run), interrupted),
                Work::Round(round) => self.round(round, interrupted),
            }
            give_back_memory();
        }
    }

    fn is_over(&self, interrupted: &AtomicBool) -> bool {
        interrupted.load(Ordering::Relaxed)
            || self.ending.load(Ordering::Relaxed)
            || self.elapsed_ms() >= self.terms.time_limit_ms
    }

    /// A canary where one is due, else the next run of the plan.
    fn next(&self, interrupted: &AtomicBool) -> Option<Work> {
        if self.is_over(interrupted) {
            return None;
        }
        let mut books = self.books();
        let ledger = &mut books.ledger;
        if let Some(round) = ledger.take_round(self.rounds_due(ledger.runs_begun())) {
            return Some(Work::Round(round));
        }
        let left = self
            .terms
            .runs
            .is_none_or(|most| ledger.runs_begun() < most);
        left.then(|| Work::Run(ledger.take_run()))
    }

    /// How many rounds of canaries should have begun by now.
    fn rounds_due(&self, runs_begun: u64) -> u64 {
        if self.suite.canaries.is_empty() {
            return 0;
        }
        let all = u64::try_from(self.suite.canaries.len()).unwrap_or(u64::MAX);
        let at_start = if self.suite.at_start { all } else { 0 };
        let later = match self.suite.every {
            Every::Runs(runs) => runs_begun / runs.max(1),
            Every::Time(time) => self.elapsed_ms() / millis(time).max(1),
        };
        at_start.saturating_add(later)
    }

    fn assigned(&self, run: u64) -> Assignment<'_> {
        let cell = &self.suite.cells[self.plan.cell(run)];
        Assignment::of_cell(run, cell, self.plan.run_seed(run))
    }

    /// Trial after trial until the canary is caught or its trials are used up.
    fn round(&self, round: u64, interrupted: &Arc<AtomicBool>) {
        let all = u64::try_from(self.suite.canaries.len()).unwrap_or(1);
        let turn = usize::try_from(round % all).unwrap_or(0);
        let canary = &self.suite.canaries[turn];
        while !self.is_over(interrupted) {
            let nth = {
                let books = self.books();
                if books.ledger.round_is_over(round) {
                    return;
                }
                books.ledger.trials_made(round) + 1
            };
            let seed = self.plan.canary_seed(round, u64::from(nth));
            let assignment = Assignment::of_canary(round, canary, nth, seed);
            self.carry_out(&assignment, interrupted);
        }
    }

    fn carry_out(&self, assignment: &Assignment<'_>, interrupted: &Arc<AtomicBool>) {
        let slot = assignment.slot();
        let limit = self
            .terms
            .run_limit_ms
            .map_or(assignment.limit, Duration::from_millis);
        let abandon = || interrupted.load(Ordering::Relaxed);
        let out = self.folder.running(&slot);
        let made = assignment.carry_out(&self.exe, &out, limit, &abandon);
        let Some(record) = made else {
            self.folder.discard(&slot);
            return;
        };
        let mut books = self.books();
        let failed = record.ending == Ending::TestBed;
        if let Err(error) = self.book(&mut books, assignment, record) {
            books.broken = Some(error);
            self.ending.store(true, Ordering::Relaxed);
            return;
        }
        books.failures_in_a_row = if failed {
            books.failures_in_a_row + 1
        } else {
            0
        };
        let wait = BACKOFF
            .saturating_mul(books.failures_in_a_row)
            .min(BACKOFF_MAX);
        drop(books);
        if failed {
            self.rest(wait, interrupted);
        }
    }

    /// A test bed that fails at once would else be tried a thousand times a minute.
    fn rest(&self, wait: Duration, interrupted: &AtomicBool) {
        let until = Instant::now() + wait;
        while Instant::now() < until && !self.is_over(interrupted) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Keeps or drops the run's folder, writes its line, and what follows from it.
    fn book(
        &self,
        books: &mut Books,
        assignment: &Assignment<'_>,
        mut record: Record,
    ) -> anyhow::Result<()> {
        let slot = assignment.slot();
        record.nth = books.ledger.lines + 1;
        if is_kept(&record) {
            let label = assignment.label(record.nth);
            record.folder = self.folder.keep(&slot, &label).context("keeping a run")?;
        } else {
            self.folder.discard(&slot);
        }
        let thinned = self.folder.thin(self.terms.max_disk_bytes);
        for said in thinned.context("thinning what is kept")? {
            say!("soak: {said}");
        }
        record.soak_rss_kib = own_rss_kib();
        record.disk_bytes = self.folder.bytes();
        record.at_ms = self.elapsed_ms();
        let mut line = serde_json::to_string(&record)?;
        line.push('\n');
        books
            .log
            .write_all(line.as_bytes())
            .context("writing a line of soak.jsonl")?;
        books.ledger.add(&record);
        self.say(&books.ledger, &record);
        self.write_summaries(&books.ledger)?;
        let stops = self.terms.stop_on_violation && books.ledger.violations_count > 0;
        let in_vain = books.ledger.only_failures() && books.ledger.runs() >= FAILURES_IN_VAIN;
        if in_vain {
            say!(
                "soak: ends: the test bed failed in every run; see {}",
                record.finding
            );
        }
        if stops || in_vain {
            self.ending.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn say(&self, ledger: &Ledger, record: &Record) {
        let line = super::summary::progress(ledger, record);
        let marked = record.canary.is_none() && record.ending == Ending::Invalid;
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        if marked && colour {
            say!("\u{1b}[31m{line}\u{1b}[0m");
        } else {
            say!("{line}");
        }
    }

    fn summary<'a>(&'a self, ledger: &'a Ledger) -> Summary<'a> {
        let (kept, thinned) = self.folder.kept_and_thinned();
        Summary {
            title: &self.suite.title,
            terms: &self.terms,
            folder: self.folder.path(),
            ledger,
            elapsed_ms: self.elapsed_ms(),
            kept,
            thinned,
            stopped: self.stopped.load(Ordering::Relaxed),
        }
    }

    fn write_summaries(&self, ledger: &Ledger) -> anyhow::Result<()> {
        let summary = self.summary(ledger);
        let files = [
            ("summary.md", summary.markdown()),
            ("summary.json", format!("{:#}\n", summary.json())),
            ("junit.xml", junit::render(ledger)),
        ];
        for (name, text) in files {
            let written = self.folder.replace(name, &text);
            written.with_context(|| format!("writing {name}"))?;
        }
        Ok(())
    }
}

/// What did not pass is kept; of a canary only the last trial in vain, or where
/// the test bed failed.
fn is_kept(record: &Record) -> bool {
    match &record.canary {
        None => !matches!(record.ending, Ending::Valid | Ending::PermittedLoss),
        Some(trial) => {
            record.ending == Ending::TestBed || (!trial.caught && trial.trial >= trial.trials_max)
        }
    }
}

/// A verdict with thousands of losses is a large tree for a moment. What was freed of it goes back to the
/// system, so that a soak of days stays as small as its books.
fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it touches only what the allocator has free.
    unsafe {
        libc::malloc_trim(0);
    }
}
