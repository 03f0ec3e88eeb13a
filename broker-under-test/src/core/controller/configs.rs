//! Changes of topics' settings (KIP-339).

use std::collections::{BTreeMap, BTreeSet};

use super::{Controller, ControllerEffect, Token};
use crate::core::errors::ErrorCode;
use crate::core::messages::configs::{
    AlterConfigsRequest, AlteredResource, BROKER, ConfigChange, Resource, TOPIC,
};
use crate::core::messages::peer::PeerResponse;
use crate::core::metadata::Record;
use crate::core::metadata::configs::{self, Kind, Refusal};

impl Controller {
    /// Each resource as a whole or not at all.
    pub(super) fn alter_configs(
        &mut self,
        token: Token,
        request: AlterConfigsRequest,
        fx: &mut Vec<ControllerEffect>,
    ) {
        let mut seen = BTreeSet::new();
        let mut results = Vec::new();
        for (resource, changes) in request.resources {
            let planned = if seen.insert(resource.clone()) {
                self.plan_change(&resource, &changes)
            } else {
                Err(invalid(
                    "Each resource must appear at most once.".to_owned(),
                ))
            };
            let (error, message) = match planned {
                Ok(record) if !request.validate_only => {
                    self.propose(record, fx);
                    (ErrorCode::NONE, None)
                }
                Ok(_) => (ErrorCode::NONE, None),
                Err((error, message)) => (error, Some(message)),
            };
            results.push(AlteredResource {
                resource,
                error,
                message,
            });
        }
        // unclean.leader.election.enable acts at once where a partition has waited for it.
        self.elect_where_leaderless(fx);
        self.reply_when_committed(token, PeerResponse::AlterConfigs(results));
    }

    fn plan_change(
        &self,
        resource: &Resource,
        changes: &[ConfigChange],
    ) -> Result<Record, Refusal> {
        if resource.kind != TOPIC {
            return Err(invalid(match resource.kind {
                BROKER => "A broker's settings are its flags and cannot be changed.".to_owned(),
                kind => format!("Resources of kind {kind} have no settings here."),
            }));
        }
        let topic = self
            .image
            .topics
            .get(resource.name.as_str())
            .ok_or_else(|| {
                let message = format!("Topic '{}' does not exist.", resource.name);
                (ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, message)
            })?;
        let names: BTreeSet<&str> = changes.iter().map(|change| change.name.as_str()).collect();
        if names.len() < changes.len() {
            return Err(invalid("A setting is changed twice.".to_owned()));
        }
        let mut overrides = topic.overrides.clone();
        for change in changes {
            self.change_one(&mut overrides, change)?;
        }
        let config = configs::resolve(&overrides, &self.defaults)?;
        Ok(Record::ConfigureTopic {
            name: resource.name.clone(),
            id: topic.id,
            config,
            overrides,
        })
    }

    fn change_one(
        &self,
        overrides: &mut BTreeMap<String, String>,
        change: &ConfigChange,
    ) -> Result<(), Refusal> {
        let key = configs::key(&change.name)?;
        if change.operation == 1 {
            overrides.remove(key.name);
            return Ok(());
        }
        let Some(value) = change.value.as_deref() else {
            return Err(invalid(format!("{} is set to null.", key.name)));
        };
        let before = match overrides.get(key.name) {
            Some(value) => value.clone(),
            None => key.default(&self.defaults),
        };
        let is_list = matches!(key.kind, Kind::List(_));
        let after = match change.operation {
            0 => value.to_owned(),
            2 if is_list => appended(&before, value),
            3 if is_list => subtracted(&before, value),
            2 | 3 => {
                let message = format!("{} is no list: it can only be set.", key.name);
                return Err((ErrorCode::INVALID_CONFIG, message));
            }
            other => return Err(invalid(format!("There is no operation {other}."))),
        };
        overrides.insert(key.name.to_owned(), after);
        Ok(())
    }
}

fn invalid(message: String) -> Refusal {
    (ErrorCode::INVALID_REQUEST, message)
}

fn parts(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn appended(list: &str, more: &str) -> String {
    let mut all: Vec<&str> = parts(list).collect();
    for part in parts(more) {
        if !all.contains(&part) {
            all.push(part);
        }
    }
    all.join(",")
}

fn subtracted(list: &str, less: &str) -> String {
    let gone: BTreeSet<&str> = parts(less).collect();
    let left: Vec<&str> = parts(list).filter(|part| !gone.contains(part)).collect();
    left.join(",")
}
