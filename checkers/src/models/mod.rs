//! Objects other than the log: registers, queues, sets, counters and so on.
//!
//! Each model reads the ops of a [`History`] that are its own, refuses an `f` that it does not know
//! with the line, and answers with a [`ModelVerdict`]. Where a polynomial algorithm is known for a
//! model it is used; the general search of `search` judges the rest under a budget of steps and
//! bytes, and what it could not finish is `unknown`, never valid.

mod cells;
mod counter;
mod kv;
mod mutex;
mod queue;
mod register;
mod set;
mod set_full;
mod stats;
mod total_queue;
mod unique_ids;
mod verdict;
mod versioned_register;
mod vocabulary;

use std::str::FromStr;

use serde::Serialize;
use serde_json::Value as Json;

pub use verdict::{Anomaly, Level, ModelVerdict};

use crate::history::{History, HistoryError};

/// What a history is judged as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A replicated log in partitions: `send`, `poll`, `txn`.
    Log,
    /// `read` and `write`.
    Register,
    /// `read`, `write` and `cas` of `[from, to]`.
    CasRegister,
    /// `read`, `write` and `cas` that name the revision of the value.
    VersionedRegister,
    /// A FIFO queue: `enqueue` and `dequeue`.
    Queue,
    /// `enqueue`, `dequeue` and `drain`; only losses and surprises count.
    TotalQueue,
    /// `add` and a last `read` of everything.
    Set,
    /// `add` and reads of everything at any time.
    SetFull,
    /// `add` of a number and `read`.
    Counter,
    /// `generate`.
    UniqueIds,
    /// `acquire` and `release`.
    Mutex,
    /// `get`, `put` and `append` by key.
    Kv,
    /// Counts of outcomes alone.
    Stats,
}

impl Model {
    /// All of them with their names.
    pub const NAMES: [(&'static str, Model); 13] = [
        ("log", Model::Log),
        ("register", Model::Register),
        ("cas-register", Model::CasRegister),
        ("versioned-register", Model::VersionedRegister),
        ("queue", Model::Queue),
        ("total-queue", Model::TotalQueue),
        ("set", Model::Set),
        ("set-full", Model::SetFull),
        ("counter", Model::Counter),
        ("unique-ids", Model::UniqueIds),
        ("mutex", Model::Mutex),
        ("kv", Model::Kv),
        ("stats", Model::Stats),
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(_, model)| *model == self)
            .map_or("log", |(name, _)| name)
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = Self::NAMES.iter();
        let found = names
            .find(|(name, _)| *name == text)
            .map(|(_, model)| *model);
        found.ok_or_else(|| {
            let known: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "no model is named \"{text}\"; known are {}",
                known.join(", ")
            )
        })
    }
}

/// How far a search may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Transitions of the model, over all keys.
    pub steps: u64,
    /// Memory for what was explored, in bytes.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 2_000_000_000,
            bytes: 1 << 30,
        }
    }
}

/// What a judgement is told beside the history.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelOptions {
    /// First value of a register, a counter or each key.
    pub initial: Option<Json>,
    /// Limits of the general search.
    pub budget: Budget,
}

/// Refuses ops of clients that no log has.
pub fn only_log_ops(history: &History) -> Result<(), HistoryError> {
    let known = [
        "send",
        "poll",
        "barrier",
        "txn",
        "assign",
        "subscribe",
        "crash",
        "debug-topic-partitions",
    ];
    vocabulary::only(history, Model::Log, &known)
}

/// Judges `history` as `model`. A log is judged by [`crate::check`] instead and is refused here.
pub fn judge_model(
    history: &History,
    model: Model,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    match model {
        Model::Log => Err(HistoryError::new(
            1,
            "a log is judged partition by partition, not as an object",
        )),
        Model::Register => register::judge(history, model, options),
        Model::CasRegister => register::judge(history, model, options),
        Model::VersionedRegister => versioned_register::judge(history, options),
        Model::Queue => queue::judge(history, options),
        Model::TotalQueue => total_queue::judge(history),
        Model::Set => set::judge(history),
        Model::SetFull => set_full::judge(history),
        Model::Counter => counter::judge(history, options),
        Model::UniqueIds => unique_ids::judge(history),
        Model::Mutex => mutex::judge(history, options),
        Model::Kv => kv::judge(history, options),
        Model::Stats => stats::judge(history),
    }
}
