"""Plays pairs of requests of one conversation: records what the first was billed, estimates the second.

The reply between them is what the second request holds of it. Played twice: with the reply given beside
the bill, so that the next turn starts from input and output together, and with the bill alone. Every
pair has a store of its own: nothing is learned from one pair for another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from benchmarks.accuracy.counts import Counted, with_images
from benchmarks.accuracy.progress import shown
from benchmarks.accuracy.rows import Pair, Row
from tokencount.requests import MESSAGES
from tokencountd import Engine, Usage

_REPLIES = {"assistant", "model"}
_REPLY_ITEMS = {"reasoning", "function_call", "custom_tool_call"}


@dataclass(frozen=True)
class Played:
    """The second requests, as estimated."""

    with_reply: list[Counted]
    bill_alone: list[Counted]
    without_rows: int
    """Pairs of which a request is not among the rows."""


def play(pairs: Sequence[Pair], rows: Mapping[str, Row]) -> Played:
    """Plays every pair whose requests are there."""
    present = [pair for pair in pairs if pair.previous in rows and pair.following in rows]
    played = Played([], [], len(pairs) - len(present))
    for pair in shown(present, "turns"):
        following = replace(rows[pair.following], billed=pair.following_input)
        previous = rows[pair.previous]
        reply = list(_reply(previous, following))
        played.with_reply.append(_turn(pair, previous, following, reply))
        played.bill_alone.append(_turn(pair, previous, following, []))
    return played


def _turn(pair: Pair, previous: Row, following: Row, reply: Sequence[Any]) -> Counted:
    usage = Usage(pair.previous_input, pair.previous_output)
    with Engine() as engine:
        engine.record(
            with_images(previous.body),
            usage=usage,
            reply=_as_reply(previous, reply) if reply else None,
            format=previous.format,
            model=_model(previous),
        )
        count = engine.estimate(with_images(following.body), format=following.format, model=_model(following))
    return Counted(following, count.tokens, count.upper_bound, count.profile)


def _reply(previous: Row, following: Row) -> Iterator[Any]:
    """The messages after the previous ones, as long as they are the model's."""
    new = _messages(following)[len(_messages(previous)) :]
    for message in new:
        if message.get("role") not in _REPLIES and message.get("type") not in _REPLY_ITEMS:
            return
        yield message


def _as_reply(row: Row, messages: Sequence[Any]) -> Any:
    """The reply in the provider's form: a list of items for Responses, else one message."""
    return list(messages) if row.format == "openai_responses" else messages[0]


def _messages(row: Row) -> list[Any]:
    messages: Any = row.body.get(MESSAGES[row.format]) or []
    return cast("list[Any]", messages) if isinstance(messages, list) else [messages]


def _model(row: Row) -> str:
    """The model, for bodies that don't name it."""
    return "" if "model" in row.body else row.model
