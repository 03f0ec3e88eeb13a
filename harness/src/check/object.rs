//! Histories of registers, queues, sets and other objects than the log.

use plimsoll_checkers::history::History;
use plimsoll_checkers::models::{Model, ModelOptions, judge_model};
use serde_json::Value as Json;

use super::{CheckArgs, CheckError, Checked, meta_of, write_page};
use crate::cli::Format;
use crate::report;

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
    let page = args.html.as_ref().map(|path| {
        let meta = meta_of(args, history);
        write_page(path, &report::object_page(history, &verdict, &meta))
    });
    let output = match args.format {
        Format::Human => report::object(history, &verdict, colour),
        Format::Json => report::object_json(&verdict) + "\n",
    };
    Ok(Checked {
        validity: verdict.valid,
        output,
        unwritten: page.and_then(Result::err),
    })
}

/// Options that mean nothing for an object, or for one without a first value.
fn refuse(args: &CheckArgs, model: Model) -> Result<(), CheckError> {
    let for_logs = [
        ("--promise", args.promise.is_some()),
        ("--strict", args.strict),
        ("--stream", args.stream),
    ];
    if let Some((option, _)) = for_logs.iter().find(|(_, given)| *given) {
        return Err(CheckError::Option(format!(
            "{option} is for histories of a log, and this one is judged as {}; leave it out",
            model.name()
        )));
    }
    let begins_with_a_value = matches!(
        model,
        Model::Register
            | Model::CasRegister
            | Model::VersionedRegister
            | Model::Counter
            | Model::Kv
    );
    if args.initial.is_some() && !begins_with_a_value {
        return Err(CheckError::Option(format!(
            "--initial is for registers, counters and keys, and this one is judged as {}; leave it out",
            model.name()
        )));
    }
    Ok(())
}

/// Reads `--initial`: JSON, `nil`, or a word that stands for itself.
pub(super) fn parse_initial(text: &str) -> Result<Json, String> {
    match text {
        "nil" => Ok(Json::Null),
        text => match serde_json::from_str(text) {
            Ok(json) => Ok(json),
            // A word stands for itself; what begins as JSON was meant as JSON.
            Err(error) if text.starts_with(['{', '[', '"']) => Err(format!("not JSON: {error}")),
            Err(_) => Ok(Json::from(text)),
        },
    }
}
