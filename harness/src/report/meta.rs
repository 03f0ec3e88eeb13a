//! What a report says about a run beyond its history and its verdict.

use plimsoll_checkers::history::{Header, History};
use plimsoll_checkers::promise::{Flush, Settings};
use serde_json::Value;

/// Faults at set times, and what they are to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Staged {
    pub title: String,
    pub expect: String,
}

/// Facts about a run for display.
#[derive(Debug, Clone, Default)]
pub struct RunMeta {
    /// Folder of the run.
    pub run: Option<String>,
    /// Command that repeats it.
    pub replay: Option<String>,
    /// When it began, as it should be read.
    pub started_utc: Option<String>,
    /// How long clients and faults ran.
    pub time_limit_ms: Option<u64>,
    /// What was tested.
    pub system: String,
    /// Settings by name, in the order of display.
    pub settings: Vec<(String, String)>,
    /// The scenario that was played, where one was.
    pub scenario: Option<Staged>,
    /// Program and machine, where that is known.
    pub environment: Vec<(String, String)>,
}

impl RunMeta {
    /// What a stored history says about itself.
    pub fn of_history(history: &History, file: &str) -> Self {
        let mut meta = Self {
            run: None,
            replay: Some(format!("plimsoll check {file}")),
            ..Self::default()
        };
        let Some(header) = history.header() else {
            meta.system = "unknown system".to_owned();
            return meta;
        };
        meta.system.clone_from(&header.system);
        if let Some(replay) = header.extra.get("replay").and_then(Value::as_str) {
            meta.replay = Some(replay.to_owned());
        }
        let started = header.extra.get("started_utc").and_then(Value::as_str);
        meta.started_utc = started.map(str::to_owned);
        meta.time_limit_ms = header.extra.get("time_limit_ms").and_then(Value::as_u64);
        meta.settings = recorded_settings(header);
        meta.environment = recorded_pairs(header, "environment");
        meta.scenario = recorded_scenario(header);
        meta
    }
}

fn recorded_scenario(header: &Header) -> Option<Staged> {
    let scenario = header.extra.get("scenario")?;
    let text = |name: &str| Some(scenario.get(name)?.as_str()?.trim().to_owned());
    Some(Staged {
        title: text("title")?,
        expect: text("expect").unwrap_or_default(),
    })
}

/// The settings that the recorder wrote for display, or else those that the
/// promise rests on.
fn recorded_settings(header: &Header) -> Vec<(String, String)> {
    let pairs = recorded_pairs(header, "settings");
    if !pairs.is_empty() {
        return pairs;
    }
    let mut pairs = match &header.promise.settings {
        Some(settings) => settings_for_display(settings),
        None => Vec::new(),
    };
    if !header.topics.is_empty() {
        pairs.push(("partitions".to_owned(), header.topics.len().to_string()));
    }
    pairs.push(("seed".to_owned(), header.seed.to_string()));
    pairs
}

/// Pairs of words that the recorder wrote for display.
fn recorded_pairs(header: &Header, name: &str) -> Vec<(String, String)> {
    let own = header.extra.get(name).and_then(Value::as_array);
    own.into_iter()
        .flatten()
        .filter_map(|pair| {
            let word = |index: usize| pair.get(index)?.as_str().map(str::to_owned);
            Some((word(0)?, word(1)?))
        })
        .collect()
}

/// The settings that change what is promised, as the report names them.
pub fn settings_for_display(settings: &Settings) -> Vec<(String, String)> {
    let on = |on: bool| if on { "on" } else { "off" }.to_owned();
    let flush = match settings.flush {
        Flush::Never => "never",
        Flush::Batch => "every batch",
    };
    let mut shown = vec![
        ("acks", settings.acks.to_string()),
        ("min.insync.replicas", settings.min_insync.to_string()),
        ("unclean elections", on(settings.unclean_elections)),
        (
            "replication factor",
            settings.replication_factor.to_string(),
        ),
        ("flush", flush.to_owned()),
        ("idempotence", on(settings.idempotent)),
    ];
    if settings.retries > 0 {
        shown.push(("retries", settings.retries.to_string()));
    }
    if settings.elr {
        shown.push(("ELR", on(true)));
    }
    let own = shown.into_iter();
    own.map(|(name, value)| (name.to_owned(), value)).collect()
}
