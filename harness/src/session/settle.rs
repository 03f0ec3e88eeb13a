//! Whether the cluster has settled: every broker names the same leader and
//! epoch with a full ISR in two polls, a second apart. What has not settled
//! when the time is up is named, with whoever still claims to lead.

use serde_json::json;

use super::messages::Command;
use super::phase::Phase;
use super::{Out, Session, record};

/// Two polls that agree must be this far apart.
const STABLE_NS: u64 = 1_000_000_000;

impl Session {
    /// Looks whether the cluster has settled, at each poll of a node.
    pub(super) fn settle(&mut self, out: Out<'_>) {
        if self.phase != Phase::Settle || self.endgame.settled {
            return;
        }
        let agreement = self.cluster.agreement();
        let oldest = self.cluster.oldest_report_ns();
        let (Some(oldest), true) = (oldest, agreement.len() == self.partitions()) else {
            self.endgame.stable = None;
            return;
        };
        match &self.endgame.stable {
            Some((since, before)) if *before == agreement => {
                if oldest >= since + STABLE_NS {
                    self.settled(out);
                }
            }
            _ => self.endgame.stable = Some((self.now_ns, agreement)),
        }
    }

    pub(super) fn settled(&mut self, out: Out<'_>) {
        self.endgame.settled = true;
        let value = json!({ "settled": true, "unsettled": [], "two_leaders": [],
            "replicas_left": self.cluster.replicas_left() });
        out.push(Command::Record(Box::new(record::nemesis("settled", value))));
        for partition in 0..self.config.topic.partitions {
            self.send_barrier(partition, out);
        }
    }

    /// The time is up: says what is not settled, and who still claims to lead.
    pub(super) fn not_settled(&mut self, out: Out<'_>) {
        let agreement = self.cluster.agreement();
        let keys = self.keys().into_iter().zip(0..);
        let unsettled: Vec<String> = keys
            .filter(|(_, p)| !agreement.contains_key(p))
            .map(|(key, _)| key)
            .collect();
        let value = json!({ "settled": false, "unsettled": unsettled,
            "two_leaders": self.cluster.older_leaders() });
        out.push(Command::Record(Box::new(record::nemesis("settled", value))));
    }
}
