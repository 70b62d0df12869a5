//! What the interfaces with content blocks, Anthropic Messages and Bedrock Converse, write alike.

use base64::Engine;
use serde_json::Value;

use super::json::Fields;
use super::unknown::Unknown;
use super::{Part, Preamble, ResponseSchema, Role};
use crate::status::Status;

const OUTPUT_CONFIG_UNBILLED: &[&str] = &["effort", "task_budget"];

const THINKING_UNBILLED: &[&str] = &["budget_tokens", "display"];

/// Takes the role, which must be there.
pub fn role(fields: &mut Fields) -> Result<Role, Status> {
    match fields.required_string("role")?.as_str() {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Ok(Role::System),
        _ => Err(Status::invalid("role", "must be user, assistant or system")),
    }
}

/// The bytes of the base64 text in `field`.
pub fn base64_bytes(field: &str, text: &str) -> Result<bytes::Bytes, Status> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text);
    bytes.map(Into::into).map_err(|error| Status::invalid(field, format!("not base64: {error}")))
}

/// Arguments as JSON text; absent, an empty object.
pub fn arguments(input: &Value) -> String {
    if input.is_null() { "{}".into() } else { input.to_string() }
}

/// Fields that were not understood, as parts of the message that holds them.
pub fn others(rest: Vec<(String, Value)>) -> impl Iterator<Item = Part> {
    rest.into_iter().map(|(name, value)| Part::Other(serde_json::json!({ name: value })))
}

/// Reads whether extended thinking is on, from the `thinking` object of the body.
pub fn read_thinking(
    mut fields: Fields,
    preamble: &mut Preamble,
    unknown: &mut Unknown,
) -> Result<(), Status> {
    let kind = fields.required_string("type")?;
    unknown.rest(fields, THINKING_UNBILLED);
    // Converse takes it by several names: any of them switches it on.
    preamble.thinking |= kind == "enabled";
    preamble.may_think |= !matches!(kind.as_str(), "enabled" | "disabled");
    Ok(())
}

/// The schema in an `output_config`, if it has one.
pub fn output_config(
    mut config: Fields,
    unknown: &mut Unknown,
) -> Result<Option<ResponseSchema>, Status> {
    let format = config.object("format")?;
    unknown.rest(config, OUTPUT_CONFIG_UNBILLED);
    format
        .map(|format| unknown.inside("format", |unknown| output_format(format, unknown)))
        .transpose()
}

/// A schema with its name.
pub fn output_format(mut format: Fields, unknown: &mut Unknown) -> Result<ResponseSchema, Status> {
    let schema = format.take("schema");
    let name = format.string("name")?.unwrap_or_default();
    unknown.rest(format, &["type"]);
    Ok(ResponseSchema { name, schema, ..ResponseSchema::default() })
}
