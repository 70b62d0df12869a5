//! The instructions that lead a conversation belong to what stands before its messages.

use super::{Conversation, Message, Role};

impl Conversation {
    /// Moves the instructions that lead the messages to the preamble. Only of a complete
    /// conversation: behind a known prefix nothing leads, and they are messages like others.
    pub fn lead(&mut self) {
        let count = self.leading();
        self.preamble.system.extend(self.messages.drain(..count));
        let first = self.messages.first();
        self.preamble.model_begins = first.is_some_and(|first| first.role == Role::Assistant);
    }

    /// How many instructions lead the messages.
    pub(super) fn leading(&self) -> usize {
        let leads = |message: &&Message| matches!(message.role, Role::System | Role::Developer);
        self.messages.iter().take_while(leads).count()
    }
}
