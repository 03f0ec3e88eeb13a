//! `set-full`: what became of each element, over all reads.
//!
//! Jepsen's `jepsen.checker/set-full`: an element is stable once every later read (by invocation)
//! holds it, lost once it was known and some later read misses it and none after that holds it, else
//! never read. Stale: stable, but a read that began after it was known missed it. Elements that a
//! read holds twice are duplicates (which Jepsen's own comparison never finds), elements that nobody
//! had added are unexpected. An acknowledged element that was never read makes it unknown.

mod element;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use self::element::{Element, Outcome};
use super::vocabulary::{is_ok, list, name, only, ops, value};
use super::{Anomaly, Level, Model, ModelVerdict};
use crate::history::{History, HistoryError, OpType};

/// Stale elements that are shown in full.
const WORST_STALE: usize = 8;

pub(super) fn judge(history: &History) -> Result<ModelVerdict, HistoryError> {
    only(history, Model::SetFull, &["add", "read"])?;
    let mut look = Look::default();
    for (position, op) in ops(history) {
        match (op.f.as_str(), op.kind) {
            ("add", OpType::Invoke) => look.add(value(op)),
            ("add", OpType::Ok) => look.acknowledge(&value(op), position),
            _ if is_ok(op, "read") => look.read(history, position)?,
            _ => {}
        }
    }
    Ok(look.verdict(history))
}

#[derive(Default)]
struct Look {
    elements: Vec<Element>,
    by_name: BTreeMap<String, usize>,
    duplicated: BTreeMap<String, (u64, usize)>,
    unexpected: BTreeMap<String, usize>,
    reads: u64,
}

impl Look {
    fn add(&mut self, element: Json) {
        let next = self.elements.len();
        let at = *self.by_name.entry(name(&element)).or_insert(next);
        if at == next {
            self.elements.push(Element::new(element));
        }
    }

    fn acknowledge(&mut self, element: &Json, position: usize) {
        if let Some(&at) = self.by_name.get(&name(element)) {
            self.elements[at].acknowledge(position);
        }
    }

    fn read(&mut self, history: &History, position: usize) -> Result<(), HistoryError> {
        let invoke = history.partner(position).unwrap_or(position);
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        for element in list(history, position)? {
            *held.entry(name(&element)).or_insert(0) += 1;
        }
        for (element, &count) in &held {
            if count > 1 {
                let seen = self
                    .duplicated
                    .entry(element.clone())
                    .or_insert((count, position));
                seen.0 = seen.0.max(count);
            }
            if !self.by_name.contains_key(element) {
                self.unexpected.entry(element.clone()).or_insert(position);
            }
        }
        for (element, &at) in &self.by_name {
            match held.contains_key(element) {
                true => self.elements[at].present(invoke, position),
                false => self.elements[at].absent(invoke, position),
            }
        }
        self.reads += 1;
        Ok(())
    }

    fn verdict(self, history: &History) -> ModelVerdict {
        let mut verdict = ModelVerdict::valid(Model::SetFull);
        let all: Vec<(&Element, Outcome)> = self
            .elements
            .iter()
            .map(|element| (element, element.outcome(history)))
            .collect();
        let of = |wanted: fn(&Outcome) -> bool| -> Vec<&(&Element, Outcome)> {
            all.iter().filter(|(_, outcome)| wanted(outcome)).collect()
        };
        let stable = of(|outcome| matches!(outcome, Outcome::Stable { .. }));
        let lost = of(|outcome| matches!(outcome, Outcome::Lost { .. }));
        let never_read = of(|outcome| matches!(outcome, Outcome::NeverRead));
        let mut stale = of(|outcome| matches!(outcome, Outcome::Stable { latency_ms: 1.. }));
        for (element, _) in &lost {
            verdict.accuse(element.lost(history));
        }
        self.accuse_of_reads(history, &mut verdict);
        let unread = never_read
            .iter()
            .filter(|(element, _)| element.is_acknowledged())
            .count();
        if unread > 0 {
            verdict.doubt(format!("{unread} acknowledged elements were never read"));
        } else if stable.is_empty() {
            verdict.doubt("no element was seen to stay");
        }
        let counts = [
            ("attempt_count", all.len()),
            ("acknowledged_count", acknowledged(&all)),
            ("stable_count", stable.len()),
            ("lost_count", lost.len()),
            ("never_read_count", never_read.len()),
            ("stale_count", stale.len()),
            ("duplicated_count", self.duplicated.len()),
            ("unexpected_count", self.unexpected.len()),
        ];
        verdict
            .counts
            .extend(counts.map(|(name, count)| (name, count as u64)));
        verdict.details.insert("lost", values(&lost));
        verdict.details.insert("never_read", values(&never_read));
        verdict.details.insert("stale", values(&stale));
        stale.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.latency_ms()));
        let worst = stale.iter().take(WORST_STALE);
        let worst = worst.map(|(element, outcome)| element.shown(outcome, history));
        verdict
            .details
            .insert("worst_stale", Json::Array(worst.collect()));
        let times = |list: &[&(&Element, Outcome)]| {
            let times = list.iter().filter_map(|(_, outcome)| outcome.latency_ms());
            quantiles(times.collect())
        };
        if let Some(times) = times(&stable) {
            verdict.details.insert("stable_latencies", times);
        }
        if let Some(times) = times(&lost) {
            verdict.details.insert("lost_latencies", times);
        }
        let duplicated = self.duplicated.iter();
        let duplicated =
            duplicated.map(|(name, (count, _))| (name.trim_matches('"').to_owned(), json!(count)));
        verdict
            .details
            .insert("duplicated", Json::Object(duplicated.collect()));
        verdict.refutable_reads = self.reads;
        verdict.level = Level::Unknown;
        verdict
    }

    fn accuse_of_reads(&self, history: &History, verdict: &mut ModelVerdict) {
        let of_read = |kind, position: usize, message| Anomaly {
            kind,
            key: None,
            ops: vec![history.ops()[position].index],
            time_ns: history.ops()[position].time,
            message,
            details: BTreeMap::new(),
        };
        for (name, (count, position)) in &self.duplicated {
            let message = format!("A read holds {name} {count} times; a set holds it once.");
            verdict.accuse(of_read("duplicate", *position, message));
        }
        for (name, position) in &self.unexpected {
            let message = format!("A read holds {name}, which nobody had begun to add.");
            verdict.accuse(of_read("phantom-read", *position, message));
        }
    }
}

fn acknowledged(all: &[(&Element, Outcome)]) -> usize {
    all.iter()
        .filter(|(element, _)| element.is_acknowledged())
        .count()
}

fn values(list: &[&(&Element, Outcome)]) -> Json {
    let mut values: Vec<Json> = list
        .iter()
        .map(|(element, _)| element.value.clone())
        .collect();
    values.sort_by(|one, other| match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => one.to_string().cmp(&other.to_string()),
    });
    Json::Array(values)
}

/// Jepsen's `frequency-distribution`: at 0, 0.5, 0.95, 0.99 and 1, in milliseconds.
fn quantiles(mut times: Vec<u64>) -> Option<Json> {
    times.sort_unstable();
    let last = times.len().checked_sub(1)?;
    let at = |points: [(&str, f64); 5]| -> serde_json::Map<String, Json> {
        let each = points.map(|(name, share)| {
            let place = ((times.len() as f64 * share) as usize).min(last);
            (name.to_owned(), json!(times[place]))
        });
        each.into_iter().collect()
    };
    let points = [
        ("0", 0.0),
        ("0.5", 0.5),
        ("0.95", 0.95),
        ("0.99", 0.99),
        ("1", 1.0),
    ];
    Some(Json::Object(at(points)))
}
