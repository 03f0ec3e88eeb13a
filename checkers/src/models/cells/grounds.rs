//! Why what an op needs had gone: the ops that a person asks for when a witness is one op alone.
//!
//! A witness leaves out every write that the accused op cannot have seen. That is sound, but what
//! shows that it cannot have seen them is left out as well: the last write of the value, and a
//! certain write that came between that and the accused op.

use crate::search::register::{NEVER, NONE, RegisterOp};

/// What overwrote the value that an op needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grounds {
    /// The last of its writes to end; none where only the first value was it.
    pub last_write: Option<u32>,
    /// Began after that had ended, and ended before the accused op began.
    pub overwrite: u32,
}

/// The grounds against `accused`, where one overwrite is enough of them.
pub(super) fn against(ops: &[RegisterOp], initial: u32, accused: u32) -> Option<Grounds> {
    let op = ops[accused as usize];
    if op.from == NONE {
        return None;
    }
    let writes =
        |other: &&RegisterOp| !other.is_read() && other.to == op.from && other.inv < op.ret;
    let of_value: Vec<&RegisterOp> = ops
        .iter()
        .enumerate()
        .filter(|(which, _)| *which != accused as usize)
        .map(|(_, other)| other)
        .filter(writes)
        .collect();
    // One that was still open may have been what it saw.
    if of_value
        .iter()
        .any(|write| write.ret == NEVER || write.ret >= op.inv)
    {
        return None;
    }
    let last = of_value.iter().max_by_key(|write| write.ret);
    let since = match last {
        Some(write) => write.ret,
        None if op.from == initial => 0,
        None => return None,
    };
    let overwrites = |other: &&(usize, &RegisterOp)| {
        let (_, other) = other;
        let after = last.is_none() || other.inv > since;
        !other.is_read() && other.to != op.from && other.ret < op.inv && after
    };
    let overwrite = ops.iter().enumerate().rfind(|one| overwrites(&one))?;
    let position = |wanted: &RegisterOp| {
        let same = ops.iter().position(|one| std::ptr::eq(one, wanted));
        same.map(|at| at as u32)
    };
    Some(Grounds {
        last_write: last.and_then(|write| position(write)),
        overwrite: overwrite.0 as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(inv: u32, ret: u32, from: u32, to: u32) -> RegisterOp {
        RegisterOp { inv, ret, from, to }
    }

    #[test]
    fn the_last_write_and_what_overwrote_it_are_the_grounds() {
        let ops = [
            op(0, 1, NONE, 2),
            op(2, 3, NONE, 7),
            op(4, 5, NONE, 2),
            op(6, 7, NONE, 9),
            op(8, 9, 2, NONE),
        ];
        let grounds = against(&ops, 0, 4);
        let expected = Grounds {
            last_write: Some(2),
            overwrite: 3,
        };
        assert_eq!(grounds, Some(expected));
    }

    #[test]
    fn a_write_that_was_still_open_leaves_no_grounds() {
        let ops = [op(0, 6, NONE, 2), op(2, 3, NONE, 7), op(4, 5, 2, NONE)];
        assert_eq!(against(&ops, 0, 2), None);
        let info = [op(0, NEVER, NONE, 2), op(2, 3, NONE, 7), op(4, 5, 2, NONE)];
        assert_eq!(against(&info, 0, 2), None);
    }

    #[test]
    fn the_first_value_is_overwritten_too() {
        let ops = [op(0, 1, NONE, 2), op(2, 3, 0, NONE)];
        let expected = Grounds {
            last_write: None,
            overwrite: 0,
        };
        assert_eq!(against(&ops, 0, 1), Some(expected));
    }
}
