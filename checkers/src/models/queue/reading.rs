//! A history as elements and what happened to each.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{NEVER, name_of};
use crate::history::{History, HistoryError, OpType};
use crate::models::vocabulary::{list, ops, value};

/// A span of an op: positions of its begin and its end ([`NEVER`] without an answer).
pub(super) type Span = (u32, u32);

/// One value.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub name: String,
    /// Enqueues that may have happened, in order of their begin.
    pub enqueues: Vec<Span>,
    /// Answered dequeues.
    pub dequeues: Vec<Span>,
    /// End of an enqueue that certainly failed.
    pub failed: u32,
}

impl Element {
    /// Of a value that was enqueued once: begin and end.
    pub(super) fn enqueue(&self) -> Span {
        self.enqueues.first().copied().unwrap_or((NEVER, NEVER))
    }

    /// Of a value that was dequeued at most once.
    pub(super) fn dequeue(&self) -> Option<Span> {
        self.dequeues.first().copied()
    }
}

/// All ops of a queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub elements: Vec<Element>,
    /// Dequeues that found nothing.
    pub empties: Vec<Span>,
    /// Begins of dequeues without an answer.
    pub open_dequeues: Vec<u32>,
    /// Elements of each drain in the order in which they came out, with its end.
    pub drains: Vec<(u32, Vec<usize>)>,
    /// Some value was enqueued more than once.
    pub repeats: bool,
    attempts: u64,
    acknowledged: u64,
}

impl Queue {
    pub(super) fn counts(&self) -> [(&'static str, u64); 4] {
        [
            ("attempt_count", self.attempts),
            ("acknowledged_count", self.acknowledged),
            ("ok_count", self.dequeues() as u64),
            ("info_count", self.open_dequeues.len() as u64),
        ]
    }

    pub(super) fn dequeues(&self) -> usize {
        let taken = self.elements.iter().map(|element| element.dequeues.len());
        taken.sum::<usize>() + self.empties.len()
    }
}

pub(super) fn read(history: &History) -> Result<Queue, HistoryError> {
    let mut queue = Queue::default();
    let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
    for (position, op) in ops(history) {
        if op.kind != OpType::Invoke {
            continue;
        }
        let end = history.partner(position);
        let kind = end.map_or(OpType::Info, |end| history.ops()[end].kind);
        let answer = end
            .filter(|_| kind == OpType::Ok)
            .map_or(NEVER, |end| end as u32);
        let span = (position as u32, answer);
        match (op.f.as_str(), kind) {
            ("enqueue", _) => {
                let element = queue.element(&mut by_name, &value(op));
                match kind {
                    OpType::Fail => element.failed = end.map_or(NEVER, |end| end as u32),
                    _ => element.enqueues.push(span),
                }
                queue.attempts += 1;
                queue.acknowledged += u64::from(kind == OpType::Ok);
            }
            (_, OpType::Fail) => {}
            ("drain", OpType::Info) => {
                return Err(HistoryError::new(
                    history.line_of(position),
                    "a drain without an answer may have taken anything; use --model total-queue",
                ));
            }
            (_, OpType::Info) => queue.open_dequeues.push(position as u32),
            ("drain", _) => {
                let mut order = Vec::new();
                for taken in list(history, answer as usize)? {
                    queue.element(&mut by_name, &taken).dequeues.push(span);
                    order.extend(by_name.get(&name_of(&taken)));
                }
                queue.drains.push((answer, order));
            }
            _ => match value(&history.ops()[answer as usize]) {
                Json::Null => queue.empties.push(span),
                taken => queue.element(&mut by_name, &taken).dequeues.push(span),
            },
        }
    }
    queue.repeats = queue
        .elements
        .iter()
        .any(|element| element.enqueues.len() > 1);
    queue.drop_unobserved();
    Ok(queue)
}

impl Queue {
    fn element(&mut self, by_name: &mut BTreeMap<String, usize>, value: &Json) -> &mut Element {
        let name = name_of(value);
        let next = self.elements.len();
        let at = *by_name.entry(name.clone()).or_insert(next);
        if at == next {
            self.elements.push(Element {
                name,
                failed: NEVER,
                ..Element::default()
            });
        }
        &mut self.elements[at]
    }

    /// An enqueue without an answer whose value nobody took constrains nothing: it may never have
    /// happened.
    fn drop_unobserved(&mut self) {
        if self.repeats {
            return;
        }
        for element in &mut self.elements {
            if element.dequeues.is_empty() {
                element.enqueues.retain(|enqueue| enqueue.1 != NEVER);
            }
        }
    }
}
