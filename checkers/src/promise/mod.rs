//! What the settings of a replicated log promise under the faults that were
//! injected, as data: which anomalies are a known price, and why.
//!
//! Two classes of faults matter. K: processes killed, paused, cut off,
//! restarted. D: a disk wiped, or an unsynced tail lost. The resolution is a
//! table, follows docs/PROMISES.md, and knows nothing about what happened.

mod permitted;
mod settings;

use serde::{Deserialize, Serialize};

pub use permitted::{Permitted, Scope};
pub use settings::{Acks, Flush, Settings};

/// Classes of faults that a run injects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultClasses {
    /// K: kill, pause, cut, restart.
    #[serde(default)]
    pub process: bool,
    /// D: a disk wiped, or a tail lost that was not promised to be synced.
    #[serde(default)]
    pub disk: bool,
}

/// A resolved promise: the header carries it and checkers see only this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// What was set; absent for a history that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Settings>,
    /// What was injected.
    #[serde(default)]
    pub classes: FaultClasses,
    /// Whether every loss counts as a violation whatever the settings say.
    #[serde(default)]
    pub strict: bool,
    /// Known prices of the settings.
    #[serde(default)]
    pub permitted: Vec<Permitted>,
    /// Whether reads are promised to be linearizable.
    #[serde(default)]
    pub linearizable_reads: bool,
    /// Whether replicas are promised to agree once writes have ceased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub eventual: bool,
}

impl Promise {
    /// The promise of `settings` under `classes` of faults.
    pub fn resolve(settings: &Settings, classes: FaultClasses, strict: bool) -> Self {
        let mut promise = Self {
            settings: Some(settings.clone()),
            classes,
            strict: false,
            permitted: permitted::resolve(settings, classes),
            linearizable_reads: false,
            eventual: false,
        };
        if strict {
            promise.be_strict();
        }
        promise
    }

    /// The promise held against a history that carries none: every loss counts.
    pub fn unstated() -> Self {
        Self {
            settings: None,
            classes: FaultClasses::default(),
            strict: true,
            permitted: permitted::of_subscribers(),
            linearizable_reads: false,
            eventual: false,
        }
    }

    /// From now on every loss is a violation. What only follows from a loss
    /// (two acks at one offset) stays permitted: the loss itself is counted.
    pub fn be_strict(&mut self) {
        self.strict = true;
        self.permitted
            .retain(|permitted| !permitted::is_loss(&permitted.anomaly));
    }

    /// Why a finding of this scope is permitted, if it is. What follows from a
    /// loss is permitted under every promise: the loss itself is judged.
    pub fn permits(&self, anomaly: &str, scope: Scope) -> Option<&str> {
        if scope == Scope::Lost {
            return Some(permitted::AFTER_A_LOSS);
        }
        if scope == Scope::Expected {
            return Some(permitted::EXPECTED);
        }
        self.permitted
            .iter()
            .find(|price| price.anomaly == anomaly && price.scope.covers(scope))
            .map(|price| price.reason.as_str())
    }
}
