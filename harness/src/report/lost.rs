//! Lost records in the order in which a person asks about them: unbroken ranges
//! first, since records fall together at one fail-over.

use std::collections::BTreeMap;

use plimsoll_checkers::{LostRecord, Verdict};

use super::losses::{LossReport, Stage};

/// Neighbouring offsets of one partition that one node had acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range<'v> {
    pub key: &'v str,
    pub node: Option<&'v str>,
    pub records: u64,
    pub offsets: Option<(i64, i64)>,
    pub values: (i64, i64),
    pub acked_ns: (u64, u64),
    /// Faults that were on during any of them.
    pub faults: Vec<u64>,
    /// Faults that were about to hold, and that had just been healed.
    pub before_faults: Vec<u64>,
    pub after_faults: Vec<u64>,
    pub stage: Stage,
}

impl Range<'_> {
    /// "cut n1; just before kill n2", or "none".
    pub fn fault_in_words(&self, verdict: &Verdict) -> String {
        with_neighbours(
            verdict,
            &self.faults,
            &self.before_faults,
            &self.after_faults,
        )
    }
}

/// Lost records by partition, each in order of offset.
pub fn by_partition(verdict: &Verdict) -> BTreeMap<&str, Vec<&LostRecord>> {
    let mut partitions: BTreeMap<&str, Vec<&LostRecord>> = BTreeMap::new();
    for record in &verdict.measures.lost {
        partitions.entry(&record.key).or_default().push(record);
    }
    for records in partitions.values_mut() {
        records.sort_by_key(|record| (record.offset, record.acked_ns));
    }
    partitions
}

/// All unbroken ranges, by partition and offset.
pub fn ranges<'v>(verdict: &'v Verdict, losses: &LossReport) -> Vec<Range<'v>> {
    let stages = verdict.measures.lost.iter().zip(&losses.losses);
    let stages: BTreeMap<(u64, i64), Stage> = stages
        .map(|(record, loss)| ((record.op, record.value), loss.stage))
        .collect();
    let mut ranges: Vec<Range<'_>> = Vec::new();
    for records in by_partition(verdict).values() {
        for (index, record) in records.iter().enumerate() {
            let stage = stages.get(&(record.op, record.value)).copied();
            let stage = stage.unwrap_or(Stage::Unknown);
            match ranges.last_mut() {
                Some(range) if index > 0 && continues(range, record) && range.stage == stage => {
                    extend(range, record);
                }
                _ => ranges.push(begin(record, stage)),
            }
        }
    }
    ranges
}

fn continues(range: &Range<'_>, record: &LostRecord) -> bool {
    let next = match (range.offsets, record.offset) {
        (Some((_, last)), Some(offset)) => last.checked_add(1) == Some(offset),
        (None, None) => true,
        _ => false,
    };
    next && range.node == record.node.as_deref()
}

fn begin(record: &LostRecord, stage: Stage) -> Range<'_> {
    Range {
        key: &record.key,
        node: record.node.as_deref(),
        records: 1,
        offsets: record.offset.map(|offset| (offset, offset)),
        values: (record.value, record.value),
        acked_ns: (record.acked_ns, record.acked_ns),
        faults: record.faults.clone(),
        before_faults: record.before_fault.into_iter().collect(),
        after_faults: record.after_fault.into_iter().collect(),
        stage,
    }
}

fn extend(range: &mut Range<'_>, record: &LostRecord) {
    range.records += 1;
    if let (Some((_, last)), Some(offset)) = (&mut range.offsets, record.offset) {
        *last = offset;
    }
    range.values.0 = range.values.0.min(record.value);
    range.values.1 = range.values.1.max(record.value);
    range.acked_ns.0 = range.acked_ns.0.min(record.acked_ns);
    range.acked_ns.1 = range.acked_ns.1.max(record.acked_ns);
    for fault in &record.faults {
        if !range.faults.contains(fault) {
            range.faults.push(*fault);
        }
    }
    for (fault, of_range) in [
        (record.before_fault, &mut range.before_faults),
        (record.after_fault, &mut range.after_faults),
    ] {
        of_range.extend(fault.filter(|fault| !of_range.contains(fault)));
    }
}

/// What stands in the end at the offset that was acknowledged.
pub fn now_there(record: &LostRecord) -> String {
    match (record.instead, record.instead_is_barrier) {
        (None, _) => "nothing".to_owned(),
        (Some(_), true) => "the barrier".to_owned(),
        (Some(value), false) => value.to_string(),
    }
}

/// The faults of one record, as words.
pub fn faults_of(verdict: &Verdict, record: &LostRecord) -> String {
    let (before, after) = (
        record.before_fault.as_slice(),
        record.after_fault.as_slice(),
    );
    with_neighbours(verdict, &record.faults, before, after)
}

fn with_neighbours(verdict: &Verdict, on: &[u64], before: &[u64], after: &[u64]) -> String {
    let mut words = Vec::new();
    for (relation, ids) in [("", on), ("just before ", before), ("just after ", after)] {
        if !ids.is_empty() {
            words.push(format!("{relation}{}", faults_in_words(verdict, ids)));
        }
    }
    match words.is_empty() {
        true => "none".to_owned(),
        false => words.join("; "),
    }
}

/// Faults by their numbers, as words: "kill n1; partition n2".
fn faults_in_words(verdict: &Verdict, ids: &[u64]) -> String {
    let windows = verdict.measures.fault_windows.iter();
    let named: Vec<String> = windows
        .filter(|one| ids.contains(&one.window.id))
        .map(|one| fault_in_words(&one.window))
        .collect();
    match named.is_empty() {
        true => "none".to_owned(),
        false => named.join("; "),
    }
}

/// "kill n1", "cut n1, n2".
pub fn fault_in_words(window: &plimsoll_checkers::FaultWindow) -> String {
    let what = match window.fault.as_str() {
        "partition" => "cut",
        other => other,
    };
    let whom = window.targets.join(", ");
    format!("{what} {whom}").trim_end().to_owned()
}

/// "14 to 72", or "14".
pub fn span((first, last): (i64, i64)) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    }
}
