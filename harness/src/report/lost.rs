//! Lost records in the order in which a person asks about them: unbroken ranges
//! first, since records fall together at one fail-over.

use std::collections::BTreeMap;

use plimsoll_checkers::{LostRecord, Verdict};

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
pub fn ranges(verdict: &Verdict) -> Vec<Range<'_>> {
    let mut ranges: Vec<Range<'_>> = Vec::new();
    for records in by_partition(verdict).values() {
        for (index, record) in records.iter().enumerate() {
            match ranges.last_mut() {
                Some(range) if index > 0 && continues(range, record) => extend(range, record),
                _ => ranges.push(begin(record)),
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

fn begin(record: &LostRecord) -> Range<'_> {
    Range {
        key: &record.key,
        node: record.node.as_deref(),
        records: 1,
        offsets: record.offset.map(|offset| (offset, offset)),
        values: (record.value, record.value),
        acked_ns: (record.acked_ns, record.acked_ns),
        faults: record.faults.clone(),
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
}

/// Faults by their numbers, as words: "kill n1; partition n2".
pub fn faults_in_words(verdict: &Verdict, ids: &[u64]) -> String {
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
