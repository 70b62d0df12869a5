"""The engine in process: provider bodies and dataclasses in, dataclasses out."""

import dataclasses
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from support import words

from tokencount.v1.token_counter_service_pb2 import CountMessagesRequest
from tokencountd import (
    Engine,
    Image,
    Message,
    Prompt,
    Reasoning,
    ResponseSchema,
    Source,
    StatusError,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
    encode,
)

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How far is the moon?"},
    ],
}
TYPED = Prompt(
    model="gpt-4o",
    system=["Be brief."],
    messages=[Message("user", ["How far is the moon?"])],
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.mark.parametrize(
    "body", [CHAT, json.dumps(CHAT), json.dumps(CHAT).encode()], ids=["dict", "str", "bytes"]
)
def test_a_body_in_each_form_is_one_count(engine: Engine, body: Any) -> None:
    assert engine.count(body) == engine.count(CHAT, format="openai_chat")


def test_a_typed_prompt_counts_like_the_body(engine: Engine) -> None:
    assert engine.count(TYPED).tokens == engine.count(CHAT).tokens


def test_a_count_is_whole(engine: Engine) -> None:
    count = engine.count(CHAT, per_message=True)
    assert count.source is Source.ESTIMATED
    assert count.upper_bound >= count.tokens > 10
    assert sum(dataclasses.asdict(count.breakdown).values()) == count.tokens
    assert len(count.messages) == 1
    assert (count.encoding, count.prefix_key, count.new_messages) == ("o200k_base", b"", 1)
    assert count.context_used == pytest.approx(count.upper_bound / count.context_window)
    with pytest.raises(dataclasses.FrozenInstanceError):
        count.tokens = 0  # pyright: ignore[reportAttributeAccessIssue]


def test_every_kind_of_part(engine: Engine) -> None:
    prompt = Prompt(
        model="gpt-4o",
        messages=[
            Message(
                "user", ["Look: ", Image(uri="https://example.com/a.png", width=512, height=512)], name="ann"
            ),
            Message("assistant", [Reasoning("hm"), ToolCall("find", '{"q": "moon"}', id="c1")]),
            Message("tool", [ToolResult(["384,400 km"], call_id="c1")]),
        ],
        tools=[Tool("find", "Finds.", '{"type": "object", "properties": {"q": {"type": "string"}}}')],
        tool_choice=ToolChoice("named", name="find"),
        response_schema=ResponseSchema('{"type": "object"}', name="answer"),
        format="openai_chat",
    )
    parts = engine.count(prompt).breakdown
    assert all([parts.tools, parts.user, parts.tool_calls, parts.tool_results, parts.media])


def test_three_turns(tmp_path: Path) -> None:
    with Engine(tmp_path / "store", secret=b"s") as engine:
        first = engine.estimate(CHAT)
        assert first.source is Source.ESTIMATED
        reply = {"role": "assistant", "content": "384,400 km."}
        usage = {"prompt_tokens": 30, "completion_tokens": 7, "total_tokens": 37}
        record = engine.record(CHAT, usage=usage, reply=reply)
        assert (record.billed_tokens, record.learned) == (30, True)
        new = {"messages": [{"role": "user", "content": "And the sun?"}]}
        second = engine.estimate(new, base=record.prefix_key, format="openai_chat")
        whole = {**CHAT, "messages": [*CHAT["messages"], reply, *new["messages"]]}
        assert second.source is Source.DELTA
        assert second.new_messages == 1
        assert 30 + 7 <= second.known_tokens < second.tokens
        assert engine.estimate(whole).tokens == second.tokens
        typed = engine.estimate(Prompt(messages=[Message("user", ["And the sun?"])]), base=record.prefix_key)
        assert typed.tokens == second.tokens
        assert not engine.record(base=second.prefix_key, usage=None).learned
        assert engine.record(base=second.prefix_key, usage=Usage(52, 9)).billed_tokens == 52
    with Engine(tmp_path / "store", secret=b"s") as engine:
        again = engine.estimate(whole)
        assert (again.source, again.tokens) == (Source.EXACT, 52)


def test_an_error_says_what_and_where(engine: Engine) -> None:
    with pytest.raises(StatusError, match="messages") as caught:
        engine.count({"model": "gpt-4o", "messages": []})
    error = caught.value
    assert (error.code, error.reason, error.field) == (3, "MISSING_FIELD", "provider_request.body.messages")
    with pytest.raises(StatusError) as caught:
        engine.estimate(CHAT, base=bytes(32))
    assert (caught.value.code, caught.value.reason) == (9, "PREFIX_UNKNOWN")
    with pytest.raises(StatusError) as caught:
        engine.count({"what": "is this"})
    assert caught.value.field == "provider_request.format"


def test_a_deadline_stops_a_count(engine: Engine) -> None:
    request = CountMessagesRequest(typed=encode.prompt(TYPED)).SerializeToString()
    with pytest.raises(StatusError) as caught:
        engine.core.count_messages(request, timeout=0.0)
    assert caught.value.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]


def test_values_that_are_no_json() -> None:
    with Engine() as engine, pytest.raises(ValueError, match="JSON"):
        engine.count({"messages": [float("nan")]})


def test_a_wrong_profile_table_is_an_error() -> None:
    with pytest.raises(ValueError, match=r".+"):
        Engine(profiles="not = [toml")


def test_a_closed_engine_fails(engine: Engine) -> None:
    engine.close()
    with pytest.raises(RuntimeError):
        engine.count(CHAT)
    engine.close()


def test_the_interpreter_is_free_while_the_engine_works(engine: Engine) -> None:
    text = words(400_000)
    turns = 0
    done = threading.Event()

    def work() -> None:
        engine.count(Prompt(model="gpt-4o", messages=[Message("user", [text])]))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        turns += 1
    thread.join()
    # Encoding the request holds the lock for a while; the count itself leaves many turns.
    assert turns > 10_000
