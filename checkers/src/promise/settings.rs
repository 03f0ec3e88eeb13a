//! The settings of a Kafka-like log that change what it promises.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// When a producer gets its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// Never.
    None,
    /// After the leader's own append.
    Leader,
    /// When every in-sync replica has the record.
    All,
}

impl fmt::Display for Acks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Acks::None => "0",
            Acks::Leader => "1",
            Acks::All => "all",
        })
    }
}

impl Serialize for Acks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Acks::None => serializer.serialize_i64(0),
            Acks::Leader => serializer.serialize_i64(1),
            Acks::All => serializer.serialize_str("all"),
        }
    }
}

impl<'de> Deserialize<'de> for Acks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyAcks;
        impl Visitor<'_> for AnyAcks {
            type Value = Acks;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0, 1, -1 or \"all\"")
            }

            fn visit_i64<E: de::Error>(self, acks: i64) -> Result<Acks, E> {
                match acks {
                    0 => Ok(Acks::None),
                    1 => Ok(Acks::Leader),
                    -1 => Ok(Acks::All),
                    other => Err(E::invalid_value(de::Unexpected::Signed(other), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, acks: u64) -> Result<Acks, E> {
                self.visit_i64(i64::try_from(acks).unwrap_or(i64::MAX))
            }

            fn visit_str<E: de::Error>(self, acks: &str) -> Result<Acks, E> {
                match acks {
                    "0" => Ok(Acks::None),
                    "1" => Ok(Acks::Leader),
                    "-1" | "all" => Ok(Acks::All),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(AnyAcks)
    }
}

/// When a log is synced to its disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flush {
    /// Whenever the operating system likes.
    Never,
    /// Before a batch is answered.
    Batch,
}

/// Settings of topic, broker and producer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Of the producers.
    pub acks: Acks,
    /// `min.insync.replicas`.
    pub min_insync: u16,
    /// Replicas a partition.
    pub replication_factor: u16,
    /// `unclean.leader.election.enable`.
    pub unclean_elections: bool,
    /// Sync policy of the log.
    pub flush: Flush,
    /// Eligible leader replicas (KIP-966).
    #[serde(default)]
    pub elr: bool,
    /// Whether producers carry sequence numbers.
    #[serde(default)]
    pub idempotent: bool,
    /// How often a producer sends a record again.
    #[serde(default)]
    pub retries: u32,
}
