"""What the engine answers, as Python values.

The fields mean what the messages of `tokencount/v1/token_counter_service.proto` say, under the same
names.
"""

import enum
from dataclasses import dataclass
from typing import Self

from tokencount.v1 import token_counter_service_pb2 as wire


class Source(enum.Enum):
    """What an answer rests on, best first."""

    EXACT = "exact"
    """The provider's own number for this very prompt."""
    DELTA = "delta"
    """A recorded total of a prefix, and an estimate of what is new."""
    SHARES = "shares"
    """Recorded shares of single messages, whose prefix is not known."""
    ESTIMATED = "estimated"
    """A count of the text through the profile's rules."""
    CHARACTERS = "characters"
    """A bound from the number of characters, for want of a vocabulary."""


@dataclass(frozen=True)
class Warning:
    """Something that the answer could not take fully into account."""

    code: str
    message: str
    field: str


@dataclass(frozen=True)
class MessageCount:
    """The cost of one message."""

    tokens: int
    upper_bound: int


@dataclass(frozen=True)
class Breakdown:
    """The tokens by kind. They add up to the count's `tokens`."""

    system: int
    tools: int
    response_schema: int
    user: int
    assistant: int
    tool_calls: int
    tool_results: int
    reasoning: int
    media: int
    overhead: int


@dataclass(frozen=True)
class Accuracy:
    """How close a profile's tokens came to the bills of recorded requests."""

    rows: int
    exact_share: float
    median_error: float
    p95_error: float


@dataclass(frozen=True)
class Count:
    """How many tokens a prompt costs, and how sure that is. Budget on `upper_bound`."""

    tokens: int
    upper_bound: int
    known_tokens: int
    estimated_tokens: int
    new_messages: int
    source: Source
    encoding: str
    profile: str
    prefix_key: bytes
    messages: tuple[MessageCount, ...]
    breakdown: Breakdown
    context_window: int
    context_used: float
    warnings: tuple[Warning, ...]
    weakest_part: str
    accuracy: Accuracy | None

    @classmethod
    def of(cls, count: wire.Count) -> Self:
        """The wire's count."""
        parts, accuracy = count.breakdown, count.accuracy
        return cls(
            tokens=count.tokens,
            upper_bound=count.upper_bound,
            known_tokens=count.known_tokens,
            estimated_tokens=count.estimated_tokens,
            new_messages=count.new_messages,
            source=Source(wire.Source.Name(count.source).removeprefix("SOURCE_").lower()),
            encoding=count.encoding,
            profile=count.profile,
            prefix_key=count.prefix_key,
            messages=tuple(MessageCount(one.tokens, one.upper_bound) for one in count.messages),
            breakdown=Breakdown(**{name: getattr(parts, name) for name in Breakdown.__annotations__}),
            context_window=count.context_window,
            context_used=count.context_used,
            warnings=_warnings(count),
            weakest_part=count.weakest_part,
            accuracy=Accuracy(accuracy.rows, accuracy.exact_share, accuracy.median_error, accuracy.p95_error)
            if count.HasField("accuracy")
            else None,
        )


@dataclass(frozen=True)
class Record:
    """How good the estimate was, and where the next turn starts."""

    billed_tokens: int
    estimated_tokens: int
    error: float
    within_bound: bool
    learned: bool
    prefix_key: bytes
    warnings: tuple[Warning, ...]

    @classmethod
    def of(cls, answer: wire.RecordActualResponse) -> Self:
        """The wire's answer."""
        return cls(
            billed_tokens=answer.billed_tokens,
            estimated_tokens=answer.estimated_tokens,
            error=answer.error,
            within_bound=answer.within_bound,
            learned=answer.learned,
            prefix_key=answer.prefix_key,
            warnings=_warnings(answer),
        )


def _warnings(answer: wire.Count | wire.RecordActualResponse) -> tuple[Warning, ...]:
    return tuple(Warning(one.code, one.message, one.field) for one in answer.warnings)
