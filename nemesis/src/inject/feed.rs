//! Gives a script to a program that reads it from stdin.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Runs the program to its end; what it complained of, where it refused the script.
pub(super) fn feed(mut command: Command, script: &str) -> io::Result<Option<String>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((!output.status.success()).then(said))
}
