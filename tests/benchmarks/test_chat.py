"""What other counters are given: one conversation, in every provider's form, becomes one chat."""

import json
from typing import Any, cast

import pytest
from benchmarks.accuracy import cookbook
from benchmarks.accuracy.chat import chat
from benchmarks.accuracy.rows import FORMATS

from tokencountd.prompt import Format

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "Where."}}}
PICTURE = "data:image/png;base64,aGk="

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Weather here?"},
            {"type": "image_url", "image_url": {"url": PICTURE}},
        ],
    },
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bern"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Sun."},
]
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Weather.", "parameters": SCHEMA}}
]
NAMED = {"type": "function", "function": {"name": "weather"}}

BODIES: dict[Format, dict[str, Any]] = {
    "openai_chat": {"messages": MESSAGES, "tools": TOOLS, "tool_choice": NAMED},
    "openai_responses": {
        "instructions": "Be brief.",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Weather here?"},
                    {"type": "input_image", "image_url": PICTURE},
                ],
            },
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Bern"}'},
            {"type": "function_call_output", "call_id": "c1", "output": "Sun."},
        ],
        "tools": [
            {"type": "function", "name": "weather", "description": "Weather.", "parameters": SCHEMA},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "function", "name": "weather"},
    },
    "anthropic": {
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Weather here?"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Bern"}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Sun."}],
            },
        ],
        "tools": [{"name": "weather", "description": "Weather.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "weather"},
    },
    "gemini": {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "parts": [
                    {"text": "Weather here?"},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                ]
            },
            {
                "role": "model",
                "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Bern"}}}],
            },
            {"role": "user", "parts": [{"functionResponse": {"id": "c1", "response": "Sun."}}]},
        ],
        "tools": [
            {"functionDeclarations": [{"name": "weather", "description": "Weather.", "parameters": SCHEMA}]}
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "any"}},
    },
    "bedrock_converse": {
        "system": [{"text": "Be brief."}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Weather here?"},
                    {"image": {"format": "png", "source": {"bytes": "aGk="}}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Bern"}}}],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "Sun."}]}}],
            },
        ],
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "weather",
                        "description": "Weather.",
                        "inputSchema": {"json": SCHEMA},
                    }
                }
            ],
            "toolChoice": {"tool": {"name": "weather"}},
        },
    },
}


def bare(value: Any) -> Any:
    """Without what only some forms say: empty contents, and a picture's detail."""
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            return {key: bare(item) for key, item in fields.items() if item != [] and key != "detail"}
        case list():
            return [bare(item) for item in cast("list[Any]", value)]
        case _:
            return value


@pytest.mark.parametrize("format", FORMATS.values())
def test_every_form_is_one_chat(format: Format) -> None:
    made = chat(format, "some-model", BODIES[format])
    assert made["model"] == "some-model"
    assert bare(made["messages"]) == MESSAGES
    assert made["tools"] == TOOLS
    # Gemini's mode names no function.
    assert made["tool_choice"] == ("required" if format == "gemini" else NAMED)


def test_what_has_no_place_is_its_json() -> None:
    block = {"type": "search_result", "title": "Bern"}
    body = {"messages": [{"role": "user", "content": [block]}]}
    assert chat("anthropic", "m", body)["messages"] == [{"role": "user", "content": json.dumps(block)}]


Declared = tuple[str, str, dict[str, Any]]
"""A function's name, description and properties."""


def words(text: str) -> int:
    return len(text.split())


FORMULA: list[tuple[str, list[Any], list[Declared], int]] = [
    ("gpt-4o", [], [], 3),
    ("gpt-4o", [{"role": "user", "content": "one two"}], [], 3 + 3 + 1 + 2),
    ("gpt-4o", [{"role": "user", "name": "Ann", "content": "one"}], [], 3 + 3 + 1 + 1 + 1 + 1),
    # A function: 7 and "name:description"; its properties: 3; each: 3 and "name:type:description";
    # an enum: -3, each item 3 and its text; all functions: 12.
    ("gpt-4o", [], [("f", "Does it.", {})], 3 + 7 + 2 + 12),
    ("gpt-4-0613", [], [("f", "Does it.", {})], 3 + 10 + 2 + 12),
    ("gpt-4.1", [], [("f", "Does it.", {"a": {"type": "string"}})], 3 + 7 + 2 + 3 + 3 + 1 + 12),
    (
        "gpt-4o",
        [],
        [("f", "It.", {"a": {"enum": ["x", "y z"]}})],
        3 + 7 + 1 + 3 + (3 + 1) + (-3 + 6 + 3) + 12,
    ),
]


@pytest.mark.parametrize(("model", "messages", "tools", "tokens"), FORMULA)
def test_the_cookbooks_formula(model: str, messages: list[Any], tools: list[Declared], tokens: int) -> None:
    declared = [
        {"function": {"name": name, "description": described, "parameters": {"properties": properties}}}
        for name, described, properties in tools
    ]
    assert cookbook.tokens(words, model, messages, declared) == tokens
