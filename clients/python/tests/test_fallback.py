"""The local bound: never below what the server says, and none where the prompt doesn't say."""

import json
from typing import Any

import pytest

from tests.conftest import Connect
from tests.test_cases import CASES, names, request_of
from tokencount import Client, TokenCountError
from tokencount.requests import FormatName
from tokencount.v1 import SOURCE_CHARACTERS, Message, Part, Prompt, Role

NOWHERE = "127.0.0.1:1"
TEXTS = [
    "",
    "plain words",
    "\ufdfa" * 400,  # one letter that some vocabularies write out as eighteen
    "\U0001f9d1\u200d\U0001f680" * 100,
    "\u0b95\u0bcd\u0bb7\u0bcc" * 100,
    "\u9f98\u9750\u9f49" * 100,
    "\x00\x01\x02" * 100,
    "\n\n\t " * 100,
    "<|endoftext|>" * 100,
    "3.14,[]{}:" * 100,
]


def unreachable() -> pytest.RaisesExc[TokenCountError]:
    return pytest.raises(TokenCountError, check=lambda error: error.unreachable)


def chat(content: object) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": content}]}


@pytest.fixture
def stranded(connect: Connect) -> Any:
    with connect(NOWHERE, timeout=0.05, fallback="characters") as client:
        yield client


@pytest.mark.parametrize("case", CASES["conversations"], ids=names)
def test_the_bound_holds_for_bodies(client: Client, stranded: Client, case: dict[str, Any]) -> None:
    prompt = request_of(case, case["body"])
    assert stranded.count(prompt).upper_bound >= client.count(prompt).upper_bound


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-3.5-turbo", "claude-sonnet-4-5", "gemini-3-pro"])
def test_the_bound_holds_for_texts(client: Client, stranded: Client, text: str, model: str) -> None:
    body = {**chat(text), "model": model}
    local = stranded.estimate(body, "openai_chat")
    assert local.upper_bound >= client.count(body, "openai_chat").tokens
    assert local.tokens <= local.upper_bound
    assert local.source == SOURCE_CHARACTERS
    assert [warning.code for warning in local.warnings] == ["local_fallback"]


HIDDEN: list[tuple[FormatName, dict[str, Any]]] = [
    ("openai_chat", chat([{"type": "image_url", "image_url": {"url": "https://example.org/a"}}])),
    ("openai_chat", {**chat("hi"), "web_search_options": {}}),
    ("openai_responses", {"input": "hi", "previous_response_id": "resp_1"}),
    ("openai_responses", {"input": [{"id": "msg_1"}]}),
    ("openai_responses", {"input": "hi", "tools": [{"type": "web_search"}]}),
    ("anthropic", {"messages": [], "tools": [{"type": "computer_20250124", "name": "computer"}]}),
    ("anthropic", {"messages": [{"content": [{"type": "tool_result", "content": [
        {"type": "image", "source": {"type": "url", "url": "https://example.org"}}]}]}]}),
    ("gemini", {"contents": [{"parts": [{"fileData": {"fileUri": "gs://a/b"}}]}]}),
    ("gemini", {"contents": [], "cachedContent": "cachedContents/1"}),
    ("gemini", {"contents": [], "tools": [{"googleSearch": {}}]}),
    ("bedrock_converse", {"messages": [{"content": [{"document": {"name": "a"}}]}]}),
    ("anthropic", {"tools": [{"name": "a", "input_schema": {"$ref": "#/x"}}]}),
]  # fmt: skip


@pytest.mark.parametrize(("format", "body"), HIDDEN)
def test_what_is_not_in_the_prompt_has_no_bound(
    stranded: Client, format: FormatName, body: dict[str, Any]
) -> None:
    with unreachable():
        stranded.count(body, format, "some-model")


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"\xff"], ids=["broken", "deep", "bytes"])
def test_what_is_not_json_has_no_bound(stranded: Client, body: bytes) -> None:
    with unreachable():
        stranded.count(body, "openai_chat")


def test_data_of_the_program_may_have_any_field(stranded: Client) -> None:
    schema = {"type": "object", "properties": {"image": {"type": "string"}}}
    tools = [{"name": "draw", "input_schema": schema}]
    call = {"type": "tool_use", "id": "1", "name": "draw", "input": {"image": "a"}}
    body = {"tools": tools, "messages": [{"role": "assistant", "content": [call]}]}
    assert stranded.count(body, "anthropic").upper_bound > len(json.dumps(body))


def test_a_typed_prompt_has_a_bound_unless_it_holds_media(stranded: Client) -> None:
    message = Message(role=Role.ROLE_USER, parts=[Part(text="hi")])
    assert stranded.count(Prompt(model="gpt-4o", messages=[message])).upper_bound > 2048
    message.parts.add().image.uri = "https://example.org/a.png"
    with unreachable():
        stranded.count(Prompt(model="gpt-4o", messages=[message]))


def test_a_conversation_falls_back_to_its_whole_body(stranded: Client) -> None:
    conversation = stranded.conversation(chat("hi"), "openai_chat")
    first = conversation.estimate()
    conversation.add({"role": "user", "content": "x" * 1000})
    assert conversation.estimate().upper_bound > first.upper_bound + 1000


def test_a_part_of_a_prompt_has_no_bound(stranded: Client) -> None:
    with unreachable():
        stranded.estimate(chat("hi"), "openai_chat", base=b"key")


def test_nothing_falls_back_unasked(connect: Connect) -> None:
    with connect(NOWHERE, timeout=0.05) as client, unreachable():
        client.count(chat("hi"), "openai_chat")
