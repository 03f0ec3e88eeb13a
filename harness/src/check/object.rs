//! Histories of registers, queues, sets and other objects than the log.

use plimsoll_checkers::history::History;
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use serde_json::Value as Json;

use super::{CheckArgs, CheckError, Checked, write_page};
use crate::cli::Format;
use crate::report::{self, RunMeta};

/// As what the history is judged: as told, or as its header says, or as a log.
pub(super) fn model_of(args: &CheckArgs, history: &History) -> Result<Model, CheckError> {
    if let Some(model) = args.model {
        return Ok(model);
    }
    let named = history
        .header()
        .and_then(|header| header.extra.get("model"));
    match named {
        None | Some(Json::Null) => Ok(Model::Log),
        Some(Json::String(name)) => name.parse().map_err(CheckError::Model),
        Some(other) => Err(CheckError::Model(format!(
            "the header's model is {other}, which is no name; give --model"
        ))),
    }
}

/// Judges an object.
pub(super) fn run(
    args: &CheckArgs,
    history: &History,
    model: Model,
    colour: bool,
) -> Result<Checked, CheckError> {
    refuse(args, model)?;
    let options = ModelOptions {
        initial: args.initial.clone(),
        ..ModelOptions::default()
    };
    let verdict = judge_model(history, model, &options);
    let verdict = verdict.map_err(|source| CheckError::Malformed {
        path: args.file.clone(),
        source,
    })?;
    if let Some(path) = &args.html {
        let file = args.file.display().to_string();
        let page = report::object_page(history, &verdict, &RunMeta::of_history(history, &file));
        write_page(path, &page)?;
    }
    let output = match args.format {
        Format::Human => report::object(history, &verdict, colour),
        Format::Json => report::object_json(&verdict) + "\n",
    };
    Ok(Checked {
        validity: verdict.valid,
        output,
    })
}

/// A promise means nothing for an object.
fn refuse(args: &CheckArgs, model: Model) -> Result<(), CheckError> {
    match args.promise {
        Some(_) => Err(CheckError::Option(format!(
            "--promise is for histories of a log, and this one is judged as {}; leave it out",
            model.name()
        ))),
        None => Ok(()),
    }
}

/// Reads `--initial`: JSON, `nil`, or a word that stands for itself.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the shape that the command line's parser asks for"
)]
pub(super) fn parse_initial(text: &str) -> Result<Json, String> {
    match text {
        "nil" => Ok(Json::Null),
        text => Ok(serde_json::from_str(text).unwrap_or_else(|_| Json::from(text))),
    }
}
