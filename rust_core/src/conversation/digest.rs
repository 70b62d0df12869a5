//! Digests of messages, and the chain of prefixes that they form.
//!
//! A digest covers the role and all content, length-prefixed, under a key of the operator's secret,
//! the tenant and the profile: no tenant can probe or poison another's entries, and digests on disk
//! can't be matched against guessed texts. Of keyed BLAKE3 128 bits are kept: a collision by chance
//! needs some 2^64 messages of one tenant.

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
        let mut sink = Sink::new(secret);
        text(&mut sink, tenant);
        text(&mut sink, profile);
        number(&mut sink, format as u64);
        Self { key: *sink.finish().as_bytes() }
    }

    /// The key of the empty prefix: `key(0)`.
    #[must_use]
    pub fn root(&self) -> Digest {
        truncate(&blake3::keyed_hash(&self.key, b"r"))
    }

    /// `key(n) = H(key(n-1) ‖ digest(message n))`.
    #[must_use]
    pub fn extend(&self, prefix: &Digest, message: &Digest) -> Digest {
        let mut link = [b'c'; 1 + 2 * size_of::<Digest>()];
        let (keys, digests) = link[1..].split_at_mut(size_of::<Digest>());
        keys.copy_from_slice(prefix);
        digests.copy_from_slice(message);
        truncate(&blake3::keyed_hash(&self.key, &link))
    }

    /// A key of 256 bits for another use than digests, told apart by `domain`.
    #[must_use]
    pub fn derived(&self, domain: u8) -> [u64; 4] {
        let hash = blake3::keyed_hash(&self.key, &[b'k', domain]);
        let (words, _) = hash.as_bytes().as_chunks();
        std::array::from_fn(|at| words.get(at).copied().map_or(0, u64::from_le_bytes))
    }

    /// The digest of one message.
    #[must_use]
    pub fn message(&self, message: &Message) -> Digest {
        self.digest(b'm', |sink| hash_message(sink, message))
    }

    /// The digest of everything before the messages.
    #[must_use]
    pub fn preamble(&self, preamble: &Preamble) -> Digest {
        self.digest(b'p', |sink| hash_preamble(sink, preamble))
    }

    fn digest(&self, domain: u8, write: impl FnOnce(&mut Sink<'_>)) -> Digest {
        let mut sink = Sink::new(&self.key);
        sink.update(&[domain]);
        write(&mut sink);
        truncate(&sink.finish())
    }
}

/// Names a tenant in the store's keys, so that a prefix key is worth nothing to another tenant.
#[must_use]
pub fn tenant_id(secret: &[u8; 32], tenant: &str) -> Digest {
    let mut sink = Sink::new(secret);
    sink.update(b"tenant").update(tenant.as_bytes());
    truncate(&sink.finish())
}

fn truncate(hash: &blake3::Hash) -> Digest {
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Collects what is hashed. Most messages fit one chunk of BLAKE3, which is hashed in one go from
/// the stack; feeding the hasher the same bytes bit by bit takes twice as long.
struct Sink<'a> {
    key: &'a [u8; 32],
    chunk: [u8; blake3::CHUNK_LEN],
    filled: usize,
    /// What came before the chunk, once there was more than one.
    hasher: Option<Hasher>,
}

impl<'a> Sink<'a> {
    const fn new(key: &'a [u8; 32]) -> Self {
        Self { key, chunk: [0; blake3::CHUNK_LEN], filled: 0, hasher: None }
    }

    fn update(&mut self, bytes: &[u8]) -> &mut Self {
        let end = self.filled + bytes.len();
        if let Some(free) = self.chunk.get_mut(self.filled..end) {
            free.copy_from_slice(bytes);
            self.filled = end;
        } else {
            self.spill().update(bytes);
        }
        self
    }

    /// The hasher, fed with all that was collected.
    fn spill(&mut self) -> &mut Hasher {
        let hasher = self.hasher.get_or_insert_with(|| Hasher::new_keyed(self.key));
        hasher.update(&self.chunk[..self.filled]);
        self.filled = 0;
        hasher
    }

    fn finish(&mut self) -> blake3::Hash {
        match self.hasher {
            Some(_) => self.spill().finalize(),
            None => blake3::keyed_hash(self.key, &self.chunk[..self.filled]),
        }
    }
}

fn hash_preamble(sink: &mut Sink<'_>, preamble: &Preamble) {
    list(sink, &preamble.system, hash_message);
    list(sink, &preamble.tools, hash_tool);
    let choice = &preamble.tool_choice;
    sink.update(&[
        u8::from(preamble.system_has_role),
        u8::from(preamble.thinking),
        u8::from(preamble.may_think),
        u8::from(preamble.model_begins),
        choice.mode as u8,
        u8::from(choice.no_parallel),
    ]);
    text(sink, &choice.name);
    option(sink, preamble.response_schema.as_ref(), |sink, response| {
        text(sink, &response.name);
        text(sink, &response.description);
        value(sink, &response.schema);
        sink.update(&[u8::from(response.json_schema), u8::from(response.strict)]);
    });
    list(sink, &preamble.other, |sink, (name, other)| {
        text(sink, name);
        value(sink, other);
    });
}

fn hash_message(sink: &mut Sink<'_>, message: &Message) {
    sink.update(&[message.role as u8, u8::from(message.keeps_thinking)]);
    text(sink, &message.name);
    list(sink, &message.parts, hash_part);
}

fn hash_part(sink: &mut Sink<'_>, part: &Part) {
    match part {
        Part::Text(content) => {
            sink.update(b"t");
            text(sink, content);
        }
        Part::Media(media) => {
            sink.update(b"m");
            hash_media(sink, media);
        }
        Part::ToolCall(call) => {
            sink.update(&[b'c', u8::from(call.has_item_id)]);
            text(sink, &call.id);
            text(sink, &call.name);
            text(sink, &call.arguments);
        }
        Part::ToolResult(result) => {
            sink.update(&[b'r', u8::from(result.is_error)]);
            text(sink, &result.call_id);
            text(sink, &result.name);
            list(sink, &result.parts, hash_part);
        }
        Part::Reasoning(reasoning) => {
            sink.update(b"h");
            text(sink, &reasoning.text);
            text(sink, &reasoning.signature);
        }
        Part::Signature(signature) => {
            sink.update(b"s");
            text(sink, signature);
        }
        Part::Other(other) => {
            sink.update(b"o");
            value(sink, other);
        }
    }
}

fn hash_media(sink: &mut Sink<'_>, media: &Media) {
    sink.update(&[media.kind as u8]);
    number(sink, media.data.len() as u64);
    sink.update(&media.data);
    for field in [&media.uri, &media.mime_type, &media.detail, &media.filename] {
        text(sink, field);
    }
    for size in [media.width, media.height, media.pages] {
        number(sink, u64::from(size));
    }
    number(sink, media.duration.to_bits());
}

fn hash_tool(sink: &mut Sink<'_>, tool: &Tool) {
    match tool {
        Tool::Function(function) => {
            sink.update(b"f");
            text(sink, &function.name);
            text(sink, &function.description);
            option(sink, function.parameters.as_ref(), value);
            option(sink, function.response.as_ref(), value);
            sink.update(&[u8::from(function.json_schema), u8::from(function.strict)]);
        }
        Tool::Other(other) => {
            sink.update(b"o");
            value(sink, other);
        }
    }
}

/// Hashes JSON in the order sent, which is the order in which it is billed. The depth is bounded
/// by the parser's limit of 128.
fn value(sink: &mut Sink<'_>, json: &Value) {
    match json {
        Value::Null => drop(sink.update(b"0")),
        Value::Bool(truth) => drop(sink.update(if *truth { b"T" } else { b"F" })),
        Value::Number(digits) => {
            sink.update(b"n");
            text(sink, digits.as_str());
        }
        Value::String(content) => {
            sink.update(b"s");
            text(sink, content);
        }
        Value::Array(items) => {
            sink.update(b"a");
            list(sink, items, value);
        }
        Value::Object(fields) => {
            sink.update(b"o");
            number(sink, fields.len() as u64);
            for (key, field) in fields {
                text(sink, key);
                value(sink, field);
            }
        }
    }
}

fn text(sink: &mut Sink<'_>, text: &str) {
    number(sink, text.len() as u64);
    sink.update(text.as_bytes());
}

fn number(sink: &mut Sink<'_>, number: u64) {
    sink.update(&number.to_le_bytes());
}

fn option<T>(sink: &mut Sink<'_>, item: Option<&T>, write: impl Fn(&mut Sink<'_>, &T)) {
    sink.update(&[u8::from(item.is_some())]);
    if let Some(item) = item {
        write(sink, item);
    }
}

fn list<T>(sink: &mut Sink<'_>, items: &[T], write: impl Fn(&mut Sink<'_>, &T)) {
    number(sink, items.len() as u64);
    for item in items {
        write(sink, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sink_hashes_what_it_is_given() {
        let key = [7; 32];
        let text: Vec<u8> = (0..5000_u32).map(|number| number as u8).collect();
        for size in [0, 1, 1023, 1024, 1025, 2048, 2049, 5000] {
            for step in [1, 7, 1024, 5000] {
                let mut sink = Sink::new(&key);
                for piece in text[..size].chunks(step) {
                    sink.update(piece);
                }
                assert_eq!(sink.finish(), blake3::keyed_hash(&key, &text[..size]), "{size} {step}");
            }
        }
    }
}
