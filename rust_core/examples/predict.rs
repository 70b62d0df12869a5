//! Counts recorded requests: reads rows of JSON (`id`, `kind`, `family`, `model`, `resp_model`,
//! `request`) from standard input, writes `{"id", "tokens", "upper_bound"}` lines.

use std::io::{BufRead, Write};

use base64::Engine;
use serde_json::{Value, json};
use tokencount_core::conversation::{Format, provider};
use tokencount_core::profile::Profiles;
use tokencount_core::rules::Context;
use tokencount_core::status::Status;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profiles = Profiles::load(None)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: Value = serde_json::from_str(&line?)?;
        let answer = match count(&profiles, &row) {
            Ok((tokens, bound)) => json!({"id": row["id"], "tokens": tokens, "upper_bound": bound}),
            Err(error) => {
                json!({"id": row["id"], "error": error.to_string(), "tokens": 0, "upper_bound": 0})
            }
        };
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

fn count(profiles: &Profiles, row: &Value) -> Result<(u32, u32), Status> {
    let format = match (row["kind"].as_str(), row["family"].as_str()) {
        (_, Some("gemini_vertex")) => Format::GeminiVertex,
        (Some("gemini"), _) => Format::Gemini,
        (Some("anthropic"), _) => Format::Anthropic,
        (Some("converse"), _) => Format::BedrockConverse,
        (Some("oai_resp"), _) => Format::OpenaiResponses,
        _ => Format::OpenaiChat,
    };
    let mut body = row["request"].clone();
    restore_images(&mut body, "");
    let mut conversation = provider::request(format, body.to_string().as_bytes())?;
    conversation.lead();
    if let (true, Some(model)) = (conversation.model.is_empty(), row["model"].as_str()) {
        model.clone_into(&mut conversation.model);
    }
    let (profile, _) = profiles.resolve(&conversation.model);
    let context = Context { profile, format, checkpoint: &|| Ok(()) };
    let mut tally = profile.rules.preamble(&conversation.preamble, &context)?;
    for message in &conversation.messages {
        tally += profile.rules.message(message, &context)?;
    }
    Ok((tally.tokens(), tally.upper_bound()))
}

/// Puts a picture of the same size where a recording has `{"mime", "width", "height"}` for one:
/// the header of a PNG, as a `data:` URL where a URL belongs, else as base64.
fn restore_images(value: &mut Value, key: &str) {
    if let (Some(width), Some(height), Some(_)) =
        (value["width"].as_u64(), value["height"].as_u64(), value["mime"].as_str())
    {
        let base64 = base64::engine::general_purpose::STANDARD.encode(png_header(width, height));
        let url = matches!(key, "url" | "image_url");
        *value = json!(if url { format!("data:image/png;base64,{base64}") } else { base64 });
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                restore_images(value, key);
            }
        }
        Value::Array(items) => {
            for item in items {
                restore_images(item, key);
            }
        }
        _ => {}
    }
}

fn png_header(width: u64, height: u64) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    for side in [width, height] {
        png.extend((side as u32).to_be_bytes());
    }
    png
}
