//! DescribeConfigs and IncrementalAlterConfigs: settings of topics and brokers.

use serde::{Deserialize, Serialize};

use crate::core::errors::ErrorCode;

/// What has settings, as the protocol numbers it; other kinds are refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// [`TOPIC`], [`BROKER`], or something without settings here.
    pub kind: i8,
    /// The topic's name, or the broker's id in digits.
    pub name: String,
}

/// A topic, as a kind of [`Resource`].
pub const TOPIC: i8 = 2;
/// A broker, as a kind of [`Resource`].
pub const BROKER: i8 = 4;

/// A DescribeConfigs request.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsRequest {
    /// Whose settings, and which of them; all where absent.
    pub resources: Vec<(Resource, Option<Vec<String>>)>,
    /// Whether to tell what else would set each.
    pub include_synonyms: bool,
    /// Whether to explain each.
    pub include_documentation: bool,
}

/// The settings of one resource.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedResource {
    /// Whose.
    pub resource: Resource,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
    /// The settings.
    pub configs: Vec<DescribedConfig>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedConfig {
    /// Its name.
    pub name: &'static str,
    /// Its value in force.
    pub value: String,
    /// Where that comes from.
    pub source: ConfigSource,
    /// What kind of value it is, as the protocol numbers it.
    pub kind: i8,
    /// Whether it can be changed while the broker runs.
    pub read_only: bool,
    /// What it does, where that was asked for.
    pub documentation: Option<&'static str>,
    /// (name, value, source) of all that set it, the one in force first, where that was asked for.
    pub synonyms: Vec<(&'static str, String, ConfigSource)>,
}

/// Where a value comes from; the numbers are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum ConfigSource {
    /// The topic's own.
    Topic = 1,
    /// A flag or the file of the broker.
    Broker = 4,
    /// Nobody said anything.
    Default = 5,
}

/// An IncrementalAlterConfigs request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlterConfigsRequest {
    /// Whose settings, and the changes in order.
    pub resources: Vec<(Resource, Vec<ConfigChange>)>,
    /// Only say what would happen.
    pub validate_only: bool,
}

/// One change of one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The setting.
    pub name: String,
    /// 0: set; 1: back to the default; 2: append to a list; 3: take from a list.
    pub operation: i8,
    /// The value, where the operation has one.
    pub value: Option<String>,
}

/// What became of one resource of an [`AlterConfigsRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlteredResource {
    /// Whose.
    pub resource: Resource,
    /// Why not, if not.
    pub error: ErrorCode,
    /// The same for a person.
    pub message: Option<String>,
}
