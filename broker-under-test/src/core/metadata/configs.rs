//! The settings that a topic may have, by Kafka's names: what they default to, what is a legal
//! value, and what they add up to.
//!
//! Three of them act; the rest Kafka's tools like to set, and are kept and shown without effect:
//! nothing is ever deleted, compacted or recompressed here.

use std::collections::BTreeMap;

use super::image::TopicConfig;
use crate::core::config::TopicDefaults;
use crate::core::errors::ErrorCode;
use crate::kafka::batch::BATCH_BYTES_MAX;

/// Why a setting is refused: the code, and a sentence.
pub type Refusal = (ErrorCode, String);

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// true or false.
    Boolean,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number of at least this, in 32 bits.
    Int(i32),
    /// A whole number of at least this, in 64 bits.
    Long(i64),
    /// Some of these words, with commas.
    List(&'static [&'static str]),
}

impl Kind {
    /// As the protocol numbers it.
    #[must_use]
    pub fn number(self) -> i8 {
        match self {
            Self::Boolean => 1,
            Self::Word(_) => 2,
            Self::Int(_) => 3,
            Self::Long(_) => 5,
            Self::List(_) => 7,
        }
    }

    fn takes(self, value: &str) -> bool {
        match self {
            Self::Boolean => boolean(value).is_some(),
            Self::Word(words) => words.contains(&value),
            Self::Int(least) => value.parse::<i32>().is_ok_and(|n| n >= least),
            Self::Long(least) => value.parse::<i64>().is_ok_and(|n| n >= least),
            Self::List(words) => {
                let parts: Vec<&str> = value.split(',').map(str::trim).collect();
                parts.len() <= words.len() && parts.iter().all(|part| words.contains(part))
            }
        }
    }

    fn wanted(self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Int(least) => format!("a number from {least}"),
            Self::Long(least) => format!("a number from {least}"),
            Self::List(words) => format!("some of {}", words.join(", ")),
        }
    }
}

/// Case does not matter, as in Kafka.
fn boolean(value: &str) -> Option<bool> {
    value.trim().to_ascii_lowercase().parse().ok()
}

/// One setting of topics.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The broker's setting that it falls back to, where there is one.
    pub broker_name: Option<&'static str>,
    /// What values it takes.
    pub kind: Kind,
    /// What it does.
    pub documentation: &'static str,
    default: fn(&TopicDefaults) -> String,
}

impl Key {
    /// Its value where the topic does not say.
    #[must_use]
    pub fn default(&self, defaults: &TopicDefaults) -> String {
        (self.default)(defaults)
    }
}

const KEPT: &str = "Kept and shown, without effect.";

/// A setting that is kept without effect.
const fn kept(name: &'static str, kind: Kind, default: fn(&TopicDefaults) -> String) -> Key {
    Key {
        name,
        broker_name: None,
        kind,
        documentation: KEPT,
        default,
    }
}

/// Every setting of topics, by name.
pub static KEYS: [Key; 11] = [
    kept("cleanup.policy", Kind::List(&["delete", "compact"]), |_| {
        "delete".to_owned()
    }),
    kept(
        "compression.type",
        Kind::Word(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]),
        |_| "producer".to_owned(),
    ),
    Key {
        name: "flush.messages",
        broker_name: Some("log.flush.interval.messages"),
        kind: Kind::Long(1),
        documentation: "With 1 every batch is on disk before it is acknowledged or replicated; \
                        any other value leaves that to the system.",
        default: |defaults| match defaults.flush_every_batch {
            true => "1".to_owned(),
            false => i64::MAX.to_string(),
        },
    },
    kept("max.message.bytes", Kind::Int(0), |_| {
        BATCH_BYTES_MAX.to_string()
    }),
    kept(
        "message.timestamp.type",
        Kind::Word(&["CreateTime", "LogAppendTime"]),
        |_| "CreateTime".to_owned(),
    ),
    Key {
        name: "min.insync.replicas",
        broker_name: Some("min.insync.replicas"),
        kind: Kind::Int(1),
        documentation: "In-sync replicas without which acks=all is refused.",
        default: |defaults| defaults.min_insync_replicas.to_string(),
    },
    kept("retention.bytes", Kind::Long(-1), |_| "-1".to_owned()),
    kept("retention.ms", Kind::Long(-1), |_| "-1".to_owned()),
    kept("segment.bytes", Kind::Int(14), |_| "134217728".to_owned()),
    kept("segment.ms", Kind::Long(1), |_| "604800000".to_owned()),
    Key {
        name: "unclean.leader.election.enable",
        broker_name: Some("unclean.leader.election.enable"),
        kind: Kind::Boolean,
        documentation: "Whether a replica outside the ISR may lead where nobody else can.",
        default: |defaults| defaults.unclean_leader_election.to_string(),
    },
];

/// The setting with this name.
///
/// # Errors
/// INVALID_CONFIG where there is none.
pub fn key(name: &str) -> Result<&'static Key, Refusal> {
    KEYS.iter().find(|key| key.name == name).ok_or_else(|| {
        let message = format!("Unknown topic config name: {name}");
        (ErrorCode::INVALID_CONFIG, message)
    })
}

/// Whether a setting may have this value.
///
/// # Errors
/// INVALID_CONFIG where it may not.
pub fn check(name: &str, value: &str) -> Result<(), Refusal> {
    let kind = key(name)?.kind;
    if kind.takes(value) {
        return Ok(());
    }
    let wanted = kind.wanted();
    let message = format!("Invalid value {value:?} for configuration {name}: {wanted}.");
    Err((ErrorCode::INVALID_CONFIG, message))
}

/// What a topic's own settings and the defaults add up to.
///
/// # Errors
/// INVALID_CONFIG where a name or a value is not legal.
pub fn resolve(
    overrides: &BTreeMap<String, String>,
    defaults: &TopicDefaults,
) -> Result<TopicConfig, Refusal> {
    for (name, value) in overrides {
        check(name, value)?;
    }
    let own = |name: &str| overrides.get(name).map(String::as_str);
    Ok(TopicConfig {
        min_insync_replicas: own("min.insync.replicas")
            .and_then(|value| value.parse().ok())
            .unwrap_or(defaults.min_insync_replicas),
        unclean_leader_election: own("unclean.leader.election.enable")
            .and_then(boolean)
            .unwrap_or(defaults.unclean_leader_election),
        flush_every_batch: own("flush.messages").map_or(defaults.flush_every_batch, |value| {
            value.parse() == Ok(1_i64)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_a_legal_value_of_its_setting() {
        for key in &KEYS {
            let value = key.default(&TopicDefaults::default());
            check(key.name, &value).unwrap();
        }
    }

    #[test]
    fn unknown_names_and_values_out_of_range_are_refused_with_both_named() {
        for (name, value) in [
            ("min.insync.replicas", "0"),
            ("unclean.leader.election.enable", "perhaps"),
            ("flush.messages", "-1"),
            ("cleanup.policy", "burn"),
            ("cleanup.policy", "delete,delete,delete"),
            ("retention.weeks", "1"),
        ] {
            let (error, message) = check(name, value).unwrap_err();
            assert_eq!(error, ErrorCode::INVALID_CONFIG);
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn a_boolean_may_be_written_in_capitals() {
        for (value, wanted) in [("TRUE", true), ("True", true), ("FALSE", false)] {
            let name = "unclean.leader.election.enable".to_owned();
            let overrides = [(name, value.to_owned())].into();
            let resolved = resolve(&overrides, &TopicDefaults::default()).unwrap();
            assert_eq!(resolved.unclean_leader_election, wanted, "{value}");
        }
    }

    #[test]
    fn a_topic_has_what_it_sets_and_else_the_defaults() {
        let overrides = [
            ("min.insync.replicas".to_owned(), "2".to_owned()),
            ("flush.messages".to_owned(), "1".to_owned()),
        ];
        let config = resolve(&overrides.into(), &TopicDefaults::default()).unwrap();
        assert_eq!(
            (config.min_insync_replicas, config.flush_every_batch),
            (2, true)
        );
        assert!(!config.unclean_leader_election);
    }
}
