"""The cases that all client packages share."""

import base64
import json
from typing import Any

import pytest

from tests.server import REPOSITORY
from tokencount import Client, TokenCountError
from tokencount.v1 import SOURCE_DELTA, SOURCE_ESTIMATED, Format, ProviderRequest

CASES = json.loads((REPOSITORY / "tests/cases/clients.json").read_text())


def names(case: dict[str, Any]) -> str:
    return case["name"]


def request_of(case: dict[str, Any], body: object) -> ProviderRequest:
    text = body if isinstance(body, str) else json.dumps(body)
    return ProviderRequest(format=Format.Value(case["format"]), model=case["model"], body=text.encode())


@pytest.mark.parametrize("case", CASES["conversations"], ids=names)
def test_a_conversation_rests_on_what_was_billed(client: Client, case: dict[str, Any]) -> None:
    prompt = request_of(case, case["body"])
    count = client.count(prompt)
    assert 0 < count.tokens <= count.upper_bound
    assert count.source == SOURCE_ESTIMATED
    assert client.estimate(prompt).prefix_key
    answer = client.record(prompt, usage=case["usage"], reply=case["reply"])
    assert answer.learned
    assert answer.billed_tokens == case["billed_tokens"]
    turn = client.estimate(request_of(case, case["next_body"]), base=answer.prefix_key)
    assert turn.source == SOURCE_DELTA
    assert turn.new_messages == 1
    assert case["known_tokens"] <= turn.known_tokens < turn.tokens <= turn.upper_bound


@pytest.mark.parametrize("case", CASES["errors"], ids=names)
def test_an_error_has_a_reason(client: Client, case: dict[str, Any]) -> None:
    prompt = request_of(case, case["body_text"])
    base = base64.b64decode(case["base64"])
    with pytest.raises(TokenCountError) as raised:
        client.count(prompt) if case["call"] == "count" else client.estimate(prompt, base=base)
    error = raised.value
    assert (error.code.name, error.reason, error.field) == (
        case["code"],
        case["reason"],
        case["field"],
    )
    assert error.message
    assert str(error).startswith(f"{case['code']} {case['reason']}: ")
