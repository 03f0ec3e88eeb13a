//! The Java client: a small program around kafka-clients, kept in this binary
//! as source, and compiled once into the cache folder.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::systems::{Kafka, cache_folder};

const SOURCE: &str = include_str!("java/PlimsollProducer.java");
const CLASS: &str = "PlimsollProducer";

/// The command that starts the producer.
pub fn command(kafka: &Kafka) -> anyhow::Result<Vec<String>> {
    let classes = compile(kafka, CLASS, SOURCE)?;
    let class_path = format!("{}:{}/*", classes.display(), kafka.libs.display());
    // Several of them share a machine with the brokers that they are to test.
    let words = [
        &kafka.java.display().to_string(),
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        &class_path,
        CLASS,
    ];
    Ok(words.map(str::to_owned).into())
}

/// The folder with the compiled class, made when it is not there yet. It is renamed into place
/// when it is whole, so that two harnesses at a time do no harm.
pub fn compile(kafka: &Kafka, class: &str, source: &str) -> anyhow::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (source, &kafka.libs).hash(&mut hasher);
    let cache = cache_folder()?;
    let folder = cache.join(format!("{class}-{:016x}", hasher.finish()));
    if folder.is_dir() {
        return Ok(folder);
    }
    let temporary = cache.join(format!(".{class}-{}", std::process::id()));
    fs::create_dir_all(&temporary)
        .with_context(|| format!("making the cache folder {}", temporary.display()))?;
    let compiled = run_compiler(kafka, &temporary, class, source);
    if compiled.is_ok() {
        // Where another harness was faster, its folder is as good.
        let _ = fs::rename(&temporary, &folder);
    }
    let _ = fs::remove_dir_all(&temporary);
    compiled?;
    Ok(folder)
}

fn run_compiler(kafka: &Kafka, folder: &Path, class: &str, source: &str) -> anyhow::Result<()> {
    let file = folder.join(format!("{class}.java"));
    fs::write(&file, source)?;
    let compiler = beside(&kafka.java);
    let output = Command::new(&compiler)
        .args(["-proc:none", "-encoding", "UTF-8", "-cp"])
        .arg(format!("{}/*", kafka.libs.display()))
        .arg("-d")
        .arg(folder)
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .with_context(|| {
            format!(
                "the Java client is compiled once, and {} cannot be started; a JDK is needed, not only a runtime (Debian: openjdk-17-jdk-headless), or set JAVA_HOME to one",
                compiler.display()
            )
        })?;
    if !output.status.success() {
        bail!(
            "the Java client does not compile against {}: {}",
            kafka.libs.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// The compiler of the same installation; by its name alone where java is on the path.
fn beside(java: &Path) -> PathBuf {
    java.with_file_name("javac")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_that_of_the_same_java() {
        assert_eq!(beside(Path::new("java")), Path::new("javac"));
        let home = beside(Path::new("/opt/jdk/bin/java"));
        assert_eq!(home, Path::new("/opt/jdk/bin/javac"));
    }
}
