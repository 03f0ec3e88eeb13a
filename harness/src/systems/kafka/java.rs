//! Java: `$JAVA_HOME` or the path, 17 or later.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

const VERSION_MIN: u32 = 17;

/// The program, once it has said a version that Kafka runs on.
pub fn find() -> anyhow::Result<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let program = home.map_or_else(
        || PathBuf::from("java"),
        |home| PathBuf::from(home).join("bin/java"),
    );
    let output = Command::new(&program).arg("-version").output().with_context(|| {
        format!(
            "Kafka needs Java {VERSION_MIN} or later, and {} cannot be started; install a JDK (Debian: openjdk-17-jre-headless) or set JAVA_HOME",
            program.display()
        )
    })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match version_in(&said) {
        Some(version) if version >= VERSION_MIN => Ok(program),
        Some(version) => bail!(
            "Kafka needs Java {VERSION_MIN} or later, and {} is Java {version}; set JAVA_HOME to a newer one",
            program.display()
        ),
        None => bail!(
            "{} -version does not say a version: {}",
            program.display(),
            said.trim()
        ),
    }
}

/// The major version in what `java -version` prints.
fn version_in(said: &str) -> Option<u32> {
    let quoted = said.split('"').nth(1)?;
    let mut parts = quoted.split(['.', '-', '+', '_']);
    let first: u32 = parts.next()?.parse().ok()?;
    // Up to 8, versions were called 1.8.
    if first == 1 {
        parts.next()?.parse().ok()
    } else {
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_ways_of_writing_a_version_are_read() {
        assert_eq!(
            version_in("openjdk version \"17.0.15\" 2025-04-15"),
            Some(17)
        );
        assert_eq!(version_in("java version \"1.8.0_392\""), Some(8));
        assert_eq!(version_in("openjdk version \"25-ea\""), Some(25));
        assert_eq!(version_in("no such thing"), None);
    }
}
