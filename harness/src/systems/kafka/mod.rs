//! Where Apache Kafka comes from: a directory that the user names, or Maven,
//! into a cache folder. Java is looked for, and its version is checked.

mod java;
mod maven;

pub use maven::cache_folder;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The version that is taken where none is given.
pub const DEFAULT_VERSION: &str = "4.4.0";
/// Eligible leader replicas are on in new clusters from this version on (KIP-966).
const ELR_DEFAULT_FROM: (u32, u32) = (4, 1);

/// A version that can be asked for: 4.0.0 and later.
pub fn check_version(text: &str) -> Result<(), String> {
    let parts: Vec<Option<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    match parts.as_slice() {
        [Some(major), Some(_), Some(_)] if *major >= 4 => Ok(()),
        _ => Err(format!(
            "\"{text}\" is no version of Kafka that can be run; write one like kafka:{DEFAULT_VERSION}, 4.0.0 or later"
        )),
    }
}

/// Whether a new cluster of this version has eligible leader replicas on.
pub fn elr_by_default(version: &str) -> bool {
    let mut parts = version
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let (major, minor) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (major, minor) >= ELR_DEFAULT_FROM
}

/// Kafka, found.
#[derive(Clone, Debug)]
pub struct Kafka {
    pub java: PathBuf,
    /// Where the jars are.
    pub libs: PathBuf,
    pub version: String,
}

impl Kafka {
    /// From a directory, or by Maven into the cache, where it is not there yet.
    pub fn find(home: Option<&Path>, version: &str) -> anyhow::Result<Kafka> {
        let java = java::find()?;
        let (libs, version) = match home {
            Some(home) => in_home(home)?,
            None => (maven::resolve(version)?, version.to_owned()),
        };
        Ok(Kafka {
            java,
            libs,
            version,
        })
    }

    /// As values for a description.
    pub fn values(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("java".to_owned(), self.java.display().to_string()),
            (
                "kafka_libs".to_owned(),
                format!("{}/*", self.libs.display()),
            ),
        ])
    }
}

/// The jars of an unpacked distribution, and the version that their names give.
fn in_home(home: &Path) -> anyhow::Result<(PathBuf, String)> {
    let libs = std::path::absolute(home)?.join("libs");
    let entries = std::fs::read_dir(&libs).with_context(|| {
        format!(
            "--kafka-home {}: there is no folder libs with Kafka's jars; name the unpacked distribution",
            home.display()
        )
    })?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let version = name
            .strip_prefix("kafka-clients-")
            .and_then(|rest| rest.strip_suffix(".jar"));
        if let Some(version) = version {
            check_version(version.trim_end_matches("-SNAPSHOT"))
                .map_err(|why| anyhow::anyhow!("--kafka-home {}: {why}", home.display()))?;
            return Ok((libs, version.to_owned()));
        }
    }
    bail!(
        "--kafka-home {}: libs holds no kafka-clients-VERSION.jar; is this a Kafka distribution?",
        home.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elr_is_on_from_the_version_that_turned_it_on() {
        let on = ["4.0.2", "4.1.0", "4.4.0", "5.0.0"].map(elr_by_default);
        assert_eq!(on, [false, true, true, true]);
    }

    #[test]
    fn a_folder_that_is_no_distribution_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = in_home(folder.path()).expect_err("empty").to_string();
        assert!(
            error.contains("--kafka-home") && error.contains("libs"),
            "{error}"
        );
        std::fs::create_dir(folder.path().join("libs")).expect("made");
        let error = in_home(folder.path()).expect_err("no jars").to_string();
        assert!(error.contains("kafka-clients"), "{error}");
        std::fs::write(folder.path().join("libs/kafka-clients-4.1.0.jar"), "").expect("written");
        assert_eq!(in_home(folder.path()).expect("a version").1, "4.1.0");
    }
}
