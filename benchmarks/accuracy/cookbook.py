"""The formula of OpenAI's cookbook for counting the tokens of a chat request.

From "How to count tokens with tiktoken" (OpenAI Cookbook, sections 6 and 7): 3 tokens for a message and
its fields' texts, 1 more for a name, 3 for the reply; for tools, constants for each function, property
and enum beside their names, types and descriptions. It is published for gpt-3.5-turbo, gpt-4 and gpt-4o;
for other models there is nothing better to take than gpt-4o's constants. Contents that are lists, and
calls, have no formula: here their texts count.
"""

# pyright: basic

import json
from collections.abc import Callable, Iterator
from typing import Any

_PER_MESSAGE = 3
_PER_NAME = 1
_REPLY = 3
_PER_FUNCTION = 7
_PER_FUNCTION_BEFORE_4O = 10
_PROPERTIES = 3
_PER_PROPERTY = 3
_ENUM = -3
_PER_ENUM_ITEM = 3
_FUNCTIONS = 12

Count = Callable[[str], int]
"""The tokens of a text."""


def tokens(count: Count, model: str, messages: list[Any], tools: list[Any]) -> int:
    """The tokens of a chat request, by the formula."""
    total = _REPLY
    for message in messages:
        total += _PER_MESSAGE + sum(count(text) for text in _texts(message))
        total += _PER_NAME if "name" in message else 0
    if not tools:
        return total
    before_4o = model.startswith(("gpt-3.5", "gpt-4")) and not model.startswith(("gpt-4o", "gpt-4.1"))
    per_function = _PER_FUNCTION_BEFORE_4O if before_4o else _PER_FUNCTION
    return total + _FUNCTIONS + sum(per_function + _function(count, tool["function"]) for tool in tools)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a message: its fields', its parts', its calls'. A picture's data is none."""
    match value:
        case str():
            yield value
        case {"type": "image_url"}:
            return
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case _:
            return


def _function(count: Count, function: Any) -> int:
    total = count(f"{function['name']}:{_without_stop(function.get('description'))}")
    properties: dict[str, Any] = (function.get("parameters") or {}).get("properties") or {}
    if properties:
        total += _PROPERTIES
    for name, schema in properties.items():
        fields: dict[str, Any] = schema if isinstance(schema, dict) else {}
        if items := fields.get("enum"):
            total += _ENUM + sum(_PER_ENUM_ITEM + count(_text(item)) for item in items)
        described = _without_stop(fields.get("description"))
        total += _PER_PROPERTY + count(f"{name}:{_text(fields.get('type'))}:{described}")
    return total


def _without_stop(description: Any) -> str:
    return str(description or "").removesuffix(".")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
