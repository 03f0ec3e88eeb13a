//! Small predicates on the ops themselves, by which witnesses are verified.
//!
//! They share nothing with the tables in which witnesses are found.

use crate::history::{Op, OpType, Value};

/// `op` is a completed send of `value` to `key` that was acknowledged.
pub(super) fn acknowledges(op: &Op, key: &str, value: i64) -> bool {
    op.kind == OpType::Ok && op.acks != Some(0) && names(op, key, value)
}

/// `op` is a send (at either end) of `value` to `key`.
pub(super) fn names(op: &Op, key: &str, value: i64) -> bool {
    match &op.value {
        Value::Send(mops) => mops.iter().any(|mop| mop.key == key && mop.value == value),
        _ => false,
    }
}

/// `op` acknowledges that `offset` of `key` holds `value`.
pub(super) fn claims(op: &Op, key: &str, offset: i64, value: i64) -> bool {
    match &op.value {
        Value::Send(mops) => mops
            .iter()
            .any(|mop| mop.key == key && mop.value == value && mop.offset == Some(offset)),
        _ => false,
    }
}

/// `op` shows `value` at `offset` of `key`.
pub(super) fn shows(op: &Op, key: &str, offset: i64, value: i64) -> bool {
    records(op, key).any(|record| record == (offset, value))
}

/// `op` shows `value` anywhere in `key`.
pub(super) fn holds(op: &Op, key: &str, value: i64) -> bool {
    records(op, key).any(|record| record.1 == value)
}

/// `op` read past `offset` of `key`, from at or before it (where it says from
/// where), and shows no record there.
pub(super) fn passes_over(op: &Op, key: &str, offset: i64) -> bool {
    let from = match op.reads.get(key) {
        Some(info) => Some(info.from),
        None => records(op, key).map(|record| record.0).min(),
    };
    from.is_some_and(|from| from <= offset)
        && records(op, key).any(|record| record.0 > offset)
        && !records(op, key).any(|record| record.0 == offset)
}

/// The records of `key` that `op` shows.
pub(super) fn records<'a>(op: &'a Op, key: &str) -> impl Iterator<Item = (i64, i64)> + 'a {
    let list = match &op.value {
        Value::Poll(Some(records)) => records.get(key).map_or(&[][..], Vec::as_slice),
        _ => &[],
    };
    list.iter().copied()
}
