//! One run of `plimsoll test` as a process of its own: started with a limit on
//! its time, watched, ended with everything it started, and accounted for.
//!
//! Promises: the run never outlives the thread that started it; one that goes
//! over its limit is killed; what it says is read while it runs, so that it
//! never waits for a reader.

mod interrupt;
mod watch;

pub use interrupt::interrupted;

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::systems::die_with_parent;

use self::watch::{End, watch};

/// What of stderr is kept: the end, where the reason is.
const STDERR_BYTES_KEPT: usize = 8 << 10;

/// How a run is bounded.
pub struct Bounds<'a> {
    /// Wall clock after which the run is killed; none for no limit.
    pub limit: Option<Duration>,
    /// Asked again and again: whether the run is not wanted any more.
    pub abandon: &'a dyn Fn() -> bool,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was judged.
    Judged(Box<Value>),
    /// It gave no verdict: why.
    Failed(String),
    /// It was killed because it was not wanted any more.
    Abandoned,
}

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub outcome: Outcome,
    /// The largest resident set of any one process of the run, KiB.
    pub max_rss_kib: u64,
}

/// Runs `plimsoll test` with these options, which include `--format=json`.
pub fn run(exe: &Path, words: &[String], bounds: &Bounds<'_>) -> Finished {
    let failed = |why: String| Finished {
        outcome: Outcome::Failed(format!("plimsoll test {}: {why}", words.join(" "))),
        max_rss_kib: 0,
    };
    let mut command = Command::new(exe);
    // A group of its own: a terminal's Ctrl-C is for the one that started the run.
    command
        .arg("test")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    die_with_parent(&mut command);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(error.to_string()),
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let said = scope.spawn(|| read_all(stdout));
        let complained = scope.spawn(|| read_end(stderr));
        let over = watch(&child, bounds);
        let said = said.join().unwrap_or_default();
        let complained = complained.join().unwrap_or_default();
        match over {
            Err(error) => failed(error.to_string()),
            Ok((end, max_rss_kib)) => Finished {
                max_rss_kib,
                ..concluded(&end, &said, &complained, failed)
            },
        }
    })
}

fn concluded(
    end: &End,
    said: &[u8],
    complained: &str,
    failed: impl Fn(String) -> Finished,
) -> Finished {
    match end {
        End::Abandoned => Finished {
            outcome: Outcome::Abandoned,
            max_rss_kib: 0,
        },
        End::OverTime(limit) => failed(format!(
            "it was killed: not over after its limit of {}; {complained}",
            humantime::format_duration(*limit)
        )),
        End::Ended(how) => match serde_json::from_slice(said) {
            Ok(verdict) => Finished {
                outcome: Outcome::Judged(Box::new(verdict)),
                max_rss_kib: 0,
            },
            Err(_) => failed(format!("{how}: {complained}")),
        },
    }
}

fn read_all(from: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // What could not be read is missing from a verdict that then does not parse.
        let _ = from.read_to_end(&mut bytes);
    }
    bytes
}

/// The last bytes of what a pipe gives.
fn read_end(from: Option<impl Read>) -> String {
    let Some(mut from) = from else {
        return String::new();
    };
    let (mut kept, mut chunk) = (Vec::new(), [0u8; 4096]);
    while let Ok(got @ 1..) = from.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..got]);
        let beyond = kept.len().saturating_sub(STDERR_BYTES_KEPT);
        kept.drain(..beyond);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    /// A program that stands for `plimsoll` and ignores its options.
    fn program(script: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        let run = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, run).expect("executable");
        (folder, path)
    }

    fn run_script(script: &str, limit: Duration, abandon: bool) -> Finished {
        let (_folder, path) = program(script);
        let bounds = Bounds {
            limit: Some(limit),
            abandon: &|| abandon,
        };
        run(&path, &[], &bounds)
    }

    const PATIENT: Duration = Duration::from_secs(60);

    #[test]
    fn a_verdict_is_read_whatever_the_exit_code_and_memory_is_accounted_for() {
        let finished = run_script("echo '{\"valid\":false}'; exit 1", PATIENT, false);
        let verdict = serde_json::json!({ "valid": false });
        assert_eq!(finished.outcome, Outcome::Judged(Box::new(verdict)));
        assert!(finished.max_rss_kib > 0);
    }

    #[test]
    fn a_run_without_a_verdict_is_reported_with_its_last_words() {
        let script = "head -c 100000 /dev/zero | tr '\\0' x >&2; echo the lab is gone >&2; exit 3";
        match run_script(script, PATIENT, false).outcome {
            Outcome::Failed(why) => {
                assert!(
                    why.contains("the lab is gone") && why.contains('3'),
                    "{why}"
                );
                assert!(why.len() < 2 * STDERR_BYTES_KEPT);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_run_over_its_limit_is_killed_and_one_that_is_not_wanted_as_well() {
        let start = Instant::now();
        match run_script("exec sleep 1000", Duration::from_millis(50), false).outcome {
            Outcome::Failed(why) => assert!(why.contains("its limit of 50ms"), "{why}"),
            other => panic!("{other:?}"),
        }
        let abandoned = run_script("exec sleep 1000", PATIENT, true);
        assert_eq!(abandoned.outcome, Outcome::Abandoned);
        assert!(start.elapsed() < PATIENT);
    }
}
