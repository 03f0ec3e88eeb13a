//! The progress line: on a terminal only, and only for people.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::TestArgs;
use crate::runner::real::Watcher;
use crate::session::Session;

/// One line on stderr that follows a run.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(args: &TestArgs) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress { bar: None };
        }
        let bar = ProgressBar::new(args.time_limit.ms);
        let template = "{bar:24} {prefix:>10} {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar: Some(bar) }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Watcher for Progress {
    fn watch(&mut self, session: &Session, elapsed: Duration) {
        let Some(bar) = &self.bar else { return };
        let stats = session.stats();
        bar.set_position(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        bar.set_prefix(session.phase().name());
        bar.set_message(format!(
            "{:.0}s  {} acked  {} failed  {} unknown  {} reads  {} faults{}",
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
        ));
    }
}
