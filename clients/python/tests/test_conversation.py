"""The conversation object: it sends only what is new, and everything when it must."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from tests.conftest import Connect
from tests.server import Server
from tokencount import Client, Conversation
from tokencount.v1 import SOURCE_DELTA, SOURCE_ESTIMATED, SOURCE_EXACT

SYSTEM = {"role": "system", "content": "You teach geography."}
QUESTION = {"role": "user", "content": "And one in Laos?"}
ANSWER = {"role": "assistant", "content": "The Ucayali."}
USAGE = {"prompt_tokens": 30, "completion_tokens": 6}


def start(client: Client, about: str) -> Conversation:
    # The server is shared: without a question of its own, a test would find another one's bill.
    question = {"role": "user", "content": f"Name a river in Peru, said {about}."}
    return client.conversation({"model": "gpt-4o", "messages": [SYSTEM, question]}, "openai_chat")


def test_turns_send_only_what_is_new(client: Client, request: pytest.FixtureRequest) -> None:
    conversation = start(client, request.node.name)
    assert conversation.estimate().source == SOURCE_ESTIMATED
    assert conversation.record(USAGE, ANSWER).billed_tokens == 30
    conversation.add(QUESTION)
    turn = conversation.estimate(per_message=True)
    assert (turn.source, len(turn.messages)) == (SOURCE_DELTA, 1)
    assert 36 <= turn.known_tokens < turn.tokens
    assert conversation.record({"prompt_tokens": 46, "completion_tokens": 5}, ANSWER).learned
    conversation.add([QUESTION])
    turn = conversation.estimate(per_message=True)
    assert len(turn.messages) == 1
    assert 51 <= turn.known_tokens < turn.tokens
    assert len(conversation.body["messages"]) == 6  # type: ignore[arg-type]


def test_an_estimate_may_be_repeated(client: Client, request: pytest.FixtureRequest) -> None:
    conversation = start(client, request.node.name)
    assert conversation.estimate().tokens == conversation.estimate().tokens
    conversation.record({"prompt_tokens": 30})
    assert (conversation.estimate().source, conversation.estimate().tokens) == (SOURCE_EXACT, 30)


def test_a_failed_call_teaches_nothing(client: Client, request: pytest.FixtureRequest) -> None:
    conversation = start(client, request.node.name)
    assert not conversation.record(failed=True).learned
    assert conversation.estimate().source == SOURCE_ESTIMATED


def add_tool(body: dict[str, Any]) -> None:
    body["tools"] = [{"type": "function", "function": {"name": "look"}}]


def add_instruction(body: dict[str, Any]) -> None:
    body["messages"].append({"role": "system", "content": "Now in French."})


@pytest.mark.parametrize("change", [add_tool, add_instruction])
def test_a_change_that_new_messages_cannot_say_sends_everything(
    client: Client, request: pytest.FixtureRequest, change: Callable[[dict[str, Any]], None]
) -> None:
    conversation = start(client, request.node.name)
    conversation.record(USAGE, ANSWER)
    change(conversation.body)
    whole = client.estimate(conversation.body, "openai_chat")
    turn = conversation.estimate(per_message=True)
    assert turn.tokens == whole.tokens
    assert len(turn.messages) > 1


def test_a_server_that_forgot_gets_everything(connect: Connect) -> None:
    with ExitStack() as stack:
        with Server() as first:
            client = stack.enter_context(connect(first.address))
            recorded, estimated = start(client, "one"), start(client, "two")
            recorded.record(USAGE, ANSWER)
            estimated.estimate()
        stack.enter_context(Server(first.port))
        assert recorded.estimate().source == SOURCE_ESTIMATED
        assert estimated.record(USAGE, ANSWER).learned
        estimated.add(QUESTION)
        assert estimated.estimate().source == SOURCE_DELTA
