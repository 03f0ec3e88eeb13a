//! `two-leaders`: after healing and settling a connected broker still claims
//! leadership in an older epoch.
//!
//! A violation under every promise. A deposed leader that has not yet heard of
//! it is correct while it is cut off; at the settle limit it no longer is.

use super::{Checker, Find};
use crate::facts::Facts;
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(super) const CHECKER: Checker = Checker {
    anomaly: "two-leaders",
    definition: "after settling a broker claims leadership in an epoch that is over",
    find: Find::Run(find),
};

fn find(facts: &Facts<'_>, found: &mut Found) {
    let Some(settled) = &facts.settled else {
        return;
    };
    let op = facts.op(settled.position);
    for claim in &settled.two_leaders {
        found.add(
            claim.leader_epoch < claim.newest_epoch,
            Finding {
                anomaly: CHECKER.anomaly,
                key: claim.key.clone(),
                offset: None,
                values: Vec::new(),
                ops: vec![op.index],
                time_ns: op.time,
                sentence: format!(
                    "{} still claims to lead {} in epoch {} after settling, though epoch {} has begun.",
                    claim.node, claim.key, claim.leader_epoch, claim.newest_epoch,
                ),
                scope: Scope::Any,
            },
        );
    }
}
