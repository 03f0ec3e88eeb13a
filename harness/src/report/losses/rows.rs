//! lost.csv: a row for every record that was lost, doubled, moved, read stale, or is there though its
//! send got no answer.

use std::collections::BTreeSet;

use plimsoll_checkers::history::{History, OpType, Process};
use plimsoll_checkers::{LostRecord, Verdict};

use super::{LossReport, fault_of};
use crate::report::lost::fault_in_words;
use crate::report::numbers::at;

const HEAD: &str = "fate,partition,offset,value,at_s,acked_by,fault,fault_was,stage,stage_shown_by,\
                    last_seen_on,now_at_that_offset,permitted,op,message";

/// Findings that rows are made of; a lost write has a row of its own kind.
const LEFT_OUT: [&str; 2] = ["lost-write", "not-recovered"];

/// The file's text.
pub fn lost_csv(history: &History, verdict: &Verdict, losses: &LossReport) -> String {
    let mut text = format!("{HEAD}\n");
    let mut row = |fields: [String; 15]| {
        let fields: Vec<String> = fields.iter().map(|field| csv_field(field)).collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    };
    for (index, record) in verdict.measures.lost.iter().enumerate() {
        row(lost(index, record, verdict, losses));
    }
    let findings = verdict.anomalies.iter();
    for judged in findings.filter(|one| !LEFT_OUT.contains(&one.finding.anomaly)) {
        let finding = &judged.finding;
        let values: Vec<String> = finding.values.iter().map(i64::to_string).collect();
        let mut fields = empty(finding.anomaly);
        fields[1] = finding.key.clone();
        fields[2] = optional(finding.offset);
        fields[3] = values.join(" ");
        fields[4] = at(finding.time_ns);
        fields[12] = judged.permitted.to_string();
        fields[13] = finding.ops.first().map_or_else(String::new, u64::to_string);
        fields[14].clone_from(&finding.sentence);
        row(fields);
    }
    for (key, offset, value) in unacked_but_present(history) {
        let mut fields = empty("unacked-but-present");
        fields[1] = key;
        fields[2] = offset.to_string();
        fields[3] = value.to_string();
        row(fields);
    }
    text
}

fn empty(fate: &str) -> [String; 15] {
    let mut fields: [String; 15] = Default::default();
    fate.clone_into(&mut fields[0]);
    fields
}

fn lost(index: usize, record: &LostRecord, verdict: &Verdict, losses: &LossReport) -> [String; 15] {
    let fault = fault_of(record, verdict);
    let loss = losses.losses.get(index);
    let seen = losses.resolved.as_ref();
    let seen = seen.and_then(|resolved| resolved.lost_last_seen.get(index)?.as_ref());
    let mut fields = empty("lost");
    fields[1].clone_from(&record.key);
    fields[2] = optional(record.offset);
    fields[3] = record.value.to_string();
    fields[4] = at(record.acked_ns);
    fields[5] = record.node.clone().unwrap_or_default();
    fields[6] = fault.map_or_else(String::new, fault_in_words);
    fields[7] = match (record.before_fault, record.after_fault) {
        (Some(_), _) => "just before",
        (None, Some(_)) => "just after",
        (None, None) if fault.is_some() => "on",
        (None, None) => "",
    }
    .to_owned();
    fields[8] = loss.map_or("unknown", |loss| loss.stage.name()).to_owned();
    fields[9] = loss.map_or_else(String::new, |loss| loss.shown_by.clone());
    fields[10] = seen.map_or_else(String::new, |at| {
        format!(
            "{} at offset {} in epoch {}",
            at.node, at.offset, at.leader_epoch
        )
    });
    fields[11] = match record.instead_is_barrier {
        true => "barrier".to_owned(),
        false => optional(record.instead),
    };
    fields[12] = verdict.permitted.contains(&"lost-write").to_string();
    fields[13] = record.op.to_string();
    fields
}

fn optional(number: Option<i64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// Records of sends without an answer that a final read showed, each once.
fn unacked_but_present(history: &History) -> Vec<(String, i64, i64)> {
    let mut unanswered: BTreeSet<(&str, i64)> = BTreeSet::new();
    let ops = history.ops().iter();
    for op in ops
        .clone()
        .filter(|op| op.process != Process::Nemesis && op.f != "barrier")
    {
        for send in op.value.sends() {
            let record = (send.key.as_str(), send.value);
            match op.kind {
                OpType::Invoke | OpType::Info => unanswered.insert(record),
                OpType::Ok | OpType::Fail => unanswered.remove(&record),
            };
        }
    }
    let mut present = BTreeSet::new();
    for op in ops.filter(|op| op.kind == OpType::Ok) {
        let Some(polled) = op.value.polled() else {
            continue;
        };
        for (key, records) in polled {
            let is_final = op.reads.get(key).is_some_and(|read| read.is_final);
            for (offset, value) in records.iter().filter(|_| is_final) {
                if unanswered.contains(&(key.as_str(), *value)) {
                    present.insert((key.clone(), *offset, *value));
                }
            }
        }
    }
    present.into_iter().collect()
}

/// A field as RFC 4180 has it. A leading character that a spreadsheet would take for a formula is
/// disarmed, unless it begins a number.
pub fn csv_field(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '@', '\t', '\r'])
        || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field = match formula {
        true => format!("'{field}"),
        false => field.to_owned(),
    };
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}
