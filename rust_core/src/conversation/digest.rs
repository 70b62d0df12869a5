//! Digests of messages, and the chain of prefixes that they form.
//!
//! A digest covers the role and all content, length-prefixed, under a key that is derived from the
//! operator's secret, the tenant and the profile: no tenant can probe or poison another's entries,
//! and digests on disk can't be matched against guessed texts. 128 bits of keyed BLAKE3 are kept:
//! a collision by chance needs some 2^64 messages of one tenant.

use blake3::Hasher;
use serde_json::Value;

use super::{Format, Media, Message, Part, Preamble, Tool};

/// A keyed digest.
pub type Digest = [u8; 16];

/// Digests the messages of one tenant, profile and interface.
pub struct Digester {
    key: [u8; 32],
}

impl Digester {
    /// A digester whose digests are worth nothing to anyone without `secret`.
    #[must_use]
    pub fn new(secret: &[u8; 32], tenant: &str, profile: &str, format: Format) -> Self {
        let mut hasher = Hasher::new_keyed(secret);
        text(&mut hasher, tenant);
        text(&mut hasher, profile);
        number(&mut hasher, format as u64);
        Self { key: *hasher.finalize().as_bytes() }
    }

    /// The key of the empty prefix: `key(0)`.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.digest(b'r', |_| ())
    }

    /// `key(n) = H(key(n-1) ‖ digest(message n))`.
    #[must_use]
    pub fn extend(&self, prefix: &Digest, message: &Digest) -> Digest {
        self.digest(b'c', |hasher| {
            hasher.update(prefix).update(message);
        })
    }

    /// The digest of one message.
    #[must_use]
    pub fn message(&self, message: &Message) -> Digest {
        self.digest(b'm', |hasher| hash_message(hasher, message))
    }

    /// The digest of everything before the messages.
    #[must_use]
    pub fn preamble(&self, preamble: &Preamble) -> Digest {
        self.digest(b'p', |hasher| hash_preamble(hasher, preamble))
    }

    fn digest(&self, domain: u8, write: impl FnOnce(&mut Hasher)) -> Digest {
        let mut hasher = Hasher::new_keyed(&self.key);
        hasher.update(&[domain]);
        write(&mut hasher);
        truncate(&hasher)
    }
}

/// Names a tenant in the store's keys, so that a prefix key is worth nothing to another tenant.
#[must_use]
pub fn tenant_id(secret: &[u8; 32], tenant: &str) -> Digest {
    let mut hasher = Hasher::new_keyed(secret);
    hasher.update(b"tenant").update(tenant.as_bytes());
    truncate(&hasher)
}

fn truncate(hasher: &Hasher) -> Digest {
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
}

fn hash_preamble(hasher: &mut Hasher, preamble: &Preamble) {
    list(hasher, &preamble.system, hash_message);
    list(hasher, &preamble.tools, hash_tool);
    let choice = &preamble.tool_choice;
    hasher.update(&[
        u8::from(preamble.system_has_role),
        u8::from(preamble.thinking),
        u8::from(preamble.may_think),
        u8::from(preamble.model_begins),
        choice.mode as u8,
        u8::from(choice.no_parallel),
    ]);
    text(hasher, &choice.name);
    option(hasher, preamble.response_schema.as_ref(), |hasher, response| {
        text(hasher, &response.name);
        text(hasher, &response.description);
        value(hasher, &response.schema);
        hasher.update(&[u8::from(response.json_schema), u8::from(response.strict)]);
    });
    list(hasher, &preamble.other, |hasher, (name, other)| {
        text(hasher, name);
        value(hasher, other);
    });
}

fn hash_message(hasher: &mut Hasher, message: &Message) {
    hasher.update(&[message.role as u8, u8::from(message.keeps_thinking)]);
    text(hasher, &message.name);
    list(hasher, &message.parts, hash_part);
}

fn hash_part(hasher: &mut Hasher, part: &Part) {
    match part {
        Part::Text(content) => {
            hasher.update(b"t");
            text(hasher, content);
        }
        Part::Media(media) => {
            hasher.update(b"m");
            hash_media(hasher, media);
        }
        Part::ToolCall(call) => {
            hasher.update(&[b'c', u8::from(call.has_item_id)]);
            text(hasher, &call.id);
            text(hasher, &call.name);
            text(hasher, &call.arguments);
        }
        Part::ToolResult(result) => {
            hasher.update(&[b'r', u8::from(result.is_error)]);
            text(hasher, &result.call_id);
            text(hasher, &result.name);
            list(hasher, &result.parts, hash_part);
        }
        Part::Reasoning(reasoning) => {
            hasher.update(b"h");
            text(hasher, &reasoning.text);
            text(hasher, &reasoning.signature);
        }
        Part::Signature(signature) => {
            hasher.update(b"s");
            text(hasher, signature);
        }
        Part::Other(other) => {
            hasher.update(b"o");
            value(hasher, other);
        }
    }
}

fn hash_media(hasher: &mut Hasher, media: &Media) {
    hasher.update(&[media.kind as u8]);
    number(hasher, media.data.len() as u64);
    hasher.update(&media.data);
    for field in [&media.uri, &media.mime_type, &media.detail, &media.filename] {
        text(hasher, field);
    }
    for size in [media.width, media.height, media.pages] {
        number(hasher, u64::from(size));
    }
    number(hasher, media.duration.to_bits());
}

fn hash_tool(hasher: &mut Hasher, tool: &Tool) {
    match tool {
        Tool::Function(function) => {
            hasher.update(b"f");
            text(hasher, &function.name);
            text(hasher, &function.description);
            option(hasher, function.parameters.as_ref(), value);
            option(hasher, function.response.as_ref(), value);
            hasher.update(&[u8::from(function.json_schema), u8::from(function.strict)]);
        }
        Tool::Other(other) => {
            hasher.update(b"o");
            value(hasher, other);
        }
    }
}

/// Hashes JSON in the order sent, which is the order in which it is billed. The depth is bounded
/// by the parser's limit of 128.
fn value(hasher: &mut Hasher, json: &Value) {
    match json {
        Value::Null => drop(hasher.update(b"0")),
        Value::Bool(truth) => drop(hasher.update(if *truth { b"T" } else { b"F" })),
        Value::Number(digits) => {
            hasher.update(b"n");
            text(hasher, digits.as_str());
        }
        Value::String(content) => {
            hasher.update(b"s");
            text(hasher, content);
        }
        Value::Array(items) => {
            hasher.update(b"a");
            list(hasher, items, value);
        }
        Value::Object(fields) => {
            hasher.update(b"o");
            number(hasher, fields.len() as u64);
            for (key, field) in fields {
                text(hasher, key);
                value(hasher, field);
            }
        }
    }
}

fn text(hasher: &mut Hasher, text: &str) {
    number(hasher, text.len() as u64);
    hasher.update(text.as_bytes());
}

fn number(hasher: &mut Hasher, number: u64) {
    hasher.update(&number.to_le_bytes());
}

fn option<T>(hasher: &mut Hasher, item: Option<&T>, write: impl Fn(&mut Hasher, &T)) {
    hasher.update(&[u8::from(item.is_some())]);
    if let Some(item) = item {
        write(hasher, item);
    }
}

fn list<T>(hasher: &mut Hasher, items: &[T], write: impl Fn(&mut Hasher, &T)) {
    number(hasher, items.len() as u64);
    for item in items {
        write(hasher, item);
    }
}
