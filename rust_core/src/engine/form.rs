//! A call's prompt in either of its forms, opened as far as to tell its model and interface.

use crate::conversation::provider::Body;
use crate::conversation::{Conversation, Format, Reading, typed};
use crate::status::Status;
use crate::wire;

/// A prompt as a request holds it.
pub enum Form {
    /// Made of the contract's own messages.
    Typed(wire::Prompt),
    /// A provider's request body.
    Provider(wire::ProviderRequest),
}

/// Makes the reader of one request's prompt: prost gives each request a type of its own for the
/// same two forms.
macro_rules! form {
    ($(#[$doc:meta])* $name:ident, $request:ident) => {
        $(#[$doc])*
        pub fn $name(prompt: Option<wire::$request::Prompt>) -> Option<Form> {
            use wire::$request::Prompt::{ProviderRequest, Typed};
            prompt.map(|prompt| match prompt {
                Typed(typed) => Form::Typed(typed),
                ProviderRequest(request) => Form::Provider(request),
            })
        }
    };
}

form!(
    /// The prompt of `CountMessages`.
    of_count,
    count_messages_request
);
form!(
    /// The prompt of `EstimateConversation`.
    of_estimate,
    estimate_conversation_request
);
form!(
    /// The prompt of `RecordActual`.
    of_record,
    record_actual_request
);

impl Form {
    /// Opens the prompt. An error's field is inside the form's.
    pub fn open(&mut self) -> Result<Opened<'_>, Status> {
        match self {
            Self::Typed(prompt) => open_typed(prompt).map_err(|error| error.inside("typed")),
            Self::Provider(request) => {
                open_provider(request).map_err(|error| error.inside("provider_request"))
            }
        }
    }
}

/// A prompt whose messages are not read yet.
pub struct Opened<'a> {
    /// Name of the form's field in the request; empty where there is none.
    pub field: &'static str,
    /// The provider's name of the model; empty if the prompt names none.
    pub model: String,
    /// The interface; `Unspecified` for a typed prompt without one.
    pub format: Format,
    /// What is to be read.
    pub content: Content<'a>,
}

/// What an opened prompt holds.
pub enum Content<'a> {
    /// Nothing: the prompt is its base.
    Nothing,
    /// The contract's own messages.
    Typed(wire::Prompt),
    /// A provider's body.
    Body(Body<'a>),
}

impl Opened<'_> {
    /// No prompt, behind a base.
    pub const NOTHING: Self = Self {
        field: "",
        model: String::new(),
        format: Format::Unspecified,
        content: Content::Nothing,
    };

    /// Whether the prompt is in the contract's own messages.
    pub const fn is_typed(&self) -> bool {
        matches!(self.content, Content::Typed(_))
    }

    /// Reads it all, but for what is known.
    pub fn read(self, reading: Reading<'_>) -> Result<Conversation, Status> {
        let read = match self.content {
            Content::Nothing => Ok(Conversation::default()),
            Content::Typed(prompt) => typed::request(prompt, reading),
            Content::Body(body) => body.read(reading),
        };
        read.map_err(|error| error.inside(self.field))
    }
}

/// A body that comes in no request, for the model that it names or else `model`.
pub fn of_body<'a>(format: Format, mut body: Body<'a>, model: &str) -> Opened<'a> {
    let named = std::mem::take(&mut body.model);
    let model = if named.is_empty() { model.to_owned() } else { named };
    Opened { field: "", model, format, content: Content::Body(body) }
}

fn format(number: i32) -> Result<Format, Status> {
    Format::try_from(number).map_err(|_| Status::invalid("format", "is not a known format"))
}

fn open_typed(prompt: &mut wire::Prompt) -> Result<Opened<'static>, Status> {
    let mut prompt = std::mem::take(prompt);
    let format = format(prompt.format)?;
    let model = std::mem::take(&mut prompt.model);
    Ok(Opened { field: "typed", model, format, content: Content::Typed(prompt) })
}

fn open_provider(request: &mut wire::ProviderRequest) -> Result<Opened<'_>, Status> {
    let format = format(request.format)?;
    let mut body = Body::open(format, &request.body)?;
    let named = std::mem::take(&mut body.model);
    let model = if request.model.is_empty() { named } else { std::mem::take(&mut request.model) };
    Ok(Opened { field: "provider_request", model, format, content: Content::Body(body) })
}
