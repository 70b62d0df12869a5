"""Builds the contract's requests from what a program has at hand."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from tokencount.v1 import (
    FORMAT_ANTHROPIC,
    FORMAT_BEDROCK_CONVERSE,
    FORMAT_GEMINI,
    FORMAT_GEMINI_VERTEX,
    FORMAT_OPENAI_CHAT,
    FORMAT_OPENAI_RESPONSES,
    STATUS_FAILED,
    STATUS_SUCCEEDED,
    CountMessagesRequest,
    CountMessagesStreamRequest,
    EstimateConversationRequest,
    Format,
    Message,
    Prompt,
    ProviderRequest,
    RecordActualRequest,
    Reply,
    Usage,
)

FormatName = Literal[
    "openai_chat", "openai_responses", "anthropic", "gemini", "gemini_vertex", "bedrock_converse"
]
"""A provider's interface."""

FORMATS: Mapping[FormatName, Format.ValueType] = {
    "openai_chat": FORMAT_OPENAI_CHAT,
    "openai_responses": FORMAT_OPENAI_RESPONSES,
    "anthropic": FORMAT_ANTHROPIC,
    "gemini": FORMAT_GEMINI,
    "gemini_vertex": FORMAT_GEMINI_VERTEX,
    "bedrock_converse": FORMAT_BEDROCK_CONVERSE,
}
"""The contract's number of every interface."""

MESSAGES: Mapping[FormatName, str] = {
    "openai_chat": "messages",
    "openai_responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "gemini_vertex": "contents",
    "bedrock_converse": "messages",
}
"""The field of a body that holds its messages."""

Object = Mapping[str, object]
"""A JSON object."""
PromptLike = Prompt | ProviderRequest | Object | bytes
"""A prompt: typed, or the provider's request body as a mapping or as JSON text in UTF-8."""
PromptOfSet = PromptLike | tuple[str, PromptLike]
"""A prompt of a data set, alone or after the caller's id of it."""
UsageLike = Usage | Object | bytes
"""A bill: typed (cached tokens inside `input_tokens`), or the provider's usage or response."""
ReplyLike = Message | Object | Sequence[Object] | bytes
"""A reply: typed, or the provider's response, or the message (or list of items) inside it."""


class _PromptField(TypedDict, total=False):
    typed: Prompt
    provider_request: ProviderRequest


class _BillField(TypedDict, total=False):
    usage: Usage
    usage_json: bytes


def prompt_message(prompt: PromptLike, format: FormatName | None, model: str) -> Prompt | ProviderRequest:
    """Make a message of a prompt.

    Raises:
        ValueError: a provider's body without its `format`, or a message with `format` or `model`.

    """
    if isinstance(prompt, Prompt | ProviderRequest):
        if format or model:
            raise ValueError("format and model belong inside a message of the contract")
        return prompt
    if format is None:
        raise ValueError(f"format is required with a provider's body: one of {', '.join(FORMATS)}")
    return ProviderRequest(format=FORMATS[format], model=model, body=json_bytes(prompt))


def count(prompt: Prompt | ProviderRequest, per_message: bool) -> CountMessagesRequest:
    """Ask for the count of a prompt."""
    return CountMessagesRequest(**_prompt_field(prompt), per_message=per_message)


def count_of_set(
    prompt: PromptOfSet, format: FormatName | None, model: str, per_message: bool
) -> CountMessagesStreamRequest:
    """Ask for the count of a prompt of a data set. Raises as `prompt_message`."""
    id, alone = prompt if isinstance(prompt, tuple) else ("", prompt)
    request = count(prompt_message(alone, format, model), per_message)
    return CountMessagesStreamRequest(id=id, count_messages=request)


def estimate(prompt: Prompt | ProviderRequest, base: bytes, per_message: bool) -> EstimateConversationRequest:
    """Ask for the next turn's cost."""
    return EstimateConversationRequest(**_prompt_field(prompt), base=base, per_message=per_message)


def record(
    prompt: Prompt | ProviderRequest | None,
    base: bytes,
    usage: UsageLike | None,
    reply: ReplyLike | None,
    failed: bool,
) -> RecordActualRequest:
    """Report what the provider billed."""
    return RecordActualRequest(
        **_prompt_field(prompt),
        **_bill_field(usage),
        base=base,
        status=STATUS_FAILED if failed else STATUS_SUCCEEDED,
        reply=_reply(reply),
    )


def json_bytes(value: object) -> bytes:
    """Write JSON; bytes are taken to be JSON already."""
    if isinstance(value, bytes):
        return value
    # Escaped, since text may hold lone surrogates, which UTF-8 can't.
    return json.dumps(value, separators=(",", ":")).encode()


def _prompt_field(prompt: Prompt | ProviderRequest | None) -> _PromptField:
    match prompt:
        case None:
            return {}
        case Prompt():
            return {"typed": prompt}
        case ProviderRequest():
            return {"provider_request": prompt}


def _bill_field(usage: UsageLike | None) -> _BillField:
    if usage is None:
        return {}
    return {"usage": usage} if isinstance(usage, Usage) else {"usage_json": json_bytes(usage)}


def _reply(reply: ReplyLike | None) -> Reply | None:
    if reply is None:
        return None
    return Reply(message=reply) if isinstance(reply, Message) else Reply(json=json_bytes(reply))
