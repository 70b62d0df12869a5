//! What is remembered of a message, and of what stands before the messages, by the bytes it was sent
//! in.
//!
//! A conversation is sent again and again, longer by a message or two each time. Of a message whose
//! bytes were seen before, everything is known that reading and counting it would give.

use super::digest::Digest;
use super::{Conversation, Message, Part, Preamble, Role};
use crate::rules::Tally;
use crate::status::Status;

/// What reading and counting a message, or a preamble, gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Its digest, if a call has asked for it.
    pub digest: Option<Digest>,
    /// Its count.
    pub tally: Tally,
    /// Who speaks; a preamble instructs.
    pub role: Role,
    /// It holds a call.
    pub calls: bool,
}

/// What the bytes of a message or a preamble say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Memo {
    /// Nothing, and nothing may be remembered by them.
    #[default]
    None,
    /// Nothing yet: what it counts may be remembered under this key.
    New(Digest),
    /// Everything: it was not read.
    Known(Counted),
}

/// Finds messages and preambles by the bytes they were sent in.
pub trait Recognise {
    /// What is known of what was sent as these pieces, each with its own length: a message is one,
    /// a preamble several.
    fn find(&self, pieces: &[&[u8]]) -> Memo;
}

/// Knows nothing.
impl Recognise for () {
    fn find(&self, _pieces: &[&[u8]]) -> Memo {
        Memo::None
    }
}

/// How a prompt is read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// What was seen before.
    pub known: &'a dyn Recognise,
    /// No known prefix stands before the prompt: instructions that lead its messages belong to its
    /// preamble.
    pub is_complete: bool,
}

impl Reading<'_> {
    /// The conversation of these messages. What stands before them was sent as the pieces in
    /// `sent`, if they are known; `read` reads it, if it wasn't seen before.
    pub fn preamble(
        self,
        messages: Vec<Message>,
        sent: Option<Vec<&[u8]>>,
        read: impl FnOnce(&mut Conversation) -> Result<(), Status>,
    ) -> Result<Conversation, Status> {
        let mut conversation = Conversation { messages, ..Conversation::default() };
        let memo = sent.map_or(Memo::None, |sent| self.find(&conversation, sent));
        conversation.preamble.memo = memo;
        let known = matches!(memo, Memo::Known(_));
        if !known {
            read(&mut conversation)?;
        }
        if self.is_complete {
            conversation.lead();
        }
        if known {
            conversation.preamble = Preamble { memo, ..Preamble::default() };
        }
        Ok(conversation)
    }

    /// What is known of the preamble. A complete prompt's holds the instructions that lead the
    /// messages, and depends on who speaks first.
    fn find<'a>(self, conversation: &'a Conversation, mut sent: Vec<&'a [u8]>) -> Memo {
        if !self.is_complete {
            sent.push(b"behind a prefix");
            return self.known.find(&sent);
        }
        let (lead, rest) = conversation.messages.split_at(conversation.leading());
        // Without messages a prompt may be none at all, which only its reader can tell.
        let Some(first) = rest.first() else { return Memo::None };
        let model_begins = first.role == Role::Assistant;
        sent.push(if model_begins { b"the model begins" } else { b"the user begins" });
        for message in lead {
            let Memo::New(key) = &message.memo else { return Memo::None };
            sent.push(key);
        }
        self.known.find(&sent)
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
