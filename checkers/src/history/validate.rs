//! The rules that every history keeps, and the pairing that follows from them.
//!
//! Ours: index strictly rises, time never falls, one open op a process, a
//! completion names the f and the values of its invoke, a process that got
//! `info` never runs again, a value is sent once a partition. Foreign
//! histories are allowed processes that go on after `info`.

use std::collections::BTreeMap;

use super::{HistoryError, NONE, Op, OpType, Process, SendMop, Value, words};

/// Pairs invokes and completions; the position of the other end for each op.
pub(super) fn pair(ours: bool, ops: &[Op]) -> Result<Vec<u32>, HistoryError> {
    let first_line = 1 + u64::from(ours);
    let mut pairing = Pairing {
        ours,
        open: BTreeMap::new(),
        partner: vec![NONE; ops.len()],
    };
    if u32::try_from(ops.len()).is_err() {
        let reason = "more than 4,294,967,295 ops; split the history by partition";
        return Err(HistoryError::new(first_line, reason));
    }
    let mut sent = Sent::default();
    for (position, op) in ops.iter().enumerate() {
        let step = in_order(position.checked_sub(1).map(|before| &ops[before]), op)
            .and_then(|()| pairing.step(ops, position));
        step.map_err(|reason| HistoryError::new(first_line + position as u64, reason))?;
        sent.note(position, op);
    }
    if let Some((position, reason)) = sent.repeated() {
        return Err(HistoryError::new(first_line + position as u64, reason));
    }
    Ok(pairing.partner)
}

fn in_order(before: Option<&Op>, op: &Op) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    if op.index <= before.index {
        return Err(format!(
            "index {} does not follow index {}",
            op.index, before.index
        ));
    }
    if op.time < before.time {
        return Err(format!(
            "time {} lies before the {} of the line above",
            op.time, before.time
        ));
    }
    Ok(())
}

struct Pairing {
    ours: bool,
    /// Position of the open invoke, or `None` after an `info`.
    open: BTreeMap<u64, Open>,
    partner: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Invoked(u32),
    Idle,
    Crashed,
}

impl Pairing {
    fn step(&mut self, ops: &[Op], position: usize) -> Result<(), String> {
        let op = &ops[position];
        let Process::Client(process) = op.process else {
            return Ok(());
        };
        readable(op)?;
        let state = self.open.entry(process).or_insert(Open::Idle);
        if op.kind == OpType::Invoke {
            refuse_invoke(self.ours, process, *state)?;
            *state = Open::Invoked(position as u32);
            return Ok(());
        }
        let Open::Invoked(invoke) = *state else {
            return Err(format!(
                "process {process} completes an op that it has not begun"
            ));
        };
        let ours = self.ours;
        completes(ours, &ops[invoke as usize], op)?;
        *state = match op.kind {
            OpType::Info => Open::Crashed,
            _ => Open::Idle,
        };
        self.partner[invoke as usize] = position as u32;
        self.partner[position] = invoke;
        Ok(())
    }
}

/// What was sent or read must be known: a judgement that passes over an acknowledged value which it
/// cannot read would call its loss valid.
fn readable(op: &Op) -> Result<(), String> {
    let known = match (op.f.as_str(), &op.value) {
        ("send" | "barrier", Value::Send(_)) | ("poll", Value::Poll(_) | Value::None) => true,
        ("send" | "barrier", Value::None) => op.kind != OpType::Ok,
        ("txn", Value::Send(_) | Value::Poll(_) | Value::Txn(_)) => true,
        ("txn", Value::None) => op.kind != OpType::Ok,
        ("send" | "barrier" | "poll" | "txn", _) => false,
        _ => true,
    };
    if known {
        return Ok(());
    }
    Err(format!(
        "the value of this \"{}\" cannot be read: it must be a list of micro-ops whose offsets are 64-bit integers and whose values are such integers or words of at most seven bytes",
        op.f
    ))
}

fn refuse_invoke(ours: bool, process: u64, state: Open) -> Result<(), String> {
    match state {
        Open::Invoked(_) => Err(format!(
            "process {process} begins an op while another of its ops is open"
        )),
        Open::Crashed if ours => Err(format!(
            "process {process} goes on after an indeterminate op"
        )),
        _ => Ok(()),
    }
}

fn completes(ours: bool, invoke: &Op, completion: &Op) -> Result<(), String> {
    if invoke.f != completion.f {
        return Err(format!(
            "process {} completes \"{}\" but its open op is \"{}\"",
            completion.process, completion.f, invoke.f
        ));
    }
    let (asked, got) = (invoke.value.sends(), completion.value.sends());
    match ours && !got.is_empty() && !same_sends(asked, got) {
        true => Err("the completion's keys or values are not those of its invoke".to_owned()),
        false => Ok(()),
    }
}

fn same_sends(asked: &[SendMop], got: &[SendMop]) -> bool {
    asked.len() == got.len()
        && asked
            .iter()
            .zip(got)
            .all(|(asked, got)| asked.key == got.key && asked.value == got.value)
}

/// Values sent so far by partition; a barrier may be sent again and again.
#[derive(Default)]
struct Sent<'h> {
    values: BTreeMap<&'h str, Vec<(i64, usize)>>,
}

impl<'h> Sent<'h> {
    fn note(&mut self, position: usize, op: &'h Op) {
        if op.kind != OpType::Invoke || op.f == "barrier" {
            return;
        }
        for mop in op.value.sends() {
            let values = self.values.entry(&mop.key).or_default();
            values.push((mop.value, position));
        }
    }

    /// The first op that sends a value again. Sorted once at the end, since a
    /// set would cost more than all the rest of the validation.
    fn repeated(self) -> Option<(usize, String)> {
        let mut first: Option<(usize, String)> = None;
        for (key, mut values) in self.values {
            values.sort_unstable();
            for pair in values.windows(2) {
                let (value, position) = pair[1];
                let sooner = first.as_ref().is_none_or(|(found, _)| position < *found);
                if pair[0].0 == value && sooner {
                    let reason = format!(
                        "value {} is sent to {key} a second time; values are unique",
                        words::shown(value)
                    );
                    first = Some((position, reason));
                }
            }
        }
        first
    }
}
