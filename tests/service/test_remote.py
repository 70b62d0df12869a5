"""Counting on a server from the command line: the same lines out as in process."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from conftest import Start
from support import PATIENCE, Daemon

from tokencountd.cli import main

COMMAND = [sys.executable, "-m", "tokencountd", "count"]
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}]}
TURN: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
CONVERSE: dict[str, Any] = {"messages": [{"role": "user", "content": [{"text": "hello"}]}]}


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Gives signals back: `count` ends as filters do, and sets its whole process to that."""
    numbers = (signal.SIGPIPE, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def bulk(data: bytes, *flags: str) -> tuple[int, bytes, str]:
    done = subprocess.run(
        [*COMMAND, "--jsonl", *flags], input=data, capture_output=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode()


ROWS = (
    lines(
        {"id": 1, "body": {"model": "gpt-4o", **CHAT}, "format": "openai_chat"},
        {"id": {"a": [None, 1.5, "é"]}, "body": {"model": "gpt-4o", **CHAT}},
        {"id": "the body's model wins", "body": {"model": "gpt-4o", **CHAT}, "model": "gpt-3.5-turbo"},
        {"id": "gemini", "body": TURN, "model": "gemini-2.5-pro"},
        {
            "id": "wrapped",
            "body": {"request": {"model": "gemini-2.5-pro", **TURN}},
            "model": "gpt-4o",
            "format": "gemini",
        },
        {"id": "bedrock", "body": CONVERSE, "format": "bedrock_converse", "model": "amazon.nova-pro-v1:0"},
        {"id": "by flag", "body": CHAT},
        {"id": "unknown model", "body": CHAT, "model": "nobody's"},
        {"id": "unknown field", "body": {**CHAT, "what": {"is": "this"}}},
        {"id": "unknown format", "body": CHAT, "format": "x"},
        {"id": "no format", "body": {}},
        {"id": "no messages", "body": {"messages": []}},
        {"id": "wrong messages", "body": {"messages": 1}},
        {"id": "wrong model", "body": CHAT, "model": 1},
        {"id": "no object", "body": []},
        {"id": "text and body", "body": CHAT, "text": "hello"},
        {"id": "wrong text", "text": 1},
        {"id": "nothing"},
        [],
    )
    + b"{\n\xff\n\n"
    + b"[" * 50_000
    + b"\n"
    + lines({"body": CHAT})
)


def test_a_server_answers_lines_as_the_engine_in_process(daemon: Daemon) -> None:
    flags = ("--model", "gpt-4o-mini")
    here, there = bulk(ROWS, *flags), bulk(ROWS, *flags, "--server", daemon.address)
    assert there == here
    assert here[0] == 1


def test_a_text_is_not_counted_on_a_server(daemon: Daemon, tmp_path: Path) -> None:
    rows = lines({"id": 1, "text": "hello", "encoding": "o200k_base"}, {"id": 2, "body": CHAT})
    status, out, _ = bulk(rows, "--model", "gpt-4o", "--server", daemon.address)
    text, body = map(json.loads, out.splitlines())
    assert status == 1
    assert (text["id"], text["error"]["reason"], body["id"]) == (1, "INVALID_FIELD", 2)
    assert "--server" in text["error"]["message"]
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    assert main(["count", "--server", daemon.address, "--encoding", "o200k_base", str(file)]) == 1


def test_one_body(daemon: Daemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "request.json"
    file.write_bytes(json.dumps({"model": "gpt-4o", **CHAT}).encode())
    shown: list[str] = []
    for flags in ([], ["--server", daemon.address]):
        assert main(["count", "--json", *flags, str(file)]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    file.write_bytes(json.dumps({"model": "gpt-4o", "messages": 1}).encode())
    assert main(["count", "--server", daemon.address, str(file)]) == 1
    assert "INVALID_FIELD" in capsys.readouterr().err


def test_an_answer_comes_before_the_next_line(daemon: Daemon) -> None:
    command = [*COMMAND, "--jsonl", "--server", daemon.address, "--model", "gpt-4o"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for number in range(4):
            row = {"id": number, "body": CHAT} if number % 2 else {"id": number}
            process.stdin.write(lines(row))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == -signal.SIGINT


def test_a_restart_amid_a_file_changes_nothing(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello " * 100}]}
    file.write_bytes(lines(*({"id": number, "body": body} for number in range(4_000))))
    first = start()
    command = [*COMMAND, "--jsonl", "--server", first.address, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process, contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        assert process.stdout
        answers = [process.stdout.readline() for _ in range(500)]
        first.process.kill()
        first.wait()
        start("--listen", first.address)
        answers += process.stdout.readlines()
        assert process.wait(PATIENCE) == 0
    assert [json.loads(line)["id"] for line in answers] == list(range(4_000))
    assert {json.loads(line)["tokens"] for line in answers} == {108}


def test_a_server_that_is_not_there_ends_it(start: Start) -> None:
    daemon = start()
    daemon.stop()
    began = time.monotonic()
    status, out, errors = bulk(lines({"body": CHAT}), "--model", "gpt-4o", "--server", daemon.address)
    assert (status, out) == (1, b"")
    assert errors.startswith("tokencountd: UNAVAILABLE")
    assert time.monotonic() - began < PATIENCE


def test_tls_and_a_token(start: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1")
    ca, certificate, key, tokens, token = (
        tmp_path / name for name in ("ca", "crt", "key", "tokens", "token")
    )
    authority.cert_pem.write_to_path(str(ca))
    own.private_key_pem.write_to_path(str(key))
    own.cert_chain_pems[0].write_to_path(str(certificate))
    assert main(["token", "new", "acme", "--file", str(tokens)]) == 0
    token.write_text(capsys.readouterr().out)
    daemon = start(*("--tls-certificate", str(certificate), "--tls-key", str(key), "--tokens", str(tokens)))
    row = lines({"body": CHAT})
    flags = ("--model", "gpt-4o", "--server", daemon.address, "--server-ca", str(ca))
    assert bulk(row, *flags, "--token-file", str(token))[0] == 0
    status, out, errors = bulk(row, *flags)
    assert (status, out) == (1, b"")
    assert "UNAUTHENTICATED" in errors
    status, _, errors = bulk(row, *flags, "--token-file", str(tmp_path / "none"))
    assert status == 1
    assert errors.startswith("tokencountd: can't read")
