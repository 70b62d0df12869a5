//! A call's prompt in either of its forms, as the conversation that it holds.

use crate::conversation::{Conversation, Format, provider, typed};
use crate::status::Status;
use crate::wire;

/// The name of the form's field and what was read from it. `None`: absent.
pub type Form = Option<(&'static str, Result<Conversation, Status>)>;

/// Makes the reader of one request's prompt: prost gives each request a type of its own for the
/// same two forms.
macro_rules! reader {
    ($(#[$doc:meta])* $name:ident, $request:ident) => {
        $(#[$doc])*
        pub fn $name(prompt: Option<wire::$request::Prompt>) -> Form {
            use wire::$request::Prompt::{ProviderRequest, Typed};
            prompt.map(|prompt| match prompt {
                Typed(typed) => from_typed(typed),
                ProviderRequest(request) => from_provider(request),
            })
        }
    };
}

reader!(
    /// The prompt of `CountMessages`.
    of_count,
    count_messages_request
);
reader!(
    /// The prompt of `EstimateConversation`.
    of_estimate,
    estimate_conversation_request
);
reader!(
    /// The prompt of `RecordActual`.
    of_record,
    record_actual_request
);

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
