//! Client libraries that people really run, as the workload's producers. Each
//! runs in a process of its own, in the place where its clients live, and
//! speaks JSON lines over stdio (docs/CLIENTS.md): a library that crashes takes
//! nothing else with it, and one protocol serves them all.

mod choice;
mod java;
mod librdkafka;
mod protocol;
mod settings;

pub use choice::ClientChoice;
pub use java::compile;

pub use librdkafka::serve;
pub use protocol::{Hello, PROTOCOL, Said, SendLine, said};
pub use settings::{DELIVERY_TIMEOUT_MS, REPORT_LIMIT_MS, Tuning, config};

use std::path::Path;

use crate::systems::Kafka;

/// A library that can be started.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its name and version, for the report.
    pub title: String,
    /// The program with its arguments.
    pub command: Vec<String>,
}

impl Library {
    /// Finds what the choice needs; none for the raw client, which needs nothing.
    pub fn find(
        choice: &ClientChoice,
        own_exe: &str,
        kafka_home: Option<&Path>,
        kafka_version: &str,
    ) -> anyhow::Result<Option<Library>> {
        let library = match choice {
            ClientChoice::Raw => return Ok(None),
            ClientChoice::Exec(command) => Library {
                title: choice.to_string(),
                command: command.clone(),
            },
            ClientChoice::Librdkafka => Library {
                title: format!("librdkafka {}", librdkafka::version()),
                command: vec![own_exe.to_owned(), "producer".to_owned()],
            },
            ClientChoice::Java(version) => {
                let version = version.as_deref().unwrap_or(kafka_version);
                let kafka = Kafka::find(kafka_home, version)?;
                Library {
                    title: format!("java (kafka-clients {})", kafka.version),
                    command: java::command(&kafka)?,
                }
            }
        };
        Ok(Some(library))
    }
}
