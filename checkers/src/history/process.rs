//! Who did an op: a client's logical process, or the nemesis.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A process that had an indeterminate op never acts again; its client goes on
/// under a new number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    /// A client's process.
    Client(u64),
    /// Faults, phases and observations of the run.
    Nemesis,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Process::Client(number) => write!(f, "{number}"),
            Process::Nemesis => f.write_str("nemesis"),
        }
    }
}

impl Serialize for Process {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Process::Client(number) => serializer.serialize_u64(*number),
            Process::Nemesis => serializer.serialize_str("nemesis"),
        }
    }
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyProcess;
        impl Visitor<'_> for AnyProcess {
            type Value = Process;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a process number or \"nemesis\"")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Process, E> {
                Ok(Process::Client(number))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Process, E> {
                match name {
                    "nemesis" => Ok(Process::Nemesis),
                    other => Err(E::invalid_value(de::Unexpected::Str(other), &self)),
                }
            }
        }
        deserializer.deserialize_any(AnyProcess)
    }
}
