//! What `--system` may be: a name that is built in, or a description's file.

use std::path::PathBuf;

use super::Description;
use super::description::DescriptionError;
use super::kafka;

/// The system that the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemChoice {
    /// Our own broker.
    Builtin,
    /// Apache Kafka, with the version where one was given.
    Kafka(Option<String>),
    /// A description in TOML.
    File(PathBuf),
    /// Containers of a compose file.
    Compose(PathBuf),
}

impl SystemChoice {
    /// Reads `builtin`, `kafka`, `kafka:4.1.0`, `FILE.toml`.
    pub fn parse(text: &str) -> Result<SystemChoice, String> {
        match text.split_once(':') {
            None if text == "builtin" => Ok(SystemChoice::Builtin),
            None if text == "kafka" => Ok(SystemChoice::Kafka(None)),
            Some(("kafka", version)) => {
                kafka::check_version(version)?;
                Ok(SystemChoice::Kafka(Some(version.to_owned())))
            }
            Some(("compose", file)) if !file.is_empty() => {
                Ok(SystemChoice::Compose(PathBuf::from(file)))
            }
            _ if std::path::Path::new(text)
                .extension()
                .is_some_and(|e| e == "toml") =>
            {
                Ok(SystemChoice::File(PathBuf::from(text)))
            }
            _ => Err(format!(
                "no system is called \"{text}\"; there are: builtin, kafka, kafka:VERSION, compose:FILE.yml, and any description's FILE.toml (see docs/SYSTEMS.md)"
            )),
        }
    }

    pub fn description(&self) -> Result<Description, DescriptionError> {
        match self {
            // What a compose cluster is like is known once it stands.
            SystemChoice::Builtin | SystemChoice::Compose(_) => Description::built_in("builtin"),
            SystemChoice::Kafka(_) => Description::built_in("kafka"),
            SystemChoice::File(path) => Description::read(path),
        }
    }

    /// The version of Kafka that is wanted, where one is.
    pub fn kafka_version(&self) -> &str {
        match self {
            SystemChoice::Kafka(Some(version)) => version,
            _ => kafka::DEFAULT_VERSION,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_known_by_name_version_or_file() {
        assert_eq!(SystemChoice::parse("builtin"), Ok(SystemChoice::Builtin));
        assert_eq!(
            SystemChoice::parse("kafka:4.1.0"),
            Ok(SystemChoice::Kafka(Some("4.1.0".into())))
        );
        assert_eq!(
            SystemChoice::parse("mine.toml"),
            Ok(SystemChoice::File("mine.toml".into()))
        );
        for wrong in [
            "",
            "kafka:",
            "kafka:3.9.0",
            "kafka:four",
            "redis",
            "kafka:4.0.0/../x",
        ] {
            assert!(SystemChoice::parse(wrong).is_err(), "{wrong}");
        }
    }
}
