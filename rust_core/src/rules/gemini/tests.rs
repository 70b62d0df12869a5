//! Renderings as text, and what never changes whatever the prompt.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::conversation::provider;
use crate::profile::Profiles;

fn function(parameters: Value) -> Function {
    Function {
        name: "book_room".into(),
        description: "Books a room.\nReturns its number.".into(),
        parameters: Some(parameters),
        ..Function::default()
    }
}

/// Control tokens show as `|`; the first stands at the beginning.
fn shown(rendering: &Rendering) -> String {
    format!("|{}", rendering.texts.join("|"))
}

#[test]
fn tools_of_2_5_are_python() {
    let parameters = json!({
        "type": "object",
        "required": ["nights", "guest"],
        "properties": {
            "nights": {"type": "integer", "description": "How many"},
            "view": {"type": "string", "enum": ["sea", "park"]},
            "floor": {"type": "INTEGER", "default": 2},
            "guest": {"$ref": "#/$defs/Guest"},
            "extras": {"type": "array", "items": {"type": "string"}},
            "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        },
        "$defs": {"Guest": {"type": "object", "description": "Who comes",
            "required": ["name"], "properties": {"name": {"type": "string"}}}},
    });
    let wanted = r#"@dataclasses.dataclass(kw_only=True)
class BookRoomGuest:
  """Who comes

  Attributes:
    name: 
  """
  name: str
def book_room(
    nights: int,
    view: Literal["sea", "park"] | None = None,
    floor: int = 2,
    guest: BookRoomGuest,
    extras: list[str] | None = None,
    note: str | None = None,
) -> dict:
  """Books a room.
  Returns its number.

  Args:
    nights: How many
    view: 
    floor: 
    guest: Who comes
    extras: 
    note: 
  """
"#;
    assert_eq!(python::declaration(&function(parameters)), wanted);
    let bare = Function { name: "f".into(), ..Function::default() };
    assert_eq!(python::declaration(&bare), "def f(\n) -> dict:\n  \"\"\"\n\n  Args:\n  \"\"\"\n");
    let arguments = json!({"b": [1, "x"], "a": {"d": null, "c": true}});
    let call = r#"print(default_api.f(a = {"c": true, "d": null}, b = [1, "x"]))"#;
    assert_eq!(python::call("f", &arguments), call);
    assert_eq!(python::response("f", &json!({"ok": 1})), r#"{"f_response": {"ok": 1}}"#);
}

#[test]
fn recursive_references_end() {
    let tree = json!({
        "properties": {"node": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {
            "left": {"$ref": "#/$defs/N"}, "right": {"$ref": "#/$defs/N"}}}},
    });
    let text = python::declaration(&function(tree.clone()));
    assert_eq!(text.matches("class ").count(), 31);
    assert!(text.contains("left: Any"));
    assert!(markup::declaration(&function(tree)).texts.len() < 1000);
}

#[test]
fn tools_of_3_stand_between_control_tokens() {
    let parameters = json!({
        "$schema": "x",
        "type": "object",
        "additionalProperties": false,
        "required": ["city"],
        "properties": {
            "unit": {"type": "STRING", "enum": ["C", "F"], "default": "C"},
            "city": {"type": "string", "description": "Where"},
        },
    });
    let wanted = "|declaration:book_room{description:|Books a room.\nReturns its number.|,\
        parameters:{properties:{city:{description:|Where|,type:|STRING|},\
        unit:{enum:[|C|,|F|],type:|STRING|}},required:[|city|],type:|OBJECT|}}|";
    let rendering = markup::declaration(&function(parameters));
    assert_eq!(shown(&rendering), wanted);
    assert_eq!(rendering.extra as usize, wanted.matches('|').count());
    let bare = Function { name: "f".into(), ..Function::default() };
    assert_eq!(shown(&markup::declaration(&bare)), "|declaration:f{parameters:{type:|OBJECT|}}|");
    let arguments = json!({"b": [1, "x"], "a": true});
    assert_eq!(shown(&markup::exchange("call", "f", &arguments)), "|call:f{a:true,b:[1,|x|]}|");
}

#[test]
fn older_tools_are_their_leaves() {
    let parameters = json!({"type": "OBJECT", "title": "T", "required": ["city"],
        "properties": {"city": {"type": "string", "nullable": true}}});
    let mut declared = function(parameters);
    let scope = Scope { other_types: true, ..Scope::default() };
    let leaves = leaves::of_function(&declared, scope);
    let wanted = ["book_room", &declared.description, "OBJECT", "city", "city"];
    assert_eq!(leaves.texts, wanted);
    assert_eq!(leaves.extra, 2);
    declared.json_schema = true;
    assert_eq!(leaves::of_function(&declared, scope).texts.len(), 2);
}

/// Tokens and bound of a body.
fn count(format: Format, model: &str, body: &Value) -> (u32, u32) {
    static PROFILES: std::sync::LazyLock<Profiles> =
        std::sync::LazyLock::new(|| Profiles::load(None, "".as_ref()).expect("the embedded table"));
    let conversation = provider::request(format, body.to_string().as_bytes()).expect("valid");
    let (profile, known) = PROFILES.resolve(model);
    assert!(known, "{model}");
    let context = Context { profile, format, checkpoint: &|| Ok(()) };
    let mut tally = profile.rules.preamble(&conversation.preamble, &context).expect("counts");
    for message in &conversation.messages {
        tally += profile.rules.message(message, &context).expect("counts");
    }
    (tally.tokens(), tally.upper_bound())
}

#[test]
fn the_frame_depends_on_generation_and_host() {
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Hello"}]}});
    assert_eq!(count(Format::Gemini, "gemini-2.5-flash-preview-09-2025", &body), (4, 4));
    assert_eq!(count(Format::Gemini, "models/gemini-3-pro-preview", &body), (4, 4));
    assert_eq!(count(Format::GeminiVertex, "google/gemini-2.5-pro", &body), (2, 2));
    assert_eq!(count(Format::Gemini, "gemini-2.0-flash", &body), (2, 4));
}

#[test]
fn a_gateways_bound_covers_both_hosts() {
    let body = json!({"messages": [{"role": "system", "content": "Hello"},
        {"role": "user", "content": "Hello"}]});
    assert_eq!(count(Format::OpenaiChat, "google/gemini-2.5-pro", &body), (2, 4));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["object", "STRING", "array", "#", "#/$defs/a"])
            .prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "type",
            "properties",
            "items",
            "anyOf",
            "enum",
            "required",
            "$ref",
            "$defs",
            "a",
            "description",
            "default",
            "nullable",
        ])
        .prop_map(String::from),
        "[a-z]{1,6}",
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(key.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,40}".prop_map(|text| json!({"text": text})),
        (".{0,20}", "[A-Za-z0-9+/]{0,300}")
            .prop_map(|(text, proof)| json!({"text": text, "thoughtSignature": proof})),
        ".{0,20}".prop_map(|text| json!({"text": text, "thought": true})),
        any_json().prop_map(|args| json!({"functionCall": {"name": "f", "args": args},
            "thoughtSignature": "AAAA"})),
        any_json().prop_map(|json| json!({"functionResponse": {"name": "f", "response": json}})),
        any_json().prop_map(|json| json!({"executableCode": json})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn more_never_costs_less(
        parts in prop::collection::vec(any_part(), 1..5),
        schemas in prop::collection::vec(any_json(), 1..4),
        model in prop::sample::select(vec![
            "gemini-1.5-pro", "gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro",
            "gemini-flash-latest",
        ]),
        format in prop::sample::select(vec![Format::Gemini, Format::GeminiVertex]),
    ) {
        let mut before = (0, 0);
        let mut grows = |body: Value| {
            let now = count(format, model, &body);
            assert!(now.0 <= now.1, "{now:?}");
            assert!(before.0 <= now.0 && before.1 <= now.1, "{before:?} {now:?}");
            before = now;
        };
        for end in 1..=parts.len() {
            grows(json!({"contents": [{"role": "model", "parts": parts[..end]}]}));
        }
        let contents = json!([{"role": "model", "parts": parts}, {"role": "user", "parts": [{"text": "x"}]}]);
        grows(json!({"contents": contents}));
        for end in 1..=schemas.len() {
            let tools: Vec<_> = schemas[..end].iter()
                .map(|schema| json!({"name": "g", "description": "d", "parameters": schema}))
                .collect();
            grows(json!({"contents": contents, "tools": [{"functionDeclarations": tools}]}));
        }
    }
}
