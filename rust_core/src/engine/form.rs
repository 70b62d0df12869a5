//! A call's prompt in either of its forms, as the conversation that it holds.

use crate::conversation::{Conversation, Format, provider, typed};
use crate::status::Status;
use crate::wire;

/// The name of the form's field and what was read from it. `None`: absent.
pub type Form = Option<(&'static str, Result<Conversation, Status>)>;

/// The prompt of `CountMessages`.
pub fn of_count(prompt: Option<wire::count_messages_request::Prompt>) -> Form {
    use wire::count_messages_request::Prompt::{ProviderRequest, Typed};
    prompt.map(|prompt| match prompt {
        Typed(typed) => from_typed(typed),
        ProviderRequest(request) => from_provider(request),
    })
}

/// The prompt of `EstimateConversation`.
pub fn of_estimate(prompt: Option<wire::estimate_conversation_request::Prompt>) -> Form {
    use wire::estimate_conversation_request::Prompt::{ProviderRequest, Typed};
    prompt.map(|prompt| match prompt {
        Typed(typed) => from_typed(typed),
        ProviderRequest(request) => from_provider(request),
    })
}

/// The prompt of `RecordActual`.
pub fn of_record(prompt: Option<wire::record_actual_request::Prompt>) -> Form {
    use wire::record_actual_request::Prompt::{ProviderRequest, Typed};
    prompt.map(|prompt| match prompt {
        Typed(typed) => from_typed(typed),
        ProviderRequest(request) => from_provider(request),
    })
}

fn from_typed(prompt: wire::Prompt) -> (&'static str, Result<Conversation, Status>) {
    ("typed", typed::request(prompt))
}

fn from_provider(request: wire::ProviderRequest) -> (&'static str, Result<Conversation, Status>) {
    let read = || {
        let format = Format::try_from(request.format)
            .map_err(|_| Status::invalid("format", "is not a known format"))?;
        let mut conversation = provider::request(format, &request.body)?;
        if !request.model.is_empty() {
            conversation.model = request.model;
        }
        Ok(conversation)
    };
    ("provider_request", read())
}
