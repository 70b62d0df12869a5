"""A data set: in order, with errors among the answers, and over a restart of the server."""

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.conftest import Connect
from tests.server import Server
from tokencount import Client, TokenCountError


def body(words: int) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello " * words}]}


def test_answers_come_in_order_with_their_ids(client: Client) -> None:
    given = [(f"row {number}", body(number % 50 + 1)) for number in range(1000)]
    answers = list(client.count_many(given, "openai_chat"))
    assert [answer.id for answer in answers] == [name for name, _ in given]
    alone = [client.count(body(words + 1), "openai_chat").tokens for words in range(50)]
    assert [answer.count.tokens for answer in answers] == [alone[number % 50] for number in range(1000)]


def test_a_wrong_prompt_is_one_answer(client: Client) -> None:
    answers = list(client.count_many([body(1), ("wrong", {"model": "gpt-4o"}), b"{", body(1)], "openai_chat"))
    reasons = [answer.error and answer.error.reason for answer in answers]
    assert reasons == [None, "MISSING_FIELD", "INVALID_JSON", None]
    assert [answer.id for answer in answers] == ["", "wrong", "", ""]
    with pytest.raises(TokenCountError, match="MISSING_FIELD"):
        _ = answers[1].count


def test_what_the_prompts_raise_comes_after_the_answers(client: Client) -> None:
    def prompts() -> Iterator[dict[str, Any]]:
        yield body(1)
        raise LookupError("no more rows")

    answers = client.count_many(prompts(), "openai_chat")
    assert next(answers).count.tokens > 0
    with pytest.raises(LookupError, match="no more rows"):
        next(answers)
    assert list(client.count_many([], "openai_chat")) == []


def test_prompts_are_taken_as_they_are_needed(client: Client) -> None:
    taken = itertools.count()
    answers = client.count_many((body(next(taken) % 9 + 1) for _ in iter(int, 1)), "openai_chat")
    for _ in range(10):
        next(answers)
    answers.close()
    assert next(taken) <= 10 + 257


def test_a_restart_changes_nothing(connect: Connect) -> None:
    with ExitStack() as stack:
        with Server() as first:
            client = stack.enter_context(connect(first.address, timeout=20.0))
            given = ((str(number), body(number % 50 + 1)) for number in range(1000))
            answers = client.count_many(given, "openai_chat")
            ids = [next(answers).id for _ in range(100)]
            first.crash()
        stack.enter_context(Server(first.port))
        ids += [answer.id for answer in answers if answer.count.tokens]
        assert ids == [str(number) for number in range(1000)]


def test_a_server_that_is_not_there_is_an_error(connect: Connect) -> None:
    with Server() as server:
        pass
    with connect(server.address, timeout=0.5) as client, pytest.raises(TokenCountError, match="UNAVAILABLE"):
        list(client.count_many([body(1)], "openai_chat"))
