//! The progress line, on a terminal; elsewhere a line now and then, so that a
//! long run is not silent in the log of a CI.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Format, TestArgs};
use crate::runner::real::Watcher;
use crate::session::Session;

const SELDOM: Duration = Duration::from_secs(30);

/// One line on stderr that follows a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// When a line was last printed, where there is no terminal and people are to read it.
    last: Option<Duration>,
}

impl Progress {
    pub fn new(args: &TestArgs) -> Progress {
        if !std::io::stderr().is_terminal() {
            let last = (args.format == Format::Human).then_some(Duration::ZERO);
            return Progress { bar: None, last };
        }
        let bar = ProgressBar::new(args.time_limit.ms);
        let template = "{bar:24} {prefix:>10} {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress {
            bar: Some(bar),
            last: None,
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watcher for Progress {
    fn watch(&mut self, session: &Session, elapsed: Duration) {
        if let Some(bar) = &self.bar {
            bar.set_position(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
            bar.set_prefix(session.phase().name());
            bar.set_message(state(session, elapsed));
        } else if let Some(last) = &mut self.last
            && elapsed >= *last + SELDOM
        {
            *last = elapsed;
            say!("{}: {}", session.phase().name(), state(session, elapsed));
        }
    }
}

fn state(session: &Session, elapsed: Duration) -> String {
    let stats = session.stats();
    format!(
        "{:.0}s  {} acked  {} failed  {} indeterminate  {} reads  {} faults{}",
        elapsed.as_secs_f64(),
        stats.acked,
        stats.failed,
        stats.indeterminate,
        stats.reads,
        stats.faults,
        if stats.faults_on > 0 {
            " (one is on)"
        } else {
            ""
        },
    )
}
