//! `queue`: a linearizable FIFO queue of distinct values.
//!
//! The bad patterns of a queue (Bouajjani, Emmi, Enea and Hamza, ICALP 2015) in O(n log n), with ops
//! that got no answer: an enqueue that is observed has no end, one that is not observed is dropped; a
//! dequeue without an answer may have taken an element that is missing. A dequeue that is ok with null
//! found the queue empty. Values that repeat, and dequeues without an answer beside ones that found
//! nothing, are judged by trying orders, within the budget.

mod empties;
mod order;
mod reading;
mod search;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use self::reading::Queue;
use super::vocabulary::only;
use super::{Anomaly, Level, Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError};

/// An end that never comes.
const NEVER: u32 = u32::MAX;

pub(super) fn judge(
    history: &History,
    options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::Queue, &["enqueue", "dequeue", "drain"])?;
    let queue = reading::read(history)?;
    let mut verdict = ModelVerdict::valid(Model::Queue);
    verdict.counts.extend(queue.counts());
    verdict.refutable_reads = queue.dequeues() as u64;
    for accusation in from_nowhere(&queue) {
        verdict.accuse(accusation.told(history));
    }
    if verdict.anomalies.is_empty() {
        judge_order(history, &queue, options, &mut verdict);
    }
    verdict.level = match verdict.valid {
        crate::Validity::Valid if verdict.refutable_reads > 0 => Level::Linearizable,
        _ => Level::Unknown,
    };
    Ok(verdict)
}

fn judge_order(
    history: &History,
    queue: &Queue,
    options: &ModelOptions,
    verdict: &mut ModelVerdict,
) {
    let both = !queue.open_dequeues.is_empty() && !queue.empties.is_empty();
    if both && !queue.repeats {
        // What answered ops prove needs no search.
        for accusation in order::violations(queue) {
            verdict.accuse(accusation.told(history));
        }
        if !verdict.anomalies.is_empty() {
            return;
        }
    }
    if both || queue.repeats {
        match search::some_order_fits(queue, options.budget) {
            search::Answer::Fits => {}
            search::Answer::None { at } => {
                let message = "No order that real time allows explains the ops up to this one.";
                let accusation = Accusation::new("not-linearizable", vec![at], message.to_owned());
                verdict.accuse(accusation.told(history));
            }
            search::Answer::Spent { steps } => verdict.doubt(format!(
                "the budget ran out after {steps} steps; nothing was found until then"
            )),
        }
        return;
    }
    let mut accusations = order::violations(queue);
    accusations.extend(order::within_drains(queue));
    accusations.extend(order::missing(queue));
    accusations.extend(empties::covered(queue));
    for accusation in accusations {
        verdict.accuse(accusation.told(history));
    }
}

/// An anomaly by the positions of its ops.
struct Accusation {
    kind: &'static str,
    ops: Vec<u32>,
    message: String,
}

impl Accusation {
    fn new(kind: &'static str, ops: Vec<u32>, message: String) -> Self {
        Self { kind, ops, message }
    }

    fn told(mut self, history: &History) -> Anomaly {
        self.ops.retain(|&at| at != NEVER);
        self.ops.sort_unstable();
        self.ops.dedup();
        let of = |at: &u32| &history.ops()[*at as usize];
        Anomaly {
            kind: self.kind,
            key: None,
            ops: self.ops.iter().map(|at| of(at).index).collect(),
            time_ns: self.ops.last().map_or(0, |at| of(at).time),
            message: self.message,
            details: BTreeMap::new(),
        }
    }
}

/// What no order could explain: values from nowhere, or taken twice.
fn from_nowhere(queue: &Queue) -> Vec<Accusation> {
    let mut accusations = Vec::new();
    for element in &queue.elements {
        let Some(&(_, ret)) = element.dequeues.first() else {
            continue;
        };
        let name = &element.name;
        if element.enqueues.is_empty() {
            let (kind, how) = match element.failed {
                NEVER => ("phantom-read", "which nobody had enqueued"),
                _ => ("G1a", "whose enqueue certainly failed"),
            };
            let message = format!("{name} was dequeued, {how}.");
            accusations.push(Accusation::new(kind, vec![element.failed, ret], message));
        } else if !queue.repeats && ret < element.enqueues[0].0 {
            let message = format!("{name} was dequeued before its enqueue had begun.");
            let ops = vec![ret, element.enqueues[0].0];
            accusations.push(Accusation::new("phantom-read", ops, message));
        }
        if element.dequeues.len() > element.enqueues.len().max(1) {
            let message = format!("{name} was dequeued more often than it was enqueued.");
            let taken = element.dequeues.iter().map(|dequeue| dequeue.1).collect();
            accusations.push(Accusation::new("duplicate", taken, message));
        }
    }
    accusations
}

/// A value as it is told.
fn name_of(value: &Json) -> String {
    value.to_string()
}
