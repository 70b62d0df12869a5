//! Token counts by kind, each with its upper bound.

use std::iter::Sum;
use std::ops::AddAssign;

use crate::wire;

/// What tokens were spent on; the fields of the answer's breakdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Kind {
    /// System instructions.
    System,
    /// Declarations of tools.
    Tools,
    /// The schema of the answer.
    ResponseSchema,
    /// Text of users.
    User,
    /// Text of the model.
    Assistant,
    /// Calls that the model made.
    ToolCalls,
    /// What the calls gave.
    ToolResults,
    /// Thinking that is sent back.
    Reasoning,
    /// Images, audio, video and documents.
    Media,
    /// Framing of messages and of the prompt.
    Overhead,
}

impl Kind {
    /// Every kind, in the order of the breakdown.
    pub const ALL: [Self; 10] = [
        Self::System,
        Self::Tools,
        Self::ResponseSchema,
        Self::User,
        Self::Assistant,
        Self::ToolCalls,
        Self::ToolResults,
        Self::Reasoning,
        Self::Media,
        Self::Overhead,
    ];

    /// The name of the breakdown's field.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::ResponseSchema => "response_schema",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolCalls => "tool_calls",
            Self::ToolResults => "tool_results",
            Self::Reasoning => "reasoning",
            Self::Media => "media",
            Self::Overhead => "overhead",
        }
    }
}

/// What a count could not know: a set of flags, each of which becomes a warning of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caveats(pub u32);

impl Caveats {
    /// An image's size is unknown: the model's worst case was taken.
    pub const IMAGE_SIZE_UNKNOWN: Self = Self(1);
    /// No published rule says what this media costs: a bound was taken.
    pub const MEDIA_UNRULED: Self = Self(1 << 1);
    /// A part or a tool was not understood and counted as its JSON text.
    pub const COUNTED_AS_JSON: Self = Self(1 << 2);
    /// Hidden or encrypted thinking was estimated from its length.
    pub const OPAQUE_REASONING: Self = Self(1 << 3);

    const TEXTS: [(Self, &'static str, &'static str); 4] = [
        (
            Self::IMAGE_SIZE_UNKNOWN,
            "image_size_unknown",
            "an image's size is unknown, so the model's most expensive size was taken; give width and height",
        ),
        (
            Self::MEDIA_UNRULED,
            "media_estimated",
            "no published rule says what this media costs, so a generous bound was taken",
        ),
        (
            Self::COUNTED_AS_JSON,
            "counted_as_json",
            "a part or tool of an unknown kind was counted as its JSON text",
        ),
        (
            Self::OPAQUE_REASONING,
            "opaque_reasoning",
            "hidden or signed thinking was estimated from its length",
        ),
    ];

    /// Whether the flags of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the flags of `other` too.
    pub const fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The warnings of the flags that are set.
    pub fn warnings(self) -> impl Iterator<Item = wire::Warning> {
        Self::TEXTS.iter().filter(move |(flag, ..)| self.0 & flag.0 != 0).map(
            |(_, code, message)| wire::Warning {
                code: (*code).into(),
                message: (*message).into(),
                field: String::new(),
            },
        )
    }
}

/// Tokens by kind, each with its upper bound. Sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    tokens: [u32; Kind::ALL.len()],
    bound: [u32; Kind::ALL.len()],
    /// What could not be known.
    pub caveats: Caveats,
    /// The user speaks in it.
    pub opens_turn: bool,
    /// It is a message of the model's.
    pub is_reply: bool,
    /// Tokens among these that are billed only until the user speaks again: thinking.
    pub passing: u32,
    /// Tokens among these that were passing when the user spoke again.
    pub passed: u32,
    /// Whether its last message makes several calls, not regarding results; `None` if it holds
    /// nothing but results.
    pub several_calls: Option<bool>,
    /// What a result costs more (or less) as one of the answers to several calls, and at most.
    pub joint: (i32, u32),
}

impl Tally {
    /// Adds `tokens` of a kind, with an upper bound that is never below them.
    pub fn add(&mut self, kind: Kind, tokens: u32, bound: u32) {
        let at = kind as usize;
        self.tokens[at] = self.tokens[at].saturating_add(tokens);
        self.bound[at] = self.bound[at].saturating_add(bound.max(tokens));
    }

    /// Adds `tokens` of a kind that are billed only until the user speaks again.
    pub fn add_passing(&mut self, kind: Kind, tokens: u32, bound: u32) {
        self.add(kind, tokens, bound);
        self.passing = self.passing.saturating_add(tokens);
    }

    /// Bills a result as what it is after `several_calls` or one.
    pub fn follow(&mut self, several_calls: bool) {
        let (tokens, bound) = std::mem::take(&mut self.joint);
        if several_calls {
            let at = Kind::ToolResults as usize;
            self.tokens[at] = self.tokens[at].saturating_add_signed(tokens);
            self.bound[at] = self.bound[at].saturating_add(bound).max(self.tokens[at]);
        }
    }

    /// Corrects hidden thinking in a reply that was billed `output` tokens: what the visible part
    /// doesn't explain of them, if that is near the estimate. Otherwise another reply was billed.
    pub fn correct_thinking(&mut self, output: u32) {
        const NEAR: f64 = 1.5;
        const SLACK: f64 = 20.0;
        let seen = self.tokens().saturating_sub(self.passing + self.of(Kind::Overhead));
        let (estimate, hidden) = (f64::from(self.passing), f64::from(output) - f64::from(seen));
        let is_near = hidden <= (estimate * NEAR).max(estimate + SLACK)
            && hidden >= (estimate / NEAR).min(estimate - SLACK).max(1.0);
        if is_near && self.has_hidden_thinking() {
            self.set_passing(hidden as u32);
        }
    }

    /// Corrects hidden thinking in messages that were billed so many tokens more than estimated:
    /// it is what was uncertain.
    pub fn settle_thinking(&mut self, difference: i64) {
        if self.has_hidden_thinking() {
            let passing = i64::from(self.passing);
            self.set_passing((passing + difference).clamp(0, 2 * passing) as u32);
        }
    }

    const fn has_hidden_thinking(&self) -> bool {
        self.passing > 0 && self.caveats.contains(Caveats::OPAQUE_REASONING)
    }

    fn set_passing(&mut self, tokens: u32) {
        let at = Kind::Reasoning as usize;
        self.tokens[at] = self.tokens[at].saturating_sub(self.passing).saturating_add(tokens);
        self.bound[at] = self.bound[at].max(self.tokens[at]);
        self.passing = tokens;
    }

    /// Adds `tokens` of a kind; the bound is `margin` (such as 0.05) above them, rounded up.
    pub fn add_with_margin(&mut self, kind: Kind, tokens: u32, margin: f64) {
        self.add(kind, tokens, (f64::from(tokens) * (1.0 + margin)).ceil() as u32);
    }

    /// Raises the bound of every kind to that of another count of the same thing.
    pub fn cover(&mut self, other: &Self) {
        for (bound, other) in self.bound.iter_mut().zip(other.bound) {
            *bound = other.max(*bound);
        }
        self.joint.1 = self.joint.1.max(other.joint.1);
        self.caveats.insert(other.caveats);
    }

    /// The best estimate.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        self.tokens.iter().fold(0, |sum, tokens| sum.saturating_add(*tokens))
    }

    /// The number to budget on.
    #[must_use]
    pub fn upper_bound(&self) -> u32 {
        self.bound.iter().fold(0, |sum, bound| sum.saturating_add(*bound))
    }

    /// The best estimate of one kind.
    #[must_use]
    pub const fn of(&self, kind: Kind) -> u32 {
        self.tokens[kind as usize]
    }

    /// The upper bound of one kind.
    #[must_use]
    pub const fn bound_of(&self, kind: Kind) -> u32 {
        self.bound[kind as usize]
    }

    /// The kind that adds most to the bound, if any does.
    #[must_use]
    pub fn weakest(&self) -> Option<Kind> {
        let slack = |kind: Kind| self.bound[kind as usize] - self.tokens[kind as usize];
        Kind::ALL.into_iter().max_by_key(|kind| slack(*kind)).filter(|kind| slack(*kind) > 0)
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |mut sum, tally| {
            sum += tally;
            sum
        })
    }
}

/// Adds what comes next in the prompt.
impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.several_calls = other.several_calls.or(self.several_calls);
        if other.opens_turn {
            self.passed = self.passed.saturating_add(self.passing);
            self.passing = 0;
            self.opens_turn = true;
        }
        self.passed = self.passed.saturating_add(other.passed);
        self.passing = self.passing.saturating_add(other.passing);
        for kind in Kind::ALL {
            self.add(kind, other.tokens[kind as usize], other.bound[kind as usize]);
        }
        self.caveats.insert(other.caveats);
    }
}
