//! Bulk mode: one JSON object a line in, one a line out.

use serde_json::{Map, Value, json};

use crate::conversation::Format;
use crate::conversation::json::{Fields, parse};
use crate::conversation::provider::Body;
use crate::engine::Engine;
use crate::status::Status;
use crate::wire::{self, Source};

/// What a line means that doesn't say it itself. Empty: it must say so.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// The interface of bodies.
    pub format: String,
    /// The model of bodies and texts.
    pub model: String,
    /// The encoding of texts.
    pub encoding: String,
}

/// Answers one line: the output line without its end, and whether it is a count.
#[must_use]
pub fn line(engine: &Engine, input: &[u8], defaults: &Defaults) -> (Vec<u8>, bool) {
    let mut id = Value::Null;
    let answer = parse("line", input).and_then(Fields::of).and_then(|mut fields| {
        id = fields.take("id");
        answer(engine, fields, defaults)
    });
    let counted = answer.is_ok();
    let mut output = Map::from_iter([("id".to_owned(), id)]);
    match answer {
        Ok(fields) => output.extend(fields),
        Err(status) => {
            let error = json!({"reason": status.reason_name(), "message": status.to_string()});
            output.insert("error".into(), error);
        }
    }
    (Value::Object(output).to_string().into_bytes(), counted)
}

fn answer(
    engine: &Engine,
    mut fields: Fields,
    defaults: &Defaults,
) -> Result<Map<String, Value>, Status> {
    let text = fields.string("text")?;
    let body = fields.take("body");
    let mut named = |key: &str, default: &str| {
        Ok::<_, Status>(fields.string(key)?.unwrap_or_else(|| default.to_owned()))
    };
    let model = named("model", &defaults.model)?;
    match (text, body) {
        (Some(text), Value::Null) => {
            text_count(engine, &text, &named("encoding", &defaults.encoding)?, &model)
        }
        (None, body) if !body.is_null() => {
            body_count(engine, body, &named("format", &defaults.format)?, &model)
        }
        (None, _) => Err(Status::missing("text", "required: `text` or `body`")),
        (Some(_), _) => Err(Status::invalid("body", "give `text` or `body`, not both")),
    }
}

/// The count of a plain text: in an encoding, or in the vocabulary of a model.
fn text_count(
    engine: &Engine,
    text: &str,
    encoding: &str,
    model: &str,
) -> Result<Map<String, Value>, Status> {
    let unlimited = || Ok(());
    let mut count = wire::Count { source: Source::Estimated as i32, ..wire::Count::default() };
    if !encoding.is_empty() {
        let profiles = engine.profiles();
        let known = || format!("is not one of {}", profiles.vocabularies().join(", "));
        let counter =
            profiles.vocabulary(encoding).ok_or_else(|| Status::invalid("encoding", known()))?;
        count.tokens = counter.count(text, &unlimited)?;
        count.upper_bound = counter.bound(text, count.tokens, &unlimited)?;
        encoding.clone_into(&mut count.encoding);
    } else if model.is_empty() {
        return Err(Status::missing("encoding", "required beside `text`: `encoding` or `model`"));
    } else {
        let (profile, _) = engine.profiles().resolve(model);
        count.tokens = profile.vocabulary.count(text, &unlimited)?;
        count.upper_bound = profile.vocabulary.bound(text, count.tokens, &unlimited)?;
        profile.vocabulary.name().clone_into(&mut count.encoding);
        profile.name.clone_into(&mut count.profile);
    }
    Ok(output(&count))
}

/// The count of a provider's body.
fn body_count(
    engine: &Engine,
    body: Value,
    format: &str,
    model: &str,
) -> Result<Map<String, Value>, Status> {
    let format = match Format::from_bulk_name(format) {
        Some(format) => format,
        None if format.is_empty() => Format::detect(&body).ok_or_else(|| {
            Status::missing("format", "required: the body doesn't look like any provider's")
        })?,
        None => return Err(Status::invalid("format", Format::choices())),
    };
    let count = engine.count_body(format, Body::of(format, body)?, model)?;
    Ok(output(&count))
}

/// The fields of an output line, beside its id.
fn output(count: &wire::Count) -> Map<String, Value> {
    let source = Source::try_from(count.source).unwrap_or_default();
    let warnings = count.warnings.iter().map(
        |warning| json!({"code": warning.code, "message": warning.message, "field": warning.field}),
    );
    let fields = [
        ("tokens", json!(count.tokens)),
        ("upper_bound", json!(count.upper_bound)),
        ("source", json!(source.name())),
        ("encoding", json!(count.encoding)),
        ("profile", json!(count.profile)),
        ("warnings", warnings.collect()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
