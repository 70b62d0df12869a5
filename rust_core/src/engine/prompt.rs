//! From a request's prompt to counted messages: reads it, finds its profile, digests and counts.

use std::sync::Arc;

use super::form::{Form, Opened};
use super::recognise::{Needs, Recogniser};
use super::state::{Keys, PrefixKey, State, decode};
use super::{Call, Engine};
use crate::conversation::digest::{Digest, Digester, tenant_id};
use crate::conversation::{Conversation, Format, Reading, mark_thinking, typed};
use crate::profile::Profile;
use crate::rules::{Context, Kind, Tally};
use crate::status::{Code, Status};
use crate::wire::{self, ErrorReason};

/// A prompt that was counted message by message.
pub struct Prompt {
    /// The model's profile.
    pub profile: Arc<Profile>,
    /// The interface that it goes through.
    pub format: Format,
    /// Its tenant's keys.
    pub keys: Keys,
    /// Digests of its tenant, profile and interface.
    pub digester: Digester,
    /// The prefix that it continues, if it was sent with `base`.
    pub base: Option<(PrefixKey, State)>,
    /// What stands before the messages; its digest is zeros where the call has no need of it.
    pub preamble: (Digest, Tally),
    /// The messages that were sent; their digests are zeros where the call has no need of them.
    pub messages: Vec<(Digest, Tally)>,
    /// What was not understood.
    pub warnings: Vec<wire::Warning>,
}

impl Prompt {
    /// How many messages the prompt has, those of its base included.
    pub fn message_count(&self) -> u32 {
        let before = self.base.as_ref().map_or(0, |(_, state)| state.messages);
        before.saturating_add(self.messages.len() as u32)
    }

    /// The chain keys of the prompt's prefixes: the base's (or the empty one's) first, then one
    /// for each message.
    pub fn chain(&self) -> Vec<Digest> {
        let first = self.base.as_ref().map_or_else(|| self.digester.root(), |(key, _)| key.chain);
        let mut key = first;
        let rest = self.messages.iter().map(|(digest, _)| {
            key = self.digester.extend(&key, digest);
            key
        });
        [first].into_iter().chain(rest).collect()
    }

    /// The estimate of everything that was sent.
    pub fn sent(&self) -> Tally {
        sum(&self.messages)
    }

    /// The estimates of the model's messages that begin at that one, and of those after them.
    pub fn sent_from(&self, first: usize) -> (Tally, Tally) {
        let rest = self.messages.get(first..).unwrap_or_default();
        let reply = rest.iter().take_while(|(_, tally)| tally.is_reply).count();
        let (reply, rest) = rest.split_at(reply);
        (sum(reply), sum(rest))
    }
}

fn sum(messages: &[(Digest, Tally)]) -> Tally {
    messages.iter().map(|(_, tally)| *tally).sum()
}

impl Engine {
    /// Reads and counts a prompt. `base` is empty where the prompt is complete.
    pub(super) fn prompt(
        &self,
        mut form: Option<Form>,
        base: &[u8],
        needs: Needs,
        call: &Call<'_>,
    ) -> Result<Prompt, Status> {
        call.checkpoint()?;
        let opened = match &mut form {
            Some(form) => form.open()?,
            None if !base.is_empty() => Opened::NOTHING,
            None => {
                return Err(Status::missing("prompt", "required: `typed` or `provider_request`"));
            }
        };
        self.opened(opened, base, needs, call)
    }

    /// Reads and counts an opened prompt.
    pub(super) fn opened(
        &self,
        opened: Opened<'_>,
        base: &[u8],
        needs: Needs,
        call: &Call<'_>,
    ) -> Result<Prompt, Status> {
        let keys = Keys { tenant: tenant_id(&self.secret, call.tenant) };
        let base = self.base(base, &keys)?;
        let (field, is_typed) = (opened.field, opened.is_typed());
        let found =
            self.resolve(&opened.model, opened.format, base.as_ref().map(|(_, state)| state));
        let (profile, format, warning) = found.map_err(|error| error.inside(field))?;
        let digester = Digester::new(&self.secret, call.tenant, &profile.name, format);
        let known = Recogniser::new(&self.sent, &digester, is_typed, needs);
        let reading = Reading { known: &known, is_complete: base.is_none() };
        let mut conversation = opened.read(reading)?;
        if is_typed {
            let messages = conversation.messages.into_iter();
            conversation.messages =
                messages.flat_map(|message| typed::in_format(message, format)).collect();
        }
        mark_thinking(&mut conversation.messages);
        let is_empty = conversation.messages.is_empty() && conversation.preamble.system.is_empty();
        if is_empty && base.is_none() {
            let message = "the conversation is empty: at least one message is needed";
            return Err(Status::missing(format.messages_field(field), message).inside(field));
        }
        let mut prompt = Prompt {
            profile,
            format,
            keys,
            digester,
            base,
            preamble: (Digest::default(), Tally::default()),
            messages: Vec::new(),
            warnings: warning.into_iter().collect(),
        };
        self.fill(&mut prompt, conversation, needs, call)?;
        Ok(prompt)
    }

    /// Counts the conversation, and puts its counts into the prompt.
    fn fill(
        &self,
        prompt: &mut Prompt,
        conversation: Conversation,
        needs: Needs,
        call: &Call<'_>,
    ) -> Result<(), Status> {
        let Prompt { profile, digester, base, .. } = &*prompt;
        let checkpoint = || call.checkpoint();
        let context = Context { profile, format: prompt.format, checkpoint: &checkpoint };
        let preamble = match base {
            Some((key, state)) if conversation.preamble.is_empty() => {
                (key.preamble, Tally::from(&state.preamble))
            }
            Some((key, state)) => {
                let sent = self.preamble(&conversation.preamble, digester, needs, &context)?;
                if sent.0 == key.preamble { sent } else { replaced(digester, key, state, sent) }
            }
            None => self.preamble(&conversation.preamble, digester, needs, &context)?,
        };
        let mut messages = self.tallies(&conversation.messages, digester, needs, &context)?;
        follow_calls(&mut messages, base.as_ref().map(|(_, state)| state));
        prompt.messages = messages;
        prompt.preamble = preamble;
        prompt.warnings.splice(0..0, conversation.warnings);
        Ok(())
    }

    fn base(&self, base: &[u8], keys: &Keys) -> Result<Option<(PrefixKey, State)>, Status> {
        if base.is_empty() {
            return Ok(None);
        }
        let key = PrefixKey::from_bytes(base).ok_or_else(|| {
            Status::invalid("base", format!("a prefix key has 32 bytes, not {}", base.len()))
        })?;
        let state =
            self.recall(&keys.recorded(&key)).or_else(|| self.recall(&keys.estimated(&key)));
        let state = decode::<State>(state).ok_or_else(unknown_prefix)?;
        Ok(Some((key, state)))
    }

    /// The profile and interface of a prompt; those of its base where it names none.
    fn resolve(
        &self,
        model: &str,
        format: Format,
        base: Option<&State>,
    ) -> Result<(Arc<Profile>, Format, Option<wire::Warning>), Status> {
        let Some(state) = base else {
            if model.is_empty() {
                return Err(Status::missing("model", "required: it picks the counting rules"));
            }
            let (profile, recognised) = self.profiles.resolve(model);
            let format = match format {
                Format::Unspecified => profile.format,
                format => format,
            };
            return Ok((profile.clone(), format, (!recognised).then(unknown_model)));
        };
        let profile = self.profiles.by_name(&state.profile).ok_or_else(unknown_prefix)?;
        let sent_format = format;
        let format = Format::try_from(state.format).map_err(|_| unknown_prefix())?;
        let same_model = model.is_empty() || Arc::ptr_eq(self.profiles.resolve(model).0, profile);
        let same_format = matches!(sent_format, Format::Unspecified) || sent_format == format;
        // Another model or interface counts otherwise, so that prefix isn't this prompt's.
        if same_model && same_format {
            Ok((profile.clone(), format, None))
        } else {
            Err(unknown_prefix())
        }
    }
}

/// The preamble of a prompt that continues a prefix and brings parts of its own: each kind that it
/// brings replaces the prefix's, so that leaving one out never lowers the count.
fn replaced(
    digester: &Digester,
    key: &PrefixKey,
    state: &State,
    (digest, sent): (Digest, Tally),
) -> (Digest, Tally) {
    let before = Tally::from(&state.preamble);
    let brings_all = Kind::ALL.into_iter().all(|kind| before.of(kind) == 0 || sent.of(kind) > 0);
    if brings_all {
        return (digest, sent);
    }
    let mut merged = Tally::default();
    merged.caveats = sent.caveats;
    merged.caveats.insert(before.caveats);
    for kind in Kind::ALL {
        let from = if sent.of(kind) > 0 { &sent } else { &before };
        merged.add(kind, from.of(kind), from.bound_of(kind));
    }
    (digester.extend(&key.preamble, &digest), merged)
}

/// Bills each result by how many calls it follows.
fn follow_calls(messages: &mut [(Digest, Tally)], base: Option<&State>) {
    let mut several = base.and_then(State::several_calls).unwrap_or_default();
    for (_, tally) in messages {
        several = tally.several_calls.unwrap_or(several);
        tally.follow(several);
    }
}

/// `FAILED_PRECONDITION`: the same answer whether the prefix never was or belongs to someone else.
fn unknown_prefix() -> Status {
    let message = "this prefix is not known, or has expired: send the whole prompt without `base`";
    let status = Status::new(Code::FailedPrecondition, ErrorReason::PrefixUnknown, message);
    Status { field: "base".into(), ..status }
}

fn unknown_model() -> wire::Warning {
    wire::Warning {
        code: "unknown_model".into(),
        message: "no profile matches this model: a cautious one was used, with a wide bound".into(),
        field: "model".into(),
    }
}
