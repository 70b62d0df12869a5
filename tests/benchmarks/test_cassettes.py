"""The converter of HTTP recordings, on cassettes of each form that we wrote."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
OPENAI = "https://api.openai.com/v1"
HELLO: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
ANSWER: dict[str, Any] = {"model": "gpt-4o-2024-08-06", "usage": {"prompt_tokens": 8, "completion_tokens": 2}}


def vcrpy(uri: str, request: Any, response: Any) -> dict[str, Any]:
    exchange = {
        "request": {"method": "POST", "uri": uri, "body": json.dumps(request)},
        "response": {"status": {"code": 200}, "body": {"string": _text(response)}},
    }
    return {"version": 1, "interactions": [exchange]}


def parsed(uri: str, request: Any, response: Any) -> dict[str, Any]:
    """As recorders write it that parse bodies."""
    exchange = {"request": {"uri": uri, "parsed_body": request}, "response": {"parsed_body": response}}
    return {"version": 1, "interactions": [exchange]}


def zipped(uri: str, request: Any, response: Any) -> dict[str, Any]:
    """As it came over the wire."""
    cassette = vcrpy(uri, request, response)
    cassette["interactions"][0]["response"]["body"]["string"] = gzip.compress(_text(response).encode())
    return cassette


def ruby(uri: str, request: Any, response: Any) -> dict[str, Any]:
    exchange = {
        "request": {"uri": uri, "body": {"encoding": "UTF-8", "string": json.dumps(request)}},
        "response": {"body": {"encoding": "UTF-8", "string": _text(response)}},
    }
    return {"http_interactions": [exchange]}


def go(uri: str, request: Any, response: Any) -> dict[str, Any]:
    exchange = {
        "request": {"url": uri, "body": json.dumps(request)},
        "response": {"body": _text(response), "code": 200},
    }
    return {"version": 2, "interactions": [exchange]}


def _text(response: Any) -> str:
    return response if isinstance(response, str) else json.dumps(response)


def stream(*events: Any) -> str:
    return "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def convert(directory: Path, *cassettes: dict[str, Any]) -> list[dict[str, Any]]:
    for number, cassette in enumerate(cassettes):
        (directory / f"{number}.yaml").write_text(yaml.safe_dump(cassette))
    command = [sys.executable, "-m", "benchmarks.accuracy.cassettes", f"we/us={directory}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("cassette", [vcrpy, parsed, zipped, ruby, go])
def test_a_recording_of_each_form_is_a_row(tmp_path: Path, cassette: Any) -> None:
    [row] = convert(tmp_path, cassette(f"{OPENAI}/chat/completions", HELLO, ANSWER))
    assert row.pop("id")
    assert row == {
        "kind": "oai_chat",
        "family": "oai_chat",
        "group": "plain",
        "model": "gpt-4o",
        "request": HELLO,
        "input_tokens": 8,
        "source": "we/us:0.yaml#0",
    }


GEMINI = {"contents": [{"parts": [{"text": "hello"}]}]}
TOOLS = {"tools": [{"functionDeclarations": [{"name": "f"}]}]}
CLAUDE = {"model": "claude-sonnet-4-5", "messages": HELLO["messages"]}
CLAUDE_STARTED = {
    "type": "message_start",
    "message": {
        "model": "claude-sonnet-4-5-20250929",
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 200},
    },
}
CLAUDE_ENDED = {"type": "message_delta", "usage": {"output_tokens": 5}}
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro"
VERTEX = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/models/gemini-2.5-pro"
USED = {"usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 1}, "modelVersion": "gemini-2.5-pro"}
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse"
RESPONDED = {"type": "response.completed", "response": {"model": "gpt-4o", "usage": {"input_tokens": 9}}}


@pytest.mark.parametrize(
    ("cassette", "expected"),
    [
        (
            vcrpy(f"{OPENAI}/responses", {"model": "gpt-4o", "input": "hi"}, stream({"n": 1}, RESPONDED)),
            ("oai_resp", "oai_resp", "plain", 9),
        ),
        (
            vcrpy("https://api.anthropic.com/v1/messages", CLAUDE, stream(CLAUDE_STARTED, CLAUDE_ENDED)),
            ("anthropic", "anthropic", "plain", 213),
        ),
        (vcrpy(f"{GOOGLE}:generateContent?key=k", GEMINI | TOOLS, USED), ("gemini", "gemini", "tools", 4)),
        (vcrpy(f"{VERTEX}:streamGenerateContent", GEMINI, [USED]), ("gemini", "gemini_vertex", "plain", 4)),
        (
            vcrpy(BEDROCK, {"messages": []}, {"usage": {"inputTokens": 7, "cacheReadInputTokens": 20}}),
            ("converse", "converse", "plain", 27),
        ),
    ],
)
def test_interfaces(tmp_path: Path, cassette: dict[str, Any], expected: tuple[str, str, str, int]) -> None:
    [row] = convert(tmp_path, cassette)
    assert (row["kind"], row["family"], row["group"], row["input_tokens"]) == expected
    assert row["model"]


def test_what_the_body_does_not_decide_is_left_out(tmp_path: Path) -> None:
    responses = f"{OPENAI}/responses"
    used = {"model": "gpt-4o", "usage": {"input_tokens": 9}}
    rows = convert(
        tmp_path,
        vcrpy(f"{OPENAI}/embeddings", HELLO, ANSWER),
        vcrpy(f"{OPENAI}/chat/completions", HELLO, {**ANSWER, "model": "gpt-5"}),
        vcrpy(f"{OPENAI}/chat/completions", HELLO, {"error": {"message": "no"}}),
        vcrpy(responses, {"model": "gpt-4o", "input": "hi", "previous_response_id": "r"}, used),
        vcrpy(responses, {"model": "gpt-4o", "input": "hi", "tools": [{"type": "web_search"}]}, used),
        vcrpy(responses, {"model": "gpt-4o", "input": [{"type": "input_file", "file_id": "f"}]}, used),
        vcrpy("https://api.anthropic.com/v1/messages", CLAUDE | {"context_management": {"edits": []}}, used),
        {"interactions": None},
    )
    assert rows == []


def test_one_body_is_one_row_unless_its_bills_differ(tmp_path: Path) -> None:
    chat = f"{OPENAI}/chat/completions"
    other = HELLO | {"messages": [{"role": "user", "content": "hello again"}]}
    dearer = {**ANSWER, "usage": {"prompt_tokens": 9}}
    rows = convert(
        tmp_path,
        vcrpy(chat, HELLO, ANSWER),
        go(chat, HELLO, ANSWER),
        vcrpy(chat, other, ANSWER),
        vcrpy(chat, other, dearer),
    )
    assert [(row["request"], row["input_tokens"]) for row in rows] == [(HELLO, 8)]
