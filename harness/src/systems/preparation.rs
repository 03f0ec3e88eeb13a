//! What is done to a node before its first start, such as formatting its data:
//! commands that must come to an end, and do so in time.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{die_with_parent, last_words};

const ENDED_POLL_EVERY: Duration = Duration::from_millis(5);

/// Runs one command to its end and keeps what it prints in `log`. One that has not ended in what
/// is `left` of `limit` is killed, with all that it started.
pub(super) fn run(
    mut command: Command,
    log: &Path,
    limit: Duration,
    left: Duration,
) -> anyhow::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(log)?;
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .process_group(0);
    // This thread waits for it.
    die_with_parent(&mut command);
    let line = line_of(&command);
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {line}"))?;
    match ended(&mut child, left)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{line} ended with {status}; {}", tail_of(log)),
        None => {
            kill_group(&mut child);
            bail!(
                "{line} did not end within limits.start, which is {}, and was killed; {}",
                humantime::format_duration(limit),
                tail_of(log)
            )
        }
    }
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

fn ended(child: &mut Child, left: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= left {
            return Ok(None);
        }
        thread::sleep(ENDED_POLL_EVERY);
    }
}

/// It leads a group of its own, in which its children are too.
fn kill_group(child: &mut Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: a plain system call; the child is not yet reaped, so the id is still its own.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
    // Either fails only where it is gone already.
    let _ = child.kill();
    let _ = child.wait();
}

/// The last of what was printed.
fn tail_of(log: &Path) -> String {
    let words = last_words(log);
    match words.trim_end() {
        "" => format!("it printed nothing ({})", log.display()),
        words => format!("the end of {}:\n{words}", log.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(script: &str, left: Duration) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(
            command,
            &folder.path().join("prepare.log"),
            Duration::from_secs(5),
            left,
        )
        .expect_err("it fails")
        .to_string()
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_at_the_limit_and_named() {
        // Were the command waited for, this would take a day.
        let error = error_of("echo on my way; sleep 86460; :", Duration::from_millis(300));
        for hint in ["sleep 86460", "limits.start", "5s", "on my way"] {
            assert!(error.contains(hint), "{hint} is not in: {error}");
        }
    }

    #[test]
    fn a_command_that_fails_is_shown_with_its_last_words() {
        let error = error_of("echo no room; exit 7", Duration::from_secs(20));
        assert!(
            error.contains("exit status: 7") && error.contains("no room"),
            "{error}"
        );
    }
}
