"""Python values as messages of the wire."""

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar

from google.protobuf.message import Message as Wire

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import usage_pb2
from tokencountd import prompt as py

_T = TypeVar("_T", bound=Wire)

_KINDS: dict[type, tuple[str, Any]] = {
    py.Image: ("image", pb.Media),
    py.Audio: ("audio", pb.Media),
    py.File: ("file", pb.Media),
    py.Video: ("video", pb.Media),
    py.ToolCall: ("tool_call", pb.ToolCall),
    py.Reasoning: ("reasoning", pb.Reasoning),
}


def _same(kind: type[_T], value: Any, **instead: Any) -> _T:
    """A message whose fields have the names of the value's; empty ones stay out."""
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    fields.update(instead)
    return kind(**{name: given for name, given in fields.items() if given})


def _parts(parts: Iterable[py.Part]) -> list[pb.Part]:
    # A bare string is a sequence of its letters, and a likely slip.
    return [_part(part) for part in ([parts] if isinstance(parts, str) else parts)]


def _part(part: py.Part) -> pb.Part:
    if isinstance(part, str):
        return pb.Part(text=part)
    if isinstance(part, py.ToolResult):
        return pb.Part(tool_result=_same(pb.ToolResult, part, parts=_parts(part.parts)))
    field, kind = _KINDS[type(part)]
    return pb.Part(**{field: _same(kind, part)})


def message(value: py.Message) -> pb.Message:
    """A turn."""
    role = pb.Role.Value(f"ROLE_{value.role.upper()}")
    return _same(pb.Message, value, role=role, parts=_parts(value.parts))


def format_number(name: str | None) -> "pb.Format.ValueType":
    """An interface by its name; raises `ValueError` for an unknown one."""
    return pb.Format.Value(f"FORMAT_{name.upper()}") if name else pb.FORMAT_UNSPECIFIED


def prompt(value: py.Prompt) -> pb.Prompt:
    """A prompt."""
    choice, schema = value.tool_choice, value.response_schema
    return _same(
        pb.Prompt,
        value,
        messages=[message(one) for one in value.messages],
        system=_parts(value.system),
        tools=[_same(pb.Tool, tool) for tool in value.tools],
        tool_choice=choice
        and _same(
            pb.ToolChoice, choice, mode=pb.ToolChoiceMode.Value(f"TOOL_CHOICE_MODE_{choice.mode.upper()}")
        ),
        response_schema=schema and _same(pb.ResponseSchema, schema),
        format=format_number(value.format),
    )


def usage(value: py.Usage) -> usage_pb2.Usage:
    """A bill."""
    return _same(usage_pb2.Usage, value)
