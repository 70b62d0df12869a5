"""The other counters are asked as they should be: each on the same rows, in its own process."""

from typing import Any

import pytest
from benchmarks.accuracy import peers
from benchmarks.accuracy.rows import Row

pytestmark = pytest.mark.skipif(not peers.installed(), reason="`make accuracy` installs the other counters")

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def row(body: Any) -> Row:
    return Row("a", "openai_chat", "openai_chat", "plain", "gpt-4o", body, 1)


def test_each_counts_messages_and_tools() -> None:
    hello = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
    with peers.Peers() as counters:
        plain, tools, unreadable = counters.count([row(hello), row(hello | {"tools": [TOOL]}), row([])])
    # OpenAI bills 8; ai-tokenizer has 6 tokens for the prompt where OpenAI has 3.
    assert plain == {"LiteLLM": 8, "ai-tokenizer": 11, "cookbook": 8, peers.RULE_OF_THUMB: 17}
    for name, tokens in tools.items():
        assert tokens
        assert tokens > (plain[name] or 0) + 5, name
    assert unreadable == {"LiteLLM": None, "ai-tokenizer": None, "cookbook": None, peers.RULE_OF_THUMB: 0}
