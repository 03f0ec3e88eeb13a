//! Not judged yet.

use super::{Model, ModelOptions, ModelVerdict};
use crate::history::{History, HistoryError};

pub(super) fn judge(
    _history: &History,
    _options: &ModelOptions,
) -> Result<ModelVerdict, HistoryError> {
    let mut verdict = ModelVerdict::valid(Model::Counter);
    verdict.doubt("not judged yet");
    Ok(verdict)
}
