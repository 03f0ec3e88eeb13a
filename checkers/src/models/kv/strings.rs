//! Keys whose strings do not tell how they grew, by the general search.

use super::reading::{Entry, Kind};
use crate::search::register::{Explanation, Judgement, Meter, NEVER, NONE, RegisterOp};
use crate::search::sequential::{Found, Sequential, Span, deepest_alone, search};

/// Gets that a witness is tried without, at most.
const MOST_TRIALS: usize = 200;

/// Steps for one trial.
const TRIAL_STEPS: u64 = 1_000_000;

/// One key under these ops.
struct Strings<'a, 'h> {
    entries: Vec<&'a Entry<'h>>,
    initial: &'a str,
}

impl Sequential for Strings<'_, '_> {
    type State = String;

    fn initial(&self) -> Vec<String> {
        vec![self.initial.to_owned()]
    }

    fn step(&self, state: &String, op: usize) -> Option<String> {
        let entry = self.entries[op];
        match entry.kind {
            Kind::Get => (entry.text == state).then(|| state.clone()),
            Kind::Put => Some(entry.text.to_owned()),
            Kind::Append => Some(format!("{state}{}", entry.text)),
        }
    }

    fn is_read_only(&self, op: usize) -> bool {
        self.entries[op].kind == Kind::Get
    }

    fn same(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.entries[one], self.entries[other]);
        (one.kind, one.text) == (other.kind, other.text)
    }
}

/// Stand-ins for the ops of such a key, each with a value of its own.
pub(super) fn unrelated(entries: &[Entry<'_>]) -> Vec<RegisterOp> {
    let op = |(value, entry): (u32, &Entry<'_>)| {
        let is_get = entry.kind == Kind::Get;
        let (inv, ret) = (entry.invoked, entry.ret);
        let (from, to) = if is_get { (value, NONE) } else { (NONE, value) };
        RegisterOp { inv, ret, from, to }
    };
    (1..).zip(entries).map(op).collect()
}

/// Judges and explains.
pub(super) fn judge(
    entries: &[Entry<'_>],
    initial: &str,
    meter: &mut Meter,
    spare: &mut Meter,
) -> Judgement {
    let key = Strings {
        entries: entries.iter().collect(),
        initial,
    };
    let op = match search(&key, &spans(&key, NEVER), meter) {
        Found::Linearizable(_) => return Judgement::Linearizable,
        Found::OutOfBudget => return Judgement::OutOfBudget,
        Found::Violation { op } => op,
    };
    let end = entries[op as usize].ret;
    let order = end.checked_sub(1).and_then(|before| {
        let (names, cut) = prefix(entries, initial, before);
        let found = deepest_alone(&cut, &spans(&cut, before), spare);
        let Found::Linearizable(Some(order)) = found else {
            return None;
        };
        Some(order.into_iter().map(|at| names[at as usize]).collect())
    });
    let (witness, proved) = witness(entries, initial, end, spare);
    Judgement::Violation(Explanation {
        op,
        order,
        witness,
        proved,
        flaw: None,
    })
}

fn spans(key: &Strings<'_, '_>, moment: u32) -> Vec<Span> {
    let span = |entry: &&Entry<'_>| Span {
        inv: entry.invoked,
        ret: if entry.ret <= moment {
            entry.ret
        } else {
            NEVER
        },
    };
    key.entries.iter().map(span).collect()
}

/// What was recorded up to `moment`; gets that were open then say nothing.
fn prefix<'a, 'h>(
    entries: &'a [Entry<'h>],
    initial: &'a str,
    moment: u32,
) -> (Vec<u32>, Strings<'a, 'h>) {
    let begun = (0..).zip(entries).filter(|(_, entry)| {
        entry.invoked <= moment && (entry.kind != Kind::Get || entry.ret <= moment)
    });
    let (names, entries) = begun.unzip();
    (names, Strings { entries, initial })
}

/// Leaving out a get is always sound, a put or an append is not: a string may hold it.
fn witness(entries: &[Entry<'_>], initial: &str, end: u32, spare: &mut Meter) -> (Vec<u32>, bool) {
    let (mut names, mut key) = prefix(entries, initial, end);
    let refuted = |key: &Strings<'_, '_>, steps: u64, spare: &mut Meter| {
        let mut meter = Meter::new(spare.steps_left.min(steps), spare.bytes);
        let found = deepest_alone(key, &spans(key, end), &mut meter);
        spare.steps += meter.steps;
        spare.steps_left = spare.steps_left.saturating_sub(meter.steps);
        matches!(found, Found::Violation { .. })
    };
    let mut at = 0;
    for _ in 0..MOST_TRIALS.min(names.len()) {
        while key
            .entries
            .get(at)
            .is_some_and(|entry| entry.kind != Kind::Get)
        {
            at += 1;
        }
        let (Some(&entry), Some(&name)) = (key.entries.get(at), names.get(at)) else {
            break;
        };
        key.entries.remove(at);
        names.remove(at);
        if !refuted(&key, TRIAL_STEPS, spare) {
            key.entries.insert(at, entry);
            names.insert(at, name);
            at += 1;
        }
    }
    let proved = refuted(&key, u64::MAX, spare);
    (names, proved)
}
