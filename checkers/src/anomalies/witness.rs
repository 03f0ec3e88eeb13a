//! Small predicates on the ops themselves, by which witnesses are verified.
//!
//! They share nothing with the tables in which witnesses are found.

use crate::history::{Op, OpType};

/// `op` is a completed send of `value` to `key` that was acknowledged.
pub(super) fn acknowledges(op: &Op, key: &str, value: i64) -> bool {
    op.kind == OpType::Ok && op.acks != Some(0) && names(op, key, value)
}

/// `op` is a send (at either end) of `value` to `key`.
pub(super) fn names(op: &Op, key: &str, value: i64) -> bool {
    let mut sends = op.value.sends().iter();
    sends.any(|mop| mop.key == key && mop.value == value)
}

/// `op` acknowledges that `offset` of `key` holds `value`.
pub(super) fn claims(op: &Op, key: &str, offset: i64, value: i64) -> bool {
    let mut sends = op.value.sends().iter();
    sends.any(|mop| mop.key == key && mop.value == value && mop.offset == Some(offset))
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
    let list = op.value.polled().and_then(|records| records.get(key));
    list.map_or(&[][..], Vec::as_slice).iter().copied()
}
