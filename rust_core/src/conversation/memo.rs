//! What is remembered of a message by the bytes it was sent in.
//!
//! A conversation is sent again and again, longer by a message or two each time. Of a message whose
//! bytes were seen before, everything is known that reading and counting it would give.

use super::digest::Digest;
use super::{Message, Part, Role};
use crate::rules::Tally;

/// What reading and counting a message gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Its digest.
    pub digest: Digest,
    /// Its count.
    pub tally: Tally,
    /// Who speaks.
    pub role: Role,
    /// It holds a call.
    pub calls: bool,
}

/// What a message's bytes say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Memo {
    /// Nothing, and nothing may be remembered by them.
    #[default]
    None,
    /// Nothing yet: what it counts may be remembered under this key.
    New(Digest),
    /// Everything: the message was not read.
    Known(Counted),
}

/// Finds messages by the bytes they were sent in.
pub trait Recognise {
    /// What is known of the message that was sent as `bytes`.
    fn find(&self, bytes: &[u8]) -> Memo;
}

/// Knows nothing.
impl Recognise for () {
    fn find(&self, _bytes: &[u8]) -> Memo {
        Memo::None
    }
}

impl Message {
    /// A message that was not read.
    #[must_use]
    pub fn known(counted: Counted) -> Self {
        Self { role: counted.role, memo: Memo::Known(counted), ..Self::default() }
    }

    /// Whether the message counts the same wherever it stands. Instructions may move to the
    /// preamble, thinking is billed by what follows it, and so are ids of calls in Responses.
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        let depends = |part: &Part| match part {
            Part::Reasoning(_) | Part::Signature(_) => true,
            Part::ToolCall(call) => call.has_item_id,
            _ => false,
        };
        !matches!(self.role, Role::System | Role::Developer) && !self.parts.iter().any(depends)
    }
}
