//! One scenario file, read and checked. An unknown key is an error: a fault
//! that was misspelt must not quietly be left out.

use plimsoll_nemesis::faults::{
    Aim, AimAt, Fault, GrudgeShape, Kill, KillHow, Partition, Pause, Plane,
};
use plimsoll_nemesis::schedule::{FOREVER_MS, Planned};
use serde::Deserialize;

use crate::cli::parse_duration;

/// A scenario that cannot be used: where and why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ScenarioError(pub String);

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: String,
    pub title: String,
    pub expect: String,
    /// Options of the command line, without the dashes.
    pub options: Vec<(String, String)>,
    pub faults: Vec<Planned>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    title: String,
    #[serde(default)]
    expect: String,
    #[serde(default)]
    test: toml::Table,
    #[serde(default)]
    fault: Vec<RawFault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawFault {
    at: toml::Value,
    lasts: toml::Value,
    kind: RawKind,
    #[serde(default)]
    target: Option<String>,
    /// By its number, or by its name with the topic's.
    #[serde(default)]
    partition: Option<toml::Value>,
    #[serde(default)]
    how: Option<KillHow>,
    #[serde(default)]
    shape: Option<GrudgeShape>,
    #[serde(default)]
    plane: Option<Plane>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawKind {
    Kill,
    Pause,
    Partition,
}

impl Scenario {
    pub fn parse(name: &str, text: &str) -> Result<Scenario, ScenarioError> {
        let broken = |why: String| ScenarioError(format!("scenario {name}: {why}"));
        let raw: Raw = toml::from_str(text).map_err(|e| broken(e.to_string()))?;
        let options = raw
            .test
            .into_iter()
            .map(|(key, value)| match key.as_str() {
                "scenario" => Err("option scenario: a scenario names no other".to_owned()),
                _ => Ok((key.clone(), option_text(&key, value)?)),
            })
            .collect::<Result<_, String>>()
            .map_err(broken)?;
        let faults = raw
            .fault
            .into_iter()
            .zip(1..)
            .map(|(fault, id)| planned(fault, id).map_err(|e| format!("fault {id}: {e}")))
            .collect::<Result<_, String>>()
            .map_err(broken)?;
        let (title, expect) = (raw.title, raw.expect);
        Ok(Scenario {
            name: name.to_owned(),
            title,
            expect,
            options,
            faults,
        })
    }
}

/// An option's value as it is written on the command line.
pub fn option_text(key: &str, value: toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        other => Err(format!("option {key} cannot be {}", other.type_str())),
    }
}

fn time(value: &toml::Value) -> Result<u64, String> {
    let text = option_text("at", value.clone())?;
    parse_duration(&text).map(|d| d.ms)
}

fn partition(value: toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(name) => Ok(name),
        toml::Value::Integer(number) => Ok(number.to_string()),
        other => Err(format!("partition cannot be {}", other.type_str())),
    }
}

fn planned(raw: RawFault, id: u64) -> Result<Planned, String> {
    let nth_follower = |target: &str| target.strip_prefix("follower-")?.parse().ok();
    let at = match raw.target.as_deref() {
        None | Some("random") => AimAt::Random,
        Some("leader") => AimAt::Leader,
        Some("controller") => AimAt::Controller,
        Some("followers") => AimAt::Followers,
        Some("all") => AimAt::All,
        Some(other) => match nth_follower(other) {
            Some(nth @ 1..) => AimAt::Follower(nth),
            _ => AimAt::Node(other.to_owned()),
        },
    };
    // Scenarios are staged, not drawn: the same partition is meant each time.
    let aim = Aim {
        at,
        salt: 0,
        partition: raw.partition.map(partition).transpose()?,
    };
    let kills = matches!(raw.kind, RawKind::Kill);
    let cuts = matches!(raw.kind, RawKind::Partition);
    if raw.how.is_some() && !kills {
        return Err("only a kill has a `how`".to_owned());
    }
    if (raw.shape.is_some() || raw.plane.is_some()) && !cuts {
        return Err("only a partition has a `shape` and a `plane`".to_owned());
    }
    let fault = match raw.kind {
        RawKind::Kill => Fault::Kill(Kill {
            aim,
            how: raw.how.unwrap_or_default(),
        }),
        RawKind::Pause => Fault::Pause(Pause { aim }),
        RawKind::Partition => {
            let shape = raw.shape.ok_or("a partition needs a shape")?;
            Fault::Partition(Partition {
                shape,
                aim,
                plane: raw.plane.unwrap_or_default(),
            })
        }
    };
    let at_ms = time(&raw.at)?;
    let lasts_ms = match raw.lasts.as_str() {
        Some("forever") if matches!(raw.kind, RawKind::Kill) => FOREVER_MS,
        Some("forever") => return Err("only a kill may last forever".to_owned()),
        _ => time(&raw.lasts)?,
    };
    Ok(Planned {
        id,
        at_ms,
        lasts_ms,
        fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_an_error_that_names_the_scenario() {
        let text = "title='t'\n[[fault]]\nat=1\nlasts=2\nkind='kill'\ntarge='leader'\n";
        let error = Scenario::parse("mine", text)
            .expect_err("misspelt")
            .to_string();
        assert!(error.contains("mine") && error.contains("targe"), "{error}");
    }

    #[test]
    fn only_a_node_may_be_lost_forever() {
        let of = |kind: &str| {
            let text = format!("title='t'\n[[fault]]\nat=1\nlasts='forever'\nkind='{kind}'\n");
            Scenario::parse("mine", &text)
        };
        assert!(of("kill").expect("sound").faults[0].is_forever());
        assert!(of("pause").is_err());
    }

    #[test]
    fn a_follower_is_aimed_at_by_its_place() {
        let text = "title='t'\n[[fault]]\nat=1\nlasts=2\nkind='pause'\ntarget='follower-2'\n";
        let scenario = Scenario::parse("mine", text).expect("sound");
        let Fault::Pause(pause) = &scenario.faults[0].fault else {
            panic!("{scenario:?}")
        };
        assert_eq!(pause.aim.at, AimAt::Follower(2));
    }

    #[test]
    fn a_number_without_a_unit_is_seconds_here_too() {
        let text = "title='t'\n[[fault]]\nat=1.5\nlasts='700ms'\nkind='pause'\n";
        let scenario = Scenario::parse("mine", text).expect("sound");
        assert_eq!(
            (scenario.faults[0].at_ms, scenario.faults[0].lasts_ms),
            (1500, 700)
        );
    }
}
