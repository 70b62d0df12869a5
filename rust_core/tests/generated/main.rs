//! Generated prompts in every provider's form: never an error, estimates below their bounds, a
//! longer prompt never counts less, the typed form counts like the provider's body, and messages
//! that are recognised count as if they were read.
//!
//! 300 prompts for each interface; `make test-generated` makes 10,000. The environment variable
//! `PROPTEST_CASES` sets another number.

#![allow(missing_docs)]

mod body;
mod spec;
mod typed;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use proptest::prelude::*;
use prost::Message as _;
use tokencount_core::conversation::Format;
use tokencount_core::engine::{Call, Engine, Rpc};
use tokencount_core::profile::Profiles;
use tokencount_core::store::{MemoryStore, StoreOptions};
use tokencount_core::wire::{self, count_messages_request::Prompt};

use spec::{Addition, Spec};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| engine(1 << 20));
/// Remembers next to nothing, so that it reads every message.
static FORGETFUL: LazyLock<Engine> = LazyLock::new(|| engine(0));

fn engine(cache_bytes: usize) -> Engine {
    let store = MemoryStore::new(StoreOptions::new(1 << 20, Duration::from_secs(60)));
    let profiles = Profiles::load(None, "".as_ref()).expect("the embedded table is right");
    Engine::new([7; 32], profiles, Arc::new(store), cache_bytes)
}

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: cases.unwrap_or(300), ..ProptestConfig::default() }
}

fn count(engine: &Engine, prompt: Prompt) -> wire::Count {
    let request = wire::CountMessagesRequest { prompt: Some(prompt), per_message: true };
    let answer =
        engine.answer(Rpc::CountMessages, request.encode_to_vec().into(), &Call::default());
    let answer = answer.unwrap_or_else(|status| panic!("{status}"));
    let answer = wire::CountMessagesResponse::decode(answer.as_slice()).expect("an answer decodes");
    answer.count.expect("an answer has a count")
}

fn of_typed(engine: &Engine, format: Format, spec: &Spec) -> wire::Count {
    count(engine, Prompt::Typed(typed::of(format, spec)))
}

fn of_body(engine: &Engine, format: Format, spec: &Spec) -> wire::Count {
    let body = body::of(format, spec).to_string().into_bytes();
    let model = spec.model.clone();
    let request = wire::ProviderRequest { format: format as i32, model, body: body.into() };
    count(engine, Prompt::ProviderRequest(request))
}

fn check(format: Format, spec: &Spec, addition: &Addition) -> Result<(), TestCaseError> {
    let sent = of_body(&ENGINE, format, spec);
    prop_assert!(sent.tokens > 0 && sent.tokens <= sent.upper_bound, "{sent:?}");
    let typed = of_typed(&ENGINE, format, spec);
    prop_assert_eq!((typed.tokens, typed.upper_bound), (sent.tokens, sent.upper_bound), "typed");
    let longer = spec.with(addition);
    let more = of_body(&ENGINE, format, &longer);
    prop_assert_eq!(&more, &of_body(&FORGETFUL, format, &longer), "recognised in a body");
    let typed = of_typed(&ENGINE, format, &longer);
    prop_assert_eq!(&typed, &of_typed(&FORGETFUL, format, &longer), "recognised as typed");
    prop_assert!(more.tokens >= sent.tokens, "{} < {}", more.tokens, sent.tokens);
    prop_assert!(
        more.upper_bound >= sent.upper_bound,
        "{} < {}",
        more.upper_bound,
        sent.upper_bound
    );
    Ok(())
}

macro_rules! interfaces {
    ($($name:ident: $format:ident, $models:expr;)*) => { proptest! {
        #![proptest_config(config())]
        $(
            #[test]
            fn $name(spec in spec::specs($models), addition in spec::additions()) {
                check(Format::$format, &spec, &addition)?;
            }
        )*
    } };
}

interfaces! {
    openai_chat: OpenaiChat, &[
        "gpt-3.5-turbo", "gpt-4", "gpt-4-turbo", "gpt-4o", "gpt-5", "gpt-5.2", "o3", "o1-mini",
        "gpt-oss-120b", "mistral-large", "deepseek-chat", "grok-4", "anthropic/claude-sonnet-4.5",
        "google/gemini-2.5-pro", "never-heard-of-it",
    ];
    openai_responses: OpenaiResponses, &["gpt-4.1", "gpt-5", "gpt-5.2", "o4-mini", "gpt-oss-20b"];
    anthropic: Anthropic, &["claude-3-haiku", "claude-sonnet-4", "claude-opus-4-6", "claude-opus-4-8"];
    gemini: Gemini, &["gemini-1.5-pro", "gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-pro", "gemini-pro-latest"];
    gemini_vertex: GeminiVertex, &["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-flash"];
    bedrock_converse: BedrockConverse, &["anthropic.claude-sonnet-4-5", "amazon.nova-pro", "openai.gpt-oss-20b"];
}
