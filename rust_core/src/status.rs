//! How a call fails: a gRPC code, a reason for programs, a sentence for people.

use std::fmt;
use std::time::Duration;

use prost::Message;

use crate::wire::ErrorReason;

/// The domain of every `google.rpc.ErrorInfo`.
pub const DOMAIN: &str = "tokencount.v1";

/// The canonical gRPC codes that the engine answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The caller went away.
    Cancelled = 1,
    /// The request is wrong whatever the state of the server.
    InvalidArgument = 3,
    /// The deadline passed before the count was done.
    DeadlineExceeded = 4,
    /// The request is too large, or the server too busy.
    ResourceExhausted = 8,
    /// The request needs a state that the server doesn't have: an unknown prefix.
    FailedPrecondition = 9,
    /// A defect of the server.
    Internal = 13,
    /// The store can't be written.
    Unavailable = 14,
    /// The caller is nobody that the server knows.
    Unauthenticated = 16,
}

impl Code {
    /// The canonical name, such as `INVALID_ARGUMENT`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }

    /// The codes that the semantic conventions count as errors of a server.
    #[must_use]
    pub const fn is_server_fault(self) -> bool {
        matches!(self, Self::DeadlineExceeded | Self::Internal | Self::Unavailable)
    }
}

/// A failed call. `Display` gives the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The gRPC code.
    pub code: Code,
    /// The reason, stable for programs.
    pub reason: ErrorReason,
    /// What is wrong and what to do. Never holds text of a prompt.
    pub message: String,
    /// The path of the field that is wrong, such as `typed.messages[2].role`. Empty: none.
    pub field: String,
    /// When the call may be made again. `None`: as it is, it never should.
    pub retry_after: Option<Duration>,
}

impl Status {
    /// A status without a field.
    pub fn new(code: Code, reason: ErrorReason, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), field: String::new(), retry_after: None }
    }

    /// `RESOURCE_EXHAUSTED`: the call may be made again after a while.
    pub fn retry(reason: ErrorReason, message: impl Into<String>, after: Duration) -> Self {
        let status = Self::new(Code::ResourceExhausted, reason, message);
        Self { retry_after: Some(after), ..status }
    }

    /// `INVALID_ARGUMENT`: the value at `field` is not allowed.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::in_field(ErrorReason::InvalidField, field, message)
    }

    /// `INVALID_ARGUMENT`: the required `field` is absent.
    pub fn missing(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::in_field(ErrorReason::MissingField, field, message)
    }

    /// `INVALID_ARGUMENT` about one field, with a reason.
    pub fn in_field(
        reason: ErrorReason,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), ..Self::new(Code::InvalidArgument, reason, message) }
    }

    /// `CANCELLED`: the caller went away.
    #[must_use]
    pub fn stopped() -> Self {
        Self::new(Code::Cancelled, ErrorReason::Cancelled, "the caller went away")
    }

    /// The same status with its field inside `parent`: `messages[0]` becomes `typed.messages[0]`.
    #[must_use]
    pub fn inside(mut self, parent: &str) -> Self {
        self.field = match self.field.as_str() {
            _ if parent.is_empty() => return self,
            "" => parent.to_owned(),
            field if field.starts_with('[') => format!("{parent}{field}"),
            field => format!("{parent}.{field}"),
        };
        self
    }

    /// The reason's name as it stands in `ErrorInfo`, such as `PREFIX_UNKNOWN`.
    #[must_use]
    pub fn reason_name(&self) -> &'static str {
        self.reason.as_str_name().trim_start_matches("ERROR_REASON_")
    }

    /// The encoded `google.rpc.Status` for the `grpc-status-details-bin` trailer.
    #[must_use]
    pub fn details(&self) -> Vec<u8> {
        let info = rpc::ErrorInfo { reason: self.reason_name().into(), domain: DOMAIN.into() };
        let mut details = vec![any("google.rpc.ErrorInfo", &info)];
        if !self.field.is_empty() {
            let violation = rpc::FieldViolation {
                field: self.field.clone(),
                description: self.message.clone(),
            };
            let request = rpc::BadRequest { field_violations: vec![violation] };
            details.push(any("google.rpc.BadRequest", &request));
        }
        if let Some(after) = self.retry_after {
            let seconds = i64::try_from(after.as_secs()).unwrap_or(i64::MAX);
            let nanos = after.subsec_nanos().cast_signed();
            let retry_delay = Some(prost_types::Duration { seconds, nanos });
            details.push(any("google.rpc.RetryInfo", &rpc::RetryInfo { retry_delay }));
        }
        rpc::Status { code: self.code as i32, message: self.to_string(), details }.encode_to_vec()
    }
}

impl From<Status> for crate::wire::StreamError {
    fn from(status: Status) -> Self {
        Self {
            code: status.code as i32,
            reason: status.reason as i32,
            message: status.to_string(),
            field: status.field,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            out.write_str(&self.message)
        } else {
            write!(out, "{}: {}", self.field, self.message)
        }
    }
}

impl std::error::Error for Status {}

fn any(name: &str, message: &impl Message) -> prost_types::Any {
    prost_types::Any {
        type_url: format!("type.googleapis.com/{name}"),
        value: message.encode_to_vec(),
    }
}

/// The four messages of `google/rpc/{status,error_details}.proto` that are sent.
mod rpc {
    use prost_types::{Any, Duration};

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Status {
        #[prost(int32, tag = "1")]
        pub code: i32,
        #[prost(string, tag = "2")]
        pub message: String,
        #[prost(message, repeated, tag = "3")]
        pub details: Vec<Any>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ErrorInfo {
        #[prost(string, tag = "1")]
        pub reason: String,
        #[prost(string, tag = "2")]
        pub domain: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct FieldViolation {
        #[prost(string, tag = "1")]
        pub field: String,
        #[prost(string, tag = "2")]
        pub description: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct BadRequest {
        #[prost(message, repeated, tag = "1")]
        pub field_violations: Vec<FieldViolation>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct RetryInfo {
        #[prost(message, optional, tag = "1")]
        pub retry_delay: Option<Duration>,
    }
}
