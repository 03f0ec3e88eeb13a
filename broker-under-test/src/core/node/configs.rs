//! DescribeConfigs: the settings of topics as committed, and this broker's own.

use std::collections::BTreeSet;

use super::{Asker, Node, reply};
use crate::core::config::{Timers, TopicDefaults};
use crate::core::errors::ErrorCode;
use crate::core::messages::Response;
use crate::core::messages::client::ClientResponse;
use crate::core::messages::configs::{
    BROKER, ConfigSource, DescribeConfigsRequest, DescribedConfig, DescribedResource, Resource,
    TOPIC,
};
use crate::core::metadata::Topic;
use crate::core::metadata::configs::{KEYS, Key, Kind, Refusal};
use crate::core::seam::Output;

impl Node {
    pub(super) fn describe_configs(
        &mut self,
        asker: Asker,
        request: DescribeConfigsRequest,
        out: &mut Vec<Output>,
    ) {
        let mut seen = BTreeSet::new();
        let mut results = Vec::new();
        for (resource, names) in &request.resources {
            // Each once, so that a short request cannot ask for a long answer many times over.
            if !seen.insert(resource) {
                continue;
            }
            let wanted = |name: &str| {
                let listed = |names: &Vec<String>| names.iter().any(|wanted| wanted == name);
                names.as_ref().is_none_or(listed)
            };
            results.push(match self.configs_of(resource, &request) {
                Ok(mut configs) => {
                    configs.retain(|config| wanted(config.name));
                    described(resource, ErrorCode::NONE, None, configs)
                }
                Err((error, message)) => described(resource, error, Some(message), Vec::new()),
            });
        }
        let response = ClientResponse::DescribeConfigs(results);
        out.push(reply(asker, Response::Client(response)));
    }

    fn configs_of(
        &self,
        resource: &Resource,
        request: &DescribeConfigsRequest,
    ) -> Result<Vec<DescribedConfig>, Refusal> {
        match resource.kind {
            TOPIC => {
                let topic = self
                    .image
                    .topics
                    .get(resource.name.as_str())
                    .ok_or_else(|| {
                        let message = format!("Topic '{}' does not exist.", resource.name);
                        (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message)
                    })?;
                let describe = |key: &'static Key| self.topic_config(key, topic, request);
                Ok(KEYS.iter().map(describe).collect())
            }
            BROKER if resource.name.parse() == Ok(self.config.node_id) => Ok(self.broker_configs()),
            BROKER => {
                let message = format!(
                    "This is broker {}; ask broker {:?} for its settings.",
                    self.config.node_id, resource.name
                );
                Err((ErrorCode::INVALID_REQUEST, message))
            }
            kind => {
                let message = format!("Resources of kind {kind} have no settings here.");
                Err((ErrorCode::INVALID_REQUEST, message))
            }
        }
    }

    fn topic_config(
        &self,
        key: &'static Key,
        topic: &Topic,
        request: &DescribeConfigsRequest,
    ) -> DescribedConfig {
        let defaults = &self.config.topic_defaults;
        let mut sources = Vec::new();
        if let Some(own) = topic.overrides.get(key.name) {
            sources.push((key.name, own.clone(), ConfigSource::Topic));
        }
        let (of_broker, built_in) = (
            key.default(defaults),
            key.default(&TopicDefaults::default()),
        );
        let fallback = key.broker_name.unwrap_or(key.name);
        if of_broker != built_in {
            sources.push((fallback, of_broker, ConfigSource::Broker));
        }
        sources.push((fallback, built_in, ConfigSource::Default));
        let (_, value, source) = sources[0].clone();
        DescribedConfig {
            name: key.name,
            value,
            source,
            kind: key.kind.number(),
            read_only: false,
            documentation: request.include_documentation.then_some(key.documentation),
            synonyms: if request.include_synonyms {
                sources
            } else {
                Vec::new()
            },
        }
    }

    fn broker_configs(&self) -> Vec<DescribedConfig> {
        let config = &self.config;
        let mut configs = vec![
            described_flag("node.id", config.node_id.to_string(), None, Kind::Int(0)),
            described_flag(
                "replica.lag.max.messages",
                lag_in_messages(config.replica_lag_max_messages),
                Some(lag_in_messages(None)),
                Kind::Long(-1),
            ),
        ];
        let numbers = timers(&config.timers)
            .into_iter()
            .zip(timers(&Timers::default()));
        configs.extend(numbers.map(|((name, value), (_, default))| {
            described_flag(name, value, Some(default), Kind::Long(0))
        }));
        let of_topics = topic_defaults(&config.topic_defaults);
        let built_in = topic_defaults(&TopicDefaults::default());
        configs.extend(of_topics.into_iter().zip(built_in).map(
            |((name, value, kind), (_, default, _))| {
                described_flag(name, value, Some(default), kind)
            },
        ));
        configs
    }
}

/// What a topic created without a word inherits, by the broker's names.
fn topic_defaults(defaults: &TopicDefaults) -> Vec<(&'static str, String, Kind)> {
    let mut pairs: Vec<_> = KEYS
        .iter()
        .filter_map(|key| Some((key.broker_name?, key.default(defaults), key.kind)))
        .collect();
    pairs.extend([
        (
            "num.partitions",
            defaults.partitions.to_string(),
            Kind::Int(1),
        ),
        (
            "default.replication.factor",
            defaults.replication_factor.to_string(),
            Kind::Int(1),
        ),
        (
            "auto.create.topics.enable",
            defaults.auto_create.to_string(),
            Kind::Boolean,
        ),
    ]);
    pairs
}

fn timers(timers: &Timers) -> [(&'static str, String); 6] {
    [
        ("replica.lag.time.max.ms", timers.replica_lag_time_max_ms),
        ("broker.session.timeout.ms", timers.session_timeout_ms),
        ("broker.heartbeat.interval.ms", timers.heartbeat_interval_ms),
        (
            "controller.quorum.election.timeout.ms",
            timers.election_timeout_ms,
        ),
        ("replica.fetch.wait.max.ms", timers.fetch_wait_max_ms),
        (
            "replica.high.watermark.checkpoint.interval.ms",
            timers.checkpoint_interval_ms,
        ),
    ]
    .map(|(name, value)| (name, value.to_string()))
}

fn lag_in_messages(limit: Option<i64>) -> String {
    limit.unwrap_or(-1).to_string()
}

/// A setting of the broker; one without a default is always given.
fn described_flag(
    name: &'static str,
    value: String,
    default: Option<String>,
    kind: Kind,
) -> DescribedConfig {
    let source = if default.as_ref() == Some(&value) {
        ConfigSource::Default
    } else {
        ConfigSource::Broker
    };
    DescribedConfig {
        name,
        value,
        source,
        kind: kind.number(),
        read_only: true,
        documentation: None,
        synonyms: Vec::new(),
    }
}

fn described(
    resource: &Resource,
    error: ErrorCode,
    message: Option<String>,
    configs: Vec<DescribedConfig>,
) -> DescribedResource {
    DescribedResource {
        resource: resource.clone(),
        error,
        message,
        configs,
    }
}
