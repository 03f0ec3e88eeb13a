//! The system under test, found: its description, and what had to be looked
//! for outside, such as Java and Kafka's jars.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::own_exe;
use crate::cli::TestArgs;
use crate::clients::library::Library;
use crate::systems::{
    ClusterSettings, Described, Description, Kafka, Layout, SystemChoice, elr_by_default,
};

/// A system that can be started.
#[derive(Clone, Debug)]
pub struct Found {
    pub description: Description,
    values: BTreeMap<String, String>,
    pub version: String,
    /// Whether eligible leader replicas are on (KIP-966).
    pub elr: bool,
    /// The client library that sends the records, where it is not our own client.
    pub library: Option<Library>,
}

/// Reads the description and finds what it needs. Outside of a lab first: in it there is no
/// network to fetch anything over.
pub fn find(args: &TestArgs) -> anyhow::Result<Found> {
    let description = args.system.description()?;
    let exe = own_exe()?.display().to_string();
    let mut values = BTreeMap::from([("plimsoll".to_owned(), exe.clone())]);
    let mut version = match args.system {
        SystemChoice::Builtin => env!("CARGO_PKG_VERSION").to_owned(),
        _ => String::new(),
    };
    let mut elr = false;
    if description.needs_kafka {
        let kafka = Kafka::find(args.kafka_home.as_deref(), args.system.kafka_version())?;
        values.extend(kafka.values());
        elr = elr_by_default(&kafka.version);
        version = kafka.version;
    }
    let home = args.kafka_home.as_deref();
    let library = Library::find(&args.client, &exe, home, args.system.kafka_version())?;
    Ok(Found {
        library,
        description,
        values,
        version,
        elr: args.elr.unwrap_or(elr),
    })
}

impl Found {
    pub fn system(
        &self,
        layout: &Layout,
        settings: &ClusterSettings,
        folder: PathBuf,
    ) -> Described {
        let description = self.description.clone();
        Described::new(description, layout, settings, folder, self.values.clone())
    }
}
