"""A prompt as Python values, for programs that have no provider's body at hand.

The fields mean what the messages of `tokencount/v1/prompt.proto` say, under the same names; a plain
`str` stands for a text part. A prompt made of these counts the same as the provider's body that
says the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Format = Literal[
    "openai_chat", "openai_responses", "anthropic", "gemini", "gemini_vertex", "bedrock_converse"
]
"""A provider's interface."""

RoleName = Literal["user", "assistant", "system", "tool", "developer"]
"""Who speaks."""


@dataclass(frozen=True, kw_only=True)
class _Media:
    """Give `data` or `uri`. 0 and empty mean unknown."""

    data: bytes = b""
    uri: str = ""
    mime_type: str = ""
    width: int = 0
    height: int = 0
    duration_seconds: float = 0.0
    pages: int = 0
    detail: str = ""
    filename: str = ""


class Image(_Media):
    """A picture."""


class Audio(_Media):
    """A recording."""


class File(_Media):
    """A document, such as a PDF."""


class Video(_Media):
    """A film."""


@dataclass(frozen=True)
class ToolCall:
    """A call that the model made; `arguments` is JSON text."""

    name: str
    arguments: str = "{}"
    id: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What a call gave: texts and media."""

    parts: "Sequence[Part]"
    call_id: str = ""
    name: str = ""
    is_error: bool = False


@dataclass(frozen=True)
class Reasoning:
    """The model's thinking, as it is sent back."""

    text: str = ""
    signature: str = ""


Part = str | Image | Audio | File | Video | ToolCall | ToolResult | Reasoning
"""One piece of a message."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: RoleName
    parts: Sequence[Part]
    name: str = ""


@dataclass(frozen=True)
class Tool:
    """A function that the model may call; `parameters` is its JSON schema as text."""

    name: str
    description: str = ""
    parameters: str = ""
    strict: bool = False


@dataclass(frozen=True)
class ToolChoice:
    """How the model may use the tools; `name` goes with "named"."""

    mode: Literal["auto", "none", "required", "named"] = "auto"
    name: str = ""
    no_parallel: bool = False


@dataclass(frozen=True)
class ResponseSchema:
    """The schema that the answer must follow, as JSON text."""

    schema: str
    name: str = ""
    description: str = ""
    strict: bool = False


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is sent to a model."""

    model: str = ""
    messages: Sequence[Message] = ()
    system: Sequence[Part] = ()
    tools: Sequence[Tool] = ()
    tool_choice: ToolChoice | None = None
    response_schema: ResponseSchema | None = None
    format: Format | None = None
    thinking: bool = False


@dataclass(frozen=True)
class Usage:
    """What the provider billed: `input_tokens` is everything for the prompt, cached or not."""

    input_tokens: int
    output_tokens: int = 0
    cached_input_tokens: int = 0
    reasoning_tokens: int = 0
