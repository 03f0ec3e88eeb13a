//! `not-recovered`: a partition without a leader or a full in-sync set at the
//! settle limit.
//!
//! It makes a verdict `unknown`, never invalid: what was not read to the end
//! cannot be told.

use super::{Checker, Find};
use crate::facts::Facts;
use crate::finding::{Finding, Found};
use crate::promise::Scope;

pub(crate) const NAME: &str = "not-recovered";

pub(super) const CHECKER: Checker = Checker {
    anomaly: NAME,
    definition: "a partition without a leader or a full in-sync set at the settle limit",
    find: Find::Run(find),
};

fn find(facts: &Facts<'_>, found: &mut Found) {
    let Some(settled) = facts.settled.as_ref().filter(|settled| !settled.settled) else {
        return;
    };
    let op = facts.op(settled.position);
    for key in &settled.unsettled {
        found.add(
            true,
            Finding {
                anomaly: CHECKER.anomaly,
                key: key.clone(),
                offset: None,
                values: Vec::new(),
                ops: vec![op.index],
                time_ns: op.time,
                sentence: format!(
                    "{key} had no leader or no full in-sync set when the settle limit ended."
                ),
                scope: Scope::Any,
            },
        );
    }
}
