//! The guard: a small process that takes the cluster down when the harness is
//! killed, since nothing else would then.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use anyhow::Context;

use super::docker::Compose;

/// Waits for a word or for the end of its input; without the word it acts.
const SCRIPT: &str = r#"read -r word; [ "$word" = done ] || exec "$@""#;

/// Takes the cluster down unless it is dismissed.
pub struct Guard {
    child: Child,
}

impl Guard {
    pub fn start(compose: &Compose) -> anyhow::Result<Guard> {
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "plimsoll-guard"])
            .args(compose.down_words())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A terminal's Ctrl-C is for the harness, which then heals and reads.
            .process_group(0);
        let child = command
            .spawn()
            .context("starting the guard of the containers")?;
        Ok(Guard { child })
    }

    /// All is taken down; nothing is left to do.
    pub fn dismiss(mut self) {
        if let Some(mut stdin) = self.child.stdin.take() {
            // Where it does not hear this, it takes down what is down already.
            let _ = stdin.write_all(b"done\n");
        }
        let _ = self.child.wait();
    }
}
