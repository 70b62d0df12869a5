//! Which thinking in a conversation providers keep.

use super::{Memo, Message, Part, Role};

impl Message {
    fn has_thinking(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Reasoning(_) | Part::Signature(_)))
    }

    pub(crate) fn has_call(&self) -> bool {
        let is_known = matches!(self.memo, Memo::Known(known) if known.calls);
        is_known || self.parts.iter().any(|part| matches!(part, Part::ToolCall(_)))
    }
}

/// Marks the messages whose thinking led to a tool call: those with a call among the model's
/// messages in one row, which may be one message or, with Responses, several.
pub fn mark_thinking(messages: &mut [Message]) {
    let is_reply = |message: &Message| message.role == Role::Assistant;
    for row in messages.chunk_by_mut(|a, b| is_reply(a) && is_reply(b)) {
        let calls = row.iter().any(Message::has_call);
        for message in row {
            message.keeps_thinking = calls && message.has_thinking();
        }
    }
}
