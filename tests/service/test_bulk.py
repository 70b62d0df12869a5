"""Bulk mode, which scripts rely on: lines in, lines out, in order, in bounded memory."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import PATIENCE

from tokencountd.commands.bulk import pieces

COMMAND = [sys.executable, "-m", "tokencountd", "count", "--jsonl"]
TEXT = {"text": "hello world", "encoding": "o200k_base"}
CHAT = {"messages": [{"role": "user", "content": "hello"}]}


def bulk(data: bytes, *flags: str) -> tuple[int, list[dict[str, Any]], str]:
    done = subprocess.run([*COMMAND, *flags], input=data, capture_output=True, timeout=60, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_a_line_is_answered_with_its_fields() -> None:
    status, [text, body], errors = bulk(
        lines(
            {"id": 7, **TEXT},
            {"id": {"a": [None]}, "format": "openai_chat", "model": "gpt-4o", "body": CHAT},
        )
    )
    assert (status, errors) == (0, "")
    assert list(text) == ["id", "tokens", "upper_bound", "source", "encoding", "profile", "warnings"]
    assert (text["id"], text["tokens"], text["upper_bound"], text["encoding"]) == (7, 2, 2, "o200k_base")
    assert list(body) == list(text)
    assert (body["id"], body["source"]) == ({"a": [None]}, "estimated")
    assert body["upper_bound"] >= body["tokens"] > 1


ROWS: list[tuple[str, Any, int | str]] = [
    ("a text by model", {"text": "hello world", "model": "gpt-4o"}, 2),
    ("special-token text", {"text": "<|endoftext|>", "encoding": "o200k_base"}, 7),
    ("an empty text", {"text": "", "encoding": "cl100k_base"}, 0),
    ("a body with its model", {"body": {"model": "gpt-4o", **CHAT}, "format": "openai_chat"}, 8),
    ("a body whose format is detected", {"body": {"model": "gpt-4o", **CHAT}}, 8),
    ("no text and no body", {}, "MISSING_FIELD"),
    ("both", {"text": "a", "body": CHAT, "model": "gpt-4o"}, "INVALID_FIELD"),
    ("a text without an encoding", {"text": "a"}, "MISSING_FIELD"),
    ("an unknown encoding", {"text": "a", "encoding": "x"}, "INVALID_FIELD"),
    ("an unknown format", {"body": CHAT, "format": "x", "model": "gpt-4o"}, "INVALID_FIELD"),
    ("a body without a model", {"body": CHAT, "format": "openai_chat"}, "MISSING_FIELD"),
    ("a text of a wrong type", {"text": 1, "encoding": "o200k_base"}, "INVALID_FIELD"),
    ("a wrong body", {"body": {"messages": 1}, "format": "openai_chat", "model": "gpt-4o"}, "INVALID_FIELD"),
    ("no object", [], "INVALID_FIELD"),
]


def test_rows() -> None:
    """One process for all rows: a bad line doesn't touch the next one."""
    status, answers, _ = bulk(
        lines(*({"id": name, **row} if name != "no object" else row for name, row, _ in ROWS))
    )
    assert status == 1
    assert len(answers) == len(ROWS)
    for (name, _, expected), answer in zip(ROWS, answers, strict=True):
        assert answer["id"] == (name if name != "no object" else None)
        if isinstance(expected, str):
            assert list(answer) == ["id", "error"], name
            assert answer["error"]["reason"] == expected, (name, answer)
            assert answer["error"]["message"]
        else:
            assert answer.get("tokens") == expected, (name, answer)


@pytest.mark.parametrize("line", [b"{", b"\xff", b'{"id": 1', b"[" * 50_000, b'"a"'])
def test_a_line_that_is_no_json_object(line: bytes) -> None:
    status, answers, _ = bulk(line + b"\n" + lines({"id": 2, **TEXT}))
    assert status == 1
    assert answers[0]["id"] is None
    assert answers[0]["error"]["reason"] in {"INVALID_JSON", "INVALID_FIELD"}
    assert (answers[1]["id"], answers[1]["tokens"]) == (2, 2)


def test_flags_stand_for_what_a_line_leaves_out() -> None:
    status, answers, _ = bulk(
        lines({"text": "hello world"}, {"body": CHAT}, {"text": "hello world", "encoding": "cl100k_base"}),
        *("--model", "gpt-4o", "--format", "openai_chat"),
    )
    assert status == 0
    assert [answer["encoding"] for answer in answers] == ["o200k_base", "o200k_base", "cl100k_base"]


def test_order_over_many_pieces(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    texts = [("word " * (number % 977)) for number in range(3000)]
    file.write_bytes(
        lines(*({"id": at, "text": text, "encoding": "o200k_base"} for at, text in enumerate(texts)))
    )
    done = subprocess.run(
        [*COMMAND, "--threads", "4", str(file)], capture_output=True, timeout=60, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(3000))
    assert answers[976]["tokens"] == 977


def test_the_last_line_needs_no_end_and_empty_lines_no_answer() -> None:
    status, answers, _ = bulk(b"\n\r\n" + lines({"id": 1, **TEXT}) + b"\n" + lines({"id": 2, **TEXT}).strip())
    assert (status, [answer["id"] for answer in answers]) == (0, [1, 2])
    assert bulk(b"") == (0, [], "")


def test_a_line_above_the_limit_is_an_error_and_the_rest_goes_on() -> None:
    long = lines({"id": 1, "text": "a" * 3_000_000, "encoding": "o200k_base"})
    status, answers, _ = bulk(long + lines({"id": 2, **TEXT}) + long.strip(), "--max-message-bytes", "1MiB")
    assert status == 1
    assert [answer.get("tokens") or answer["error"]["reason"] for answer in answers] == [
        "TOO_LARGE",
        2,
        "TOO_LARGE",
    ]


def test_an_answer_comes_before_the_next_line() -> None:
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        for number in range(3):
            process.stdin.write(lines({"id": number, **TEXT}))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_an_interrupt_ends_it_without_a_word() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(lines(TEXT))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == -signal.SIGINT
        assert process.stderr.read() == b""


def test_a_reader_that_leaves_ends_it_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_bytes(lines({"id": "x" * 1000, **TEXT}) * 5000)
    with subprocess.Popen([*COMMAND, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == -signal.SIGPIPE
        assert process.stderr.read() == b""


def peak(size: int) -> int:
    """The most memory in KiB that answering `size` bytes takes."""
    line = lines({"id": "x" * 20_000, **TEXT})
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin
        for _ in range(size // len(line)):
            process.stdin.write(line)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss


def test_memory_does_not_grow_with_the_file() -> None:
    assert peak(100 << 20) < peak(10 << 20) + 10 * 1024


def test_a_terminal_gets_a_progress_bar(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_bytes(lines(TEXT, {}))
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*COMMAND, str(file)], stdout=subprocess.DEVNULL, stderr=theirs, timeout=60, check=False
    )
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 1
    assert "100%" in shown
    assert "2 lines, 1 failed" in shown


class Source:
    """Gives its pieces one by one, as a slow pipe does."""

    def __init__(self, *given: bytes) -> None:
        self._given = list(given)

    def read1(self, _size: int) -> bytes:
        return self._given.pop(0) if self._given else b""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([b"a"], [[b"a"]]),
        ([b"a\n"], [[b"a"]]),
        ([b"a\nb"], [[b"a"], [b"b"]]),
        ([b"a", b"b\nc", b"d\n"], [[b"ab"], [b"cd"]]),
        ([b"a\nb\n", b"c\n"], [[b"a", b"b"], [b"c"]]),
        ([b"12345", b"67890", b"\nab\n"], [[b"12345", b"ab"]]),
        ([b"1234567890\nab"], [[b"12345"], [b"ab"]]),
        ([b"a\n1234567890\nb\n"], [[b"a", b"1234567890", b"b"]]),
    ],
)
def test_pieces(given: list[bytes], expected: list[list[bytes]]) -> None:
    source: Any = Source(*given)
    assert list(pieces(source, 4)) == expected
