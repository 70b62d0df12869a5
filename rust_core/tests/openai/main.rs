//! `OpenAI`'s interfaces: what bodies become, and what is put before the model.

mod errors;
mod generated;
mod schemas;

use std::sync::LazyLock;

use serde_json::{Value, json};
use tokencount_core::bpe::Encoding;
use tokencount_core::conversation::{Conversation, Format, Part, Role, provider};
use tokencount_core::profile::Profiles;
use tokencount_core::rules::{Context, Tally};

const CHAT: Format = Format::OpenaiChat;
const RESPONSES: Format = Format::OpenaiResponses;

fn read(format: Format, body: &Value) -> Conversation {
    let read = provider::request(format, body.to_string().as_bytes());
    let mut conversation = read.expect("a valid body");
    conversation.lead();
    conversation
}

fn error_of(format: Format, body: &Value) -> String {
    let error = provider::request(format, body.to_string().as_bytes());
    error.expect_err("an invalid body").to_string()
}

fn tally(format: Format, body: &Value) -> Tally {
    static PROFILES: LazyLock<Profiles> =
        LazyLock::new(|| Profiles::load(None, "".as_ref()).expect("the embedded table"));
    let conversation = read(format, body);
    let (profile, _) = PROFILES.resolve(body["model"].as_str().unwrap_or_default());
    let context = Context { profile, format, checkpoint: &|| Ok(()) };
    let mut tally = profile.rules.preamble(&conversation.preamble, &context).expect("a count");
    for message in &conversation.messages {
        tally += profile.rules.message(message, &context).expect("a count");
    }
    tally
}

fn tokens(format: Format, body: &Value) -> u32 {
    tally(format, body).tokens()
}

fn n(text: &str) -> u32 {
    u32::try_from(Encoding::O200kBase.count(text)).expect("a small text")
}

fn weather_tool(parameters: &Value) -> Value {
    json!({"name": "look_outside", "description": "Says what the sky does.", "parameters": parameters})
}

const WEATHER_TEXT: &str = "# Tools\n\n## functions\n\nnamespace functions {\n\n\
    // Says what the sky does.\ntype look_outside = (_:{\n// Where to look\nplace: string,\n\
    }) => any;\n\n} // namespace functions";

fn place_only() -> Value {
    json!({"type": "object", "required": ["place"],
           "properties": {"place": {"type": "string", "description": "Where to look"}}})
}

#[test]
fn plain_chat_is_a_frame_for_each_message() {
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "system", "content": "Answer in one word."},
        {"role": "user", "content": [{"type": "text", "text": "Which colour has "},
                                     {"type": "text", "text": "the sea?"}]}]});
    let texts = n("Answer in one word.") + n("Which colour has the sea?");
    assert_eq!(tokens(CHAT, &body), 3 + 4 + 4 + texts);
    let mut five = body;
    five["model"] = json!("gpt-5-mini-2025-08-07");
    assert_eq!(tokens(CHAT, &five), 2 + 4 + 4 + texts);
}

#[test]
fn tools_follow_the_system_message_of_the_4_series() {
    let tool = json!({"type": "function", "function": weather_tool(&place_only())});
    let mut body = json!({"model": "gpt-4.1", "tools": [tool],
                          "messages": [{"role": "user", "content": "Rain?"}]});
    assert_eq!(tokens(CHAT, &body), 3 + 4 + n("Rain?") + n(WEATHER_TEXT) + 3);
    body["messages"] = json!([{"role": "system", "content": "Be brief."},
                              {"role": "user", "content": "Rain?"}]);
    let joined = n(&format!("Be brief.\n\n{WEATHER_TEXT}")) - 1;
    assert_eq!(tokens(CHAT, &body), 3 + 4 + joined + 4 + n("Rain?"));
    body["tool_choice"] = json!({"type": "function", "function": {"name": "look_outside"}});
    let named = 6 + n("functions.look_outside");
    assert_eq!(tokens(CHAT, &body), 3 + 4 + joined + 4 + n("Rain?") + named);
}

#[test]
fn responses_and_gpt_5_have_their_own_constants() {
    let mut tool = weather_tool(&place_only());
    tool["type"] = json!("function");
    let mut body = json!({"model": "gpt-4o", "input": "Rain?", "tools": [tool]});
    let counted = 3 + 4 + n("Rain?") + n(WEATHER_TEXT) - 3;
    assert_eq!(tokens(RESPONSES, &body), counted);
    // Demanding the only function may be billed as naming it.
    let bound = tally(RESPONSES, &body).upper_bound();
    body["tool_choice"] = json!("required");
    assert_eq!(tokens(RESPONSES, &body), counted);
    let named = 6 + n("functions.look_outside");
    assert_eq!(tally(RESPONSES, &body).upper_bound(), bound + named);
    body["model"] = json!("gpt-5");
    assert_eq!(tokens(RESPONSES, &body), 2 + 4 + n("Rain?") + n(WEATHER_TEXT) + 3);
}

#[test]
fn calls_and_results_are_counted_by_interface() {
    let call = json!({"id": "c1", "type": "function",
                      "function": {"name": "add", "arguments": "{ \"a\": 1 }"}});
    let body = json!({"model": "gpt-4o", "messages": [
        {"role": "user", "content": "1?"}, {"role": "assistant", "tool_calls": [call.clone()]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"}]});
    let frames = 3 + 3 * 4 + n("1?") + n("one");
    assert_eq!(tokens(CHAT, &body), frames + 4 + n("add") + n("functions.add") + n("{\"a\":1}"));
    let mut parallel = body;
    parallel["messages"][1]["tool_calls"] = json!([call.clone(), call]);
    let uses = "{\"tool_uses\":[{\"recipient_name\":\"functions.add\",\"parameters\":{\"a\":1}},\
                {\"recipient_name\":\"functions.add\",\"parameters\":{\"a\":1}}]}";
    assert_eq!(tokens(CHAT, &parallel), frames + n(uses) + 12);
    // A name that begins with another token after a full stop.
    let dice = json!({"model": "gpt-4o", "input": [{"type": "function_call", "call_id": "c1",
                      "name": "dice", "arguments": "{}"}]});
    assert_eq!(tokens(RESPONSES, &dice), 3 + 4 + 1 + 2 * n("functions.dice") + n("{}"));
    let items = json!({"model": "gpt-4o", "input": [
        {"role": "user", "content": "1?"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"}]});
    assert_eq!(tokens(RESPONSES, &items), frames + 1 + 2 * n("functions.add") + n("{}") + 3);
}

#[test]
fn a_tool_in_both_forms_is_what_its_interface_reads() {
    let tool = json!({"type": "function", "name": "look_outside",
                      "function": weather_tool(&place_only())});
    let body = json!({"model": "gpt-4.1", "tools": [tool.clone()],
                      "messages": [{"role": "user", "content": "Rain?"}]});
    assert_eq!(tokens(CHAT, &body), 3 + 4 + n("Rain?") + n(WEATHER_TEXT) + 3);
    let bare = json!({"model": "gpt-4.1", "input": "Rain?", "tools": [tool]});
    let text = "# Tools\n\n## functions\n\nnamespace functions {\n\ntype look_outside = () => any;\n\n\
                } // namespace functions";
    assert_eq!(tokens(RESPONSES, &bare), 3 + 4 + n("Rain?") + n(text) - 3);
}

#[test]
fn a_response_format_shows_the_schema_without_its_bounds() {
    let number = json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 2});
    let words = json!({"type": "array", "maxItems": 2, "description": "Très court", "items":
                       {"type": "string", "minLength": 1, "format": "date"}});
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["required"],
                        "properties": {"required": number, "default": words}});
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Go"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "Out", "schema": schema}}});
    let text = "# Response Formats\n\n## Out\n\n\
                {\"type\":\"object\",\"properties\":{\"required\":{\"type\":\"integer\"},\
                \"default\":{\"type\":\"array\",\"description\":\"Tr\\u00e8s court\",\
                \"items\":{\"type\":\"string\"}}}}";
    assert_eq!(tokens(CHAT, &body), 3 + 4 + n("Go") + n(text) + 4 + 2 + n("Out"));
    let mut json_only = body;
    json_only["response_format"] = json!({"type": "json_object"});
    assert_eq!(tokens(CHAT, &json_only), 3 + 4 + n("Go"));
}

#[test]
fn a_reply_is_the_message_that_is_sent_back() {
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let received = json!({"id": "x", "usage": {}, "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": null, "refusal": null, "annotations": [],
                    "tool_calls": [call]}}]});
    let sent = json!({"messages": [{"role": "assistant", "tool_calls": [call]}]});
    let reply = provider::reply(CHAT, received.to_string().as_bytes()).expect("a reply");
    assert_eq!(reply, read(CHAT, &sent).messages);

    let output = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "QUJD", "status": null},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Hi", "annotations": [], "logprobs": []}]}]);
    let received = json!({"id": "resp_1", "output": output});
    let sent = json!({"input": [
        {"type": "reasoning", "summary": [], "encrypted_content": "QUJD"},
        {"role": "assistant", "content": "Hi"}]});
    let reply = provider::reply(RESPONSES, received.to_string().as_bytes()).expect("a reply");
    assert_eq!(reply, read(RESPONSES, &sent).messages);
    assert_eq!(provider::reply(RESPONSES, output.to_string().as_bytes()).expect("items"), reply);
}

#[test]
fn leading_instructions_belong_to_the_preamble() {
    let body = json!({"instructions": "One.", "input": [
        {"role": "developer", "content": "Two."}, {"role": "user", "content": "Go"},
        {"role": "system", "content": "Three."}]});
    let conversation = read(RESPONSES, &body);
    assert_eq!(conversation.preamble.system.len(), 2);
    let roles: Vec<Role> = conversation.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::System]);
}

#[test]
fn inline_images_are_decoded_and_sized() {
    let gif = "data:image/gif;base64,R0lGODlhAAQABAAAAAA=";
    let image = |detail: &str| {
        json!({"model": "gpt-4o", "messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": gif, "detail": detail}}]}]})
    };
    assert_eq!(tokens(CHAT, &image("auto")), 3 + 4 + 765);
    assert_eq!(tokens(CHAT, &image("low")), 3 + 4 + 85);
    let Part::Media(media) = &read(CHAT, &image("auto")).messages[0].parts[0] else {
        panic!("an image is media");
    };
    assert_eq!((media.mime_type.as_str(), media.detail.as_str()), ("image/gif", ""));
}

#[test]
fn what_is_not_understood_is_counted_and_said() {
    let plain = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Go"}]});
    let mut odd = plain.clone();
    odd["persona"] = json!({"tone": "a long story about the tone of the answer"});
    odd["temperature"] = json!(0.5);
    odd["messages"][0]["mood"] = json!(["sad"]);
    let fields: Vec<String> = read(CHAT, &odd).warnings.into_iter().map(|it| it.field).collect();
    assert_eq!(fields, ["messages[0].mood", "persona"]);
    assert!(tokens(CHAT, &odd) > tokens(CHAT, &plain) + 10);
}

#[test]
fn gpt_oss_speaks_harmony() {
    let body =
        json!({"model": "openai/gpt-oss-20b", "messages": [{"role": "user", "content": "Hello"}]});
    assert_eq!(tokens(CHAT, &body), 63 + 4 + n("Hello"));
    let mut instructed = body.clone();
    instructed["messages"] =
        json!([{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}]);
    assert_eq!(tokens(CHAT, &instructed), 63 + 4 + 3 + n("Be kind.") + 4 + n("Hello"));
    assert!(tally(CHAT, &body).upper_bound() > tokens(CHAT, &body));
}

#[test]
fn a_gateway_that_switches_thinking_on_pays_for_it() {
    let body = |reasoning: Value| {
        json!({"model": "anthropic/claude-sonnet-4.5", "reasoning": reasoning,
            "messages": [{"role": "user", "content": "Why is the sky blue?"}]})
    };
    let thinks = |reasoning| read(CHAT, &body(reasoning)).preamble.thinking;
    assert!(thinks(json!({"effort": "low"})) && thinks(json!({"enabled": true})));
    assert!(!thinks(json!({"effort": "none"})) && !thinks(json!({"enabled": false})));
    assert!(!thinks(json!(null)));
}
