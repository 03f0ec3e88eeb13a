//! A history as it stood at one moment.

use super::problem::{NEVER, RegisterOp};

/// The ops begun up to `moment`, inclusive, and their indices in `ops`. What had not ended then is
/// indeterminate; what would only have been seen by then was not seen.
pub(super) fn prefix(ops: &[RegisterOp], moment: u32) -> (Vec<RegisterOp>, Vec<u32>) {
    let begun = (0..).zip(ops).filter(|(_, op)| op.inv <= moment);
    let cut = begun.map(|(at, op)| {
        let ret = if op.ret <= moment { op.ret } else { NEVER };
        (RegisterOp { ret, ..*op }, at)
    });
    cut.filter(|(op, _)| !op.is_info() || !op.is_read()).unzip()
}
