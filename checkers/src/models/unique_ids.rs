//! Not judged yet.

use super::{Model, ModelVerdict};
use crate::history::{History, HistoryError};

pub(super) fn judge(_history: &History) -> Result<ModelVerdict, HistoryError> {
    let mut verdict = ModelVerdict::valid(Model::UniqueIds);
    verdict.doubt("not judged yet");
    Ok(verdict)
}
