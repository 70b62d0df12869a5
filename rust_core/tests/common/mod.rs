//! Prompts and calls for tests of the engine.

#![allow(dead_code, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use prost::Message as _;
use tokencount_core::engine::{Call, Engine, Rpc};
use tokencount_core::profile::Profiles;
use tokencount_core::status::Status;
use tokencount_core::store::{MemoryStore, StoreOptions};
use tokencount_core::wire::{self, part::Content};

/// An engine in memory, called with typed messages.
pub struct TestEngine(pub Engine);

/// One turn as a caller sends it.
#[derive(Clone)]
pub struct Turn {
    pub prompt: wire::Prompt,
    pub base: bytes::Bytes,
    pub tenant: &'static str,
}

impl Turn {
    pub fn full(prompt: wire::Prompt) -> Self {
        Self { prompt, base: bytes::Bytes::new(), tenant: "" }
    }

    pub fn after<const N: usize>(base: &bytes::Bytes, messages: [wire::Message; N]) -> Self {
        Self { prompt: prompt("", messages), base: base.clone(), tenant: "" }
    }

    pub fn of(mut self, tenant: &'static str) -> Self {
        self.tenant = tenant;
        self
    }
}

pub fn engine() -> TestEngine {
    engine_with_quota(None)
}

pub fn engine_with_quota(owner_bytes: Option<u64>) -> TestEngine {
    let options = StoreOptions::new(1 << 24, Duration::from_secs(3600));
    let store = MemoryStore::new(StoreOptions { owner_bytes, ..options });
    let profiles = Profiles::load(None, "".as_ref()).expect("the embedded table is right");
    TestEngine(Engine::new([7; 32], profiles, Arc::new(store), 1 << 20))
}

impl TestEngine {
    pub fn estimate(&self, turn: &Turn) -> wire::Count {
        self.try_estimate(turn).expect("a right request is answered")
    }

    pub fn try_estimate(&self, turn: &Turn) -> Result<wire::Count, Status> {
        let request = wire::EstimateConversationRequest {
            prompt: Some(wire::estimate_conversation_request::Prompt::Typed(turn.prompt.clone())),
            base: turn.base.clone(),
            per_message: true,
        };
        let call = Call { tenant: turn.tenant, ..Call::default() };
        let answer =
            self.0.answer(Rpc::EstimateConversation, request.encode_to_vec().into(), &call)?;
        let answer = wire::EstimateConversationResponse::decode(answer.as_slice());
        Ok(answer.expect("an answer decodes").count.expect("an answer has a count"))
    }

    pub fn record(
        &self,
        turn: &Turn,
        input_tokens: u32,
        reply: Option<(wire::Message, u32)>,
    ) -> wire::RecordActualResponse {
        let output_tokens = reply.as_ref().map_or(0, |(_, tokens)| *tokens);
        let usage = wire::Usage { input_tokens, output_tokens, ..wire::Usage::default() };
        let reply = reply.map(|(message, _)| wire::Reply {
            content: Some(wire::reply::Content::Message(message)),
        });
        self.send(turn, wire::Status::Succeeded, Some(usage), reply)
    }

    pub fn fail(&self, turn: &Turn) -> wire::RecordActualResponse {
        self.send(turn, wire::Status::Failed, None, None)
    }

    fn send(
        &self,
        turn: &Turn,
        status: wire::Status,
        usage: Option<wire::Usage>,
        reply: Option<wire::Reply>,
    ) -> wire::RecordActualResponse {
        let request = wire::RecordActualRequest {
            prompt: Some(wire::record_actual_request::Prompt::Typed(turn.prompt.clone())),
            base: turn.base.clone(),
            status: status as i32,
            bill: usage.map(wire::record_actual_request::Bill::Usage),
            reply,
        };
        let call = Call { tenant: turn.tenant, ..Call::default() };
        let answer = self.0.answer(Rpc::RecordActual, request.encode_to_vec().into(), &call);
        let answer = answer.expect("a right record is taken");
        wire::RecordActualResponse::decode(answer.as_slice()).expect("an answer decodes")
    }
}

pub fn encoded(messages: impl Into<Vec<wire::Message>>) -> Vec<bytes::Bytes> {
    messages.into().iter().map(|message| message.encode_to_vec().into()).collect()
}

pub fn prompt(model: &str, messages: impl Into<Vec<wire::Message>>) -> wire::Prompt {
    wire::Prompt { model: model.into(), messages: encoded(messages), ..wire::Prompt::default() }
}

pub fn user(text: &str) -> wire::Message {
    message(wire::Role::User, text)
}

pub fn assistant(text: &str) -> wire::Message {
    message(wire::Role::Assistant, text)
}

pub fn text(text: &str) -> wire::Part {
    wire::Part { content: Some(Content::Text(text.into())) }
}

pub fn tool(name: &str) -> wire::Tool {
    let parameters = r#"{"type":"object","properties":{"key":{"type":"string"}}}"#;
    wire::Tool { name: name.into(), parameters: parameters.into(), ..wire::Tool::default() }
}

pub fn calls(ids: &[&str]) -> wire::Message {
    let call = |id: &&str| {
        let call = wire::ToolCall { id: (*id).into(), name: "read".into(), arguments: "{}".into() };
        wire::Part { content: Some(Content::ToolCall(call)) }
    };
    let parts = ids.iter().map(call).collect();
    wire::Message { role: wire::Role::Assistant as i32, parts, ..wire::Message::default() }
}

pub fn result(id: &str, content: &str) -> wire::Message {
    let parts = vec![text(content)];
    let result = wire::ToolResult { call_id: id.into(), parts, ..wire::ToolResult::default() };
    let part = wire::Part { content: Some(Content::ToolResult(result)) };
    wire::Message { role: wire::Role::Tool as i32, parts: vec![part], ..wire::Message::default() }
}

fn message(role: wire::Role, content: &str) -> wire::Message {
    wire::Message { role: role as i32, parts: vec![text(content)], ..wire::Message::default() }
}

pub fn count(
    engine: &TestEngine,
    format: wire::Format,
    model: &str,
    body: &serde_json::Value,
) -> wire::Count {
    let prompt = wire::count_messages_request::Prompt::ProviderRequest(wire::ProviderRequest {
        format: format as i32,
        model: model.into(),
        body: body.to_string().into_bytes().into(),
    });
    let request = wire::CountMessagesRequest { prompt: Some(prompt), per_message: true };
    let answer =
        engine.0.answer(Rpc::CountMessages, request.encode_to_vec().into(), &Call::default());
    let answer = answer.unwrap_or_else(|status| panic!("{status}: {body}"));
    let answer = wire::CountMessagesResponse::decode(answer.as_slice()).expect("an answer decodes");
    answer.count.expect("an answer has a count")
}

pub fn assert_adds_up(count: &wire::Count) {
    let b = count.breakdown.expect("every count has a breakdown");
    let sum = b.system
        + b.tools
        + b.response_schema
        + b.user
        + b.assistant
        + b.tool_calls
        + b.tool_results
        + b.reasoning
        + b.media
        + b.overhead;
    assert_eq!(sum, count.tokens);
    assert_eq!(count.known_tokens + count.estimated_tokens, count.tokens);
}
