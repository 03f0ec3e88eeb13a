//! Kafka by name from Maven: the server with all that it depends on, copied
//! into a cache folder once. A folder is renamed into place when it is whole,
//! so that two harnesses at a time, or one that was killed, do no harm.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::ProgressBar;

/// Kafka's own libraries name no logger; without one it is silent. The version is that of the
/// interface that Kafka 4 uses.
const LOGGER: (&str, &str, &str) = ("org.slf4j", "slf4j-simple", "1.7.36");
const RESOLVE_MAX: Duration = Duration::from_secs(900);
const POLL_EVERY: Duration = Duration::from_millis(100);

/// The folder with the jars of a version, resolved when it is not there yet.
pub fn resolve(version: &str) -> anyhow::Result<PathBuf> {
    let cache = cache_folder()?;
    let folder = cache.join(format!("kafka-{version}"));
    let libs = folder.join("libs");
    if libs.is_dir() {
        return Ok(libs);
    }
    fs::create_dir_all(&cache)
        .with_context(|| format!("making the cache folder {}", cache.display()))?;
    let temporary = cache.join(format!(".kafka-{version}-{}", std::process::id()));
    let resolved = run_maven(&temporary, version);
    if resolved.is_ok() {
        // Where another harness was faster, its folder is as good.
        let _ = fs::rename(&temporary, &folder);
    }
    let _ = fs::remove_dir_all(&temporary);
    resolved?;
    if libs.is_dir() {
        return Ok(libs);
    }
    bail!(
        "Maven resolved Kafka {version}, but {} is not there",
        libs.display()
    )
}

/// `$PLIMSOLL_CACHE`, or `plimsoll` in the user's cache folder.
pub fn cache_folder() -> anyhow::Result<PathBuf> {
    let of = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(folder) = of("PLIMSOLL_CACHE") {
        return Ok(std::path::absolute(folder)?);
    }
    let base = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
    let base = base.context("there is no HOME for a cache folder; set PLIMSOLL_CACHE to one")?;
    Ok(std::path::absolute(base)?.join("plimsoll"))
}

fn run_maven(folder: &Path, version: &str) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("pom.xml"), pom(version))?;
    let log = fs::File::create(folder.join("maven.log"))?;
    let mut command = Command::new("mvn");
    command
        .args([
            "-B",
            "-ntp",
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-DoutputDirectory=libs",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log);
    crate::systems::die_with_parent(&mut command);
    let mut maven = command.spawn().context(
        "Kafka is resolved with Maven, and mvn cannot be started; install it (Debian: maven), or unpack Kafka yourself and name it with --kafka-home",
    )?;
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(POLL_EVERY);
    say!("resolving Apache Kafka {version} with Maven (once; about 45 MB)");
    let deadline = Instant::now() + RESOLVE_MAX;
    let status = loop {
        if let Some(status) = maven.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            let _ = maven.kill();
            let _ = maven.wait();
            bail!(
                "Maven did not resolve Kafka {version} within {} s",
                RESOLVE_MAX.as_secs()
            );
        }
        let jars = fs::read_dir(folder.join("libs")).map_or(0, Iterator::count);
        spinner.set_message(format!("{jars} jars"));
        std::thread::sleep(POLL_EVERY);
    };
    spinner.finish_and_clear();
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(folder.join("maven.log")).unwrap_or_default();
    bail!(
        "Maven could not resolve Kafka {version} ({status}); is there such a version, and is the repository reached? It said:\n{}",
        errors_in(&said)
    )
}

/// The lines of a Maven log that say what went wrong.
fn errors_in(log: &str) -> String {
    let errors: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("ERROR"))
        .take(8)
        .collect();
    if errors.is_empty() {
        log.trim_end().to_owned()
    } else {
        errors.join("\n")
    }
}

fn pom(version: &str) -> String {
    let dependency = |group: &str, artifact: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"
        )
    };
    let (group, artifact, logger) = LOGGER;
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>plimsoll</groupId><artifactId>kafka-under-test</artifactId><version>1</version>\n\
         <dependencies>\n{}\n{}\n</dependencies></project>\n",
        dependency("org.apache.kafka", "kafka_2.13", version),
        dependency(group, artifact, logger),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pom_names_the_server_and_a_logger() {
        let pom = pom("4.1.0");
        assert!(
            pom.contains("kafka_2.13</artifactId><version>4.1.0<"),
            "{pom}"
        );
        assert!(pom.contains("slf4j-simple"), "{pom}");
    }

    #[test]
    fn what_maven_complained_of_is_shown_and_not_all_it_said() {
        let log = "[INFO] x\n[ERROR] no such artifact\n[INFO] y\n";
        assert_eq!(errors_in(log), "[ERROR] no such artifact");
    }
}
