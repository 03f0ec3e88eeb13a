//! The table of prices: which anomaly each setting permits, with its reason.

use serde::{Deserialize, Serialize};

use super::{Acks, FaultClasses, Settings};

/// Which findings of an anomaly are meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// All of them.
    #[default]
    Any,
    /// Only those that rest on records which may have been lost: a leader's
    /// claim that nobody saw again, or an order among records of which the end
    /// of the run is unknown.
    Claims,
    /// Only those that follow from a loss which is a finding of its own.
    Lost,
    /// Only those of records that were sent more than once.
    Retried,
    /// Only those of consumers whose partitions are assigned to them.
    Subscribed,
    /// Those that every log of this kind shows; no promise is against them.
    Expected,
}

impl Scope {
    /// Whether a price of this scope covers a finding of `other`.
    pub fn covers(self, other: Scope) -> bool {
        self == Scope::Any || self == other
    }
}

/// One known price of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permitted {
    /// Name of the anomaly.
    pub anomaly: String,
    /// Which of its findings.
    #[serde(default)]
    pub scope: Scope,
    /// Why, as a sentence.
    pub reason: String,
}

/// Anomalies in which something that was there is gone.
pub(super) fn is_loss(anomaly: &str) -> bool {
    matches!(anomaly, "lost-write" | "vanished-read")
}

pub(super) fn resolve(settings: &Settings, classes: FaultClasses) -> Vec<Permitted> {
    let mut prices = Vec::new();
    acked_loss(settings, classes, &mut prices);
    consumed_loss(settings, classes, &mut prices);
    duplicates(settings, classes, &mut prices);
    prices.extend(of_subscribers());
    prices
}

fn acked_loss(settings: &Settings, classes: FaultClasses, prices: &mut Vec<Permitted>) {
    let reason = match settings.acks {
        // Nothing is acknowledged, so nothing acknowledged can be lost.
        Acks::None => return,
        _ if settings.unclean_elections => UNCLEAN,
        Acks::Leader => {
            "acks=1 answers at the leader's own append: any move of leadership may lose records that no follower had"
        }
        Acks::All if classes.disk => last_copy(settings),
        Acks::All => return,
    };
    add(prices, "lost-write", Scope::Any, reason);
    add(
        prices,
        "inconsistent-offsets",
        Scope::Claims,
        "an acknowledgement whose record was lost named an offset that the next leader gave to another record",
    );
}

fn consumed_loss(settings: &Settings, classes: FaultClasses, prices: &mut Vec<Permitted>) {
    let reason = if settings.unclean_elections {
        UNCLEAN
    } else if classes.disk {
        last_copy(settings)
    } else {
        return;
    };
    add(prices, "vanished-read", Scope::Any, reason);
    add(
        prices,
        "inconsistent-offsets",
        Scope::Any,
        "offsets of records that were lost after they had been read are used again",
    );
}

fn duplicates(settings: &Settings, classes: FaultClasses, prices: &mut Vec<Permitted>) {
    if settings.retries == 0 {
        return;
    }
    let reason = if !settings.idempotent {
        "a retry without idempotence appends again when the first request had been appended after all"
    } else if settings.unclean_elections || classes.disk {
        "a producer's sequence numbers are lost with its records, so a retry may be appended again"
    } else {
        return;
    };
    add(prices, "duplicate", Scope::Retried, reason);
}

/// What consumers with assigned partitions may always see.
pub(super) fn of_subscribers() -> Vec<Permitted> {
    let mut prices = Vec::new();
    for anomaly in ["poll-skip", "nonmonotonic-poll"] {
        add(
            &mut prices,
            anomaly,
            Scope::Subscribed,
            "a rebalance may move a consumer to another position",
        );
    }
    prices
}

/// Why what follows from a loss is no second accusation.
pub(super) const AFTER_A_LOSS: &str =
    "it follows from the loss of an acknowledged record, which is judged by itself";

/// Why what every log of this kind shows accuses nobody.
pub(super) const EXPECTED: &str = "several producers share a log, its transactions do not isolate writes from each other, and a reply may end anywhere";

const UNCLEAN: &str =
    "unclean leader election lets a replica lead that never had all committed records";

fn last_copy(settings: &Settings) -> &'static str {
    match (settings.acks, settings.elr, settings.min_insync) {
        (Acks::All, true, _) => {
            "a disk fault after as many unclean shutdowns as min.insync.replicas may take the last eligible copy"
        }
        (Acks::All, false, 2..) => {
            "a disk fault on the last remaining in-sync replica takes what it alone was trusted with"
        }
        _ => "a disk fault on every in-sync replica, perhaps only one, takes what they had",
    }
}

fn add(prices: &mut Vec<Permitted>, anomaly: &str, scope: Scope, reason: &str) {
    prices.push(Permitted {
        anomaly: anomaly.to_owned(),
        scope,
        reason: reason.to_owned(),
    });
}
