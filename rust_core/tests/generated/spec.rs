//! A prompt apart from any provider's form, and how to make one up.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub struct Spec {
    pub model: String,
    pub system: Vec<String>,
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub choice: Choice,
    pub schema: Option<Value>,
    pub thinking: bool,
}

#[derive(Clone, Debug)]
pub enum Message {
    User(Vec<Content>),
    Model { thinking: Option<Thinking>, texts: Vec<String>, calls: Vec<ToolCall> },
    Results(Vec<ToolResult>),
}

#[derive(Clone, Debug)]
pub enum Content {
    Text(String),
    Image(Image),
}

#[derive(Clone, Debug)]
pub struct Image {
    pub width: u32,
    pub height: u32,
}

#[derive(Clone, Debug)]
pub struct Thinking {
    pub text: String,
    pub signature: String,
}

#[derive(Clone, Debug)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: Value,
}

#[derive(Clone, Debug)]
pub struct ToolResult {
    pub id: String,
    pub name: String,
    pub text: String,
}

#[derive(Clone, Debug)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub parameters: Option<Value>,
    pub strict: bool,
}

#[derive(Clone, Debug)]
pub enum Choice {
    Unspecified,
    Auto,
    Required,
    Named(String),
}

/// What makes a prompt longer.
#[derive(Clone, Debug)]
pub enum Addition {
    Message(Message),
    Tool(Tool),
    Text(Index, String),
    Call(Index, ToolCall),
    System(String),
}

impl Spec {
    /// The prompt with something more at the end of what it belongs to.
    pub fn with(&self, addition: &Addition) -> Self {
        let mut longer = self.clone();
        match addition.clone() {
            Addition::Message(message) => longer.messages.push(message),
            Addition::Tool(tool) => longer.tools.push(tool),
            Addition::System(text) => longer.system.push(text),
            Addition::Text(at, text) => match longer.at(at) {
                Message::User(content) => content.push(Content::Text(text)),
                Message::Model { texts, .. } => texts.push(text),
                Message::Results(results) => {
                    results.push(ToolResult { id: "more".into(), name: "more".into(), text });
                }
            },
            Addition::Call(at, call) => match longer.at(at) {
                Message::Model { calls, .. } => calls.push(call),
                _ => longer.messages.push(Message::Model {
                    thinking: None,
                    texts: Vec::new(),
                    calls: vec![call],
                }),
            },
        }
        longer
    }

    fn at(&mut self, index: Index) -> &mut Message {
        let at = index.index(self.messages.len());
        &mut self.messages[at]
    }
}

pub fn specs(models: &'static [&'static str]) -> impl Strategy<Value = Spec> {
    let before =
        (vec(text(), 0..2), vec(tool(), 0..4), choice(), option::of(schema()), any::<bool>());
    (select(models), before, vec(message(), 1..6)).prop_map(|(model, before, messages)| {
        let (system, tools, choice, schema, thinking) = before;
        let model = model.to_owned();
        Spec { model, system, messages, tools, choice, schema, thinking }
    })
}

pub fn additions() -> impl Strategy<Value = Addition> {
    prop_oneof![
        3 => message().prop_map(Addition::Message),
        2 => tool().prop_map(Addition::Tool),
        2 => (any::<Index>(), text()).prop_map(|(at, text)| Addition::Text(at, text)),
        2 => (any::<Index>(), call()).prop_map(|(at, call)| Addition::Call(at, call)),
        1 => text().prop_map(Addition::System),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        vec(content(), 1..3).prop_map(Message::User),
        (option::of(thinking()), vec(text(), 0..3), vec(call(), 0..3))
            .prop_map(|(thinking, texts, calls)| Message::Model { thinking, texts, calls }),
        vec(result(), 1..3).prop_map(Message::Results),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        4 => text().prop_map(Content::Text),
        1 => (1..5000_u32, 1..5000_u32)
            .prop_map(|(width, height)| Content::Image(Image { width, height })),
    ]
}

/// Texts are not empty: some interfaces leave empty ones out, others bill their frame.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z][a-z]{0,8}( [a-z]{1,9}| [A-Z]{1,5}| [0-9]{1,6}|[.,:;!?\n]){0,12}",
        2 => "\\PC{1,40}",
        1 => "[ \n\t#*_=(){}\"\\\\<>-]{1,24}",
        1 => "[а-я一-龥ا-يกー-ヿ😀-🙏 ]{1,20}",
        1 => value().prop_map(|value| value.to_string()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,8}(_[a-zA-Z0-9]{1,8}){0,2}"
}

fn thinking() -> impl Strategy<Value = Thinking> {
    (text(), "[A-Za-z0-9+/]{4,400}={0,2}")
        .prop_map(|(text, signature)| Thinking { text, signature })
}

fn call() -> impl Strategy<Value = ToolCall> {
    (name(), name(), object()).prop_map(|(id, name, arguments)| ToolCall { id, name, arguments })
}

fn result() -> impl Strategy<Value = ToolResult> {
    (name(), name(), text()).prop_map(|(id, name, text)| ToolResult { id, name, text })
}

fn tool() -> impl Strategy<Value = Tool> {
    let described = prop_oneof![Just(String::new()), text()];
    (name(), described, option::of(schema()), any::<bool>()).prop_map(
        |(name, description, parameters, strict)| Tool { name, description, parameters, strict },
    )
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Unspecified),
        Just(Choice::Auto),
        Just(Choice::Required),
        name().prop_map(Choice::Named),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z ]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((name(), inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    vec((name(), value()), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// A schema with nested objects, lists, enums, alternatives, references and defaults.
fn schema() -> impl Strategy<Value = Value> {
    vec((name(), property()), 0..4).prop_map(|properties| {
        let required: Vec<_> = properties.iter().step_by(2).map(|(name, _)| name.clone()).collect();
        let properties: Map<String, Value> = properties.into_iter().collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        })
    })
}

fn property() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(&["string", "integer", "number", "boolean"][..])
            .prop_map(|kind| json!({"type": kind})),
        vec(name(), 1..4).prop_map(|names| json!({"type": "string", "enum": names})),
        Just(json!({"$ref": "#/$defs/node"})),
        Just(json!({"type": ["string", "null"], "default": null})),
        (any::<i8>(), text()).prop_map(|(least, text)| {
            json!({"type": "integer", "minimum": least, "description": text, "title": "T"})
        }),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            vec(inner.clone(), 1..3).prop_map(|kinds| json!({"anyOf": kinds})),
            vec((name(), inner), 1..3).prop_map(|fields| {
                json!({"type": "object", "properties": Map::from_iter(fields)})
            }),
        ]
    })
}
