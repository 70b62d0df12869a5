//! Counts messages and what stands before them, unless they are remembered.

use super::Engine;
use super::recognise::Needs;
use crate::conversation::digest::{Digest, Digester};
use crate::conversation::{Counted, Memo, Message, Part, Preamble, Role};
use crate::rules::{Context, Tally};
use crate::status::Status;

impl Engine {
    /// The digest and tally of what stands before the messages.
    pub(super) fn preamble(
        &self,
        preamble: &Preamble,
        digester: &Digester,
        needs: Needs,
        context: &Context<'_>,
    ) -> Result<(Digest, Tally), Status> {
        // Behind a prefix an empty one is the prefix's own: it has to be read to be told.
        let memo = if preamble.is_empty() { Memo::None } else { preamble.memo };
        let count = || context.profile.rules.preamble(preamble, context);
        let about = (Role::System, false);
        self.remembered(memo, about, needs, || digester.preamble(preamble), count)
    }

    /// Each message's digest and tally.
    pub(super) fn tallies(
        &self,
        messages: &[Message],
        digester: &Digester,
        needs: Needs,
        context: &Context<'_>,
    ) -> Result<Vec<(Digest, Tally)>, Status> {
        let mut tallies = Vec::with_capacity(messages.len());
        for message in messages {
            tallies.push(self.tally(message, digester, needs, context)?);
        }
        Ok(tallies)
    }

    fn tally(
        &self,
        message: &Message,
        digester: &Digester,
        needs: Needs,
        context: &Context<'_>,
    ) -> Result<(Digest, Tally), Status> {
        let memo = if message.stands_alone() { message.memo } else { Memo::None };
        let count = || {
            let mut tally = context.profile.rules.message(message, context)?;
            tally.opens_turn = message.opens_turn();
            tally.is_reply = message.role == Role::Assistant;
            tally.several_calls = (message.role != Role::Tool).then(|| several_calls(message));
            Ok(tally)
        };
        let about = (message.role, message.has_call());
        self.remembered(memo, about, needs, || digester.message(message), count)
    }

    /// The digest (of zeros, where the call needs none) and the tally of a message or a preamble:
    /// from memory, or by counting. What can be is remembered by the bytes that it was sent in,
    /// anything else by its digest.
    fn remembered(
        &self,
        memo: Memo,
        (role, calls): (Role, bool),
        needs: Needs,
        digest: impl FnOnce() -> Digest,
        count: impl FnOnce() -> Result<Tally, Status>,
    ) -> Result<(Digest, Tally), Status> {
        match memo {
            Memo::Known(known) => Ok((known.digest.unwrap_or_default(), known.tally)),
            Memo::New(key) => {
                let digest = (needs == Needs::Digests).then(digest);
                let tally = count()?;
                self.sent.insert(key, Counted { digest, tally, role, calls });
                Ok((digest.unwrap_or_default(), tally))
            }
            Memo::None => {
                let digest = digest();
                if let Some(tally) = self.counts.get(&digest) {
                    return Ok((digest, tally));
                }
                let tally = count()?;
                self.counts.insert(digest, tally);
                Ok((digest, tally))
            }
        }
    }
}

fn several_calls(message: &Message) -> bool {
    message.parts.iter().filter(|part| matches!(part, Part::ToolCall(_))).nth(1).is_some()
}
