"""The command line in real processes."""

import base64
import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "How far is the moon?"}]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "How far is the moon?"}]}]}


def run(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tokencountd", *arguments]
    done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_version() -> None:
    assert run("--version").stdout == f"tokencountd {version('tokencountd')}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["count", "--format", "x"], ["serve", "--threads", "x"], ["nothing"]]
)
def test_a_wrong_command(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "tokencountd" in done.stderr


@pytest.mark.parametrize("command", [[], ["serve"], ["count"], ["models"]])
def test_help(command: list[str]) -> None:
    done = run(*command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: tokencountd")


def test_count_prints_a_table(tmp_path: Path) -> None:
    file = tmp_path / "request.json"
    file.write_text(json.dumps(CHAT))
    done = run("count", str(file))
    assert (done.returncode, done.stderr) == (0, "")
    rows = dict(re.split(r"  +", line.strip()) for line in done.stdout.splitlines() if "  " in line.strip())
    assert int(rows["tokens"]) <= int(rows["upper bound"])
    assert (rows["source"], rows["encoding"]) == ("estimated", "o200k_base")
    assert int(rows["user"]) + int(rows["overhead"]) == int(rows["tokens"])


def test_count_prints_json() -> None:
    count = json.loads(run("count", "--json", data=json.dumps(CHAT).encode()).stdout)
    assert count["source"] == "estimated"
    assert sum(count["breakdown"].values()) == count["tokens"] <= count["upper_bound"]


def test_a_body_without_a_model_needs_one() -> None:
    data = json.dumps(GEMINI).encode()
    done = run("count", "-", data=data)
    assert (done.returncode, done.stdout) == (1, "")
    assert "MISSING_FIELD" in done.stderr
    assert (
        run("count", "--model", "gemini-2.5-pro", "--format", "gemini_vertex", "-", data=data).returncode == 0
    )


@pytest.mark.parametrize("flags", [["--encoding", "o200k_base"], ["--model", "gpt-4o"]])
def test_plain_text(flags: list[str]) -> None:
    done = run("count", "--json", *flags, "-", data=b"hello world")
    count = json.loads(done.stdout)
    assert (count["tokens"], count["upper_bound"], count["encoding"]) == (2, 2, "o200k_base")
    assert "tokens" in run("count", *flags, "-", data=b"hello world").stdout


def test_json_taken_for_text() -> None:
    done = run("count", "--text", "--json", "--encoding", "o200k_base", data=b'{"a": 1}')
    assert json.loads(done.stdout)["tokens"] == 6


@pytest.mark.parametrize(
    ("arguments", "data", "error"),
    [
        (["count", "/nowhere/x"], b"", "can't read /nowhere/x: No such file or directory"),
        (["count", "-"], b"hello", "give --encoding or --model"),
        (["count", "--encoding", "x", "-"], b"hello", "is not one of"),
        (["count", "--encoding", "o200k_base", "-"], b"\xff", "not UTF-8"),
        (["count", "-"], b'{"a": 1}', "MISSING_FIELD"),
        (["count", "-"], b'{"messages": [', "INVALID_JSON"),
        (["models", "--profiles", "/nowhere/x"], b"", "can't read /nowhere/x"),
        (["models", "--profiles", __file__], b"", "test_cli.py"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(arguments: list[str], data: bytes, error: str) -> None:
    done = run(*arguments, data=data)
    assert (done.returncode, done.stdout) == (1, "")
    assert error in done.stderr
    assert done.stderr.startswith("tokencountd: ")
    assert "Traceback" not in done.stderr


def test_a_table_brings_its_own_vocabulary(tmp_path: Path) -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"he", b"hel"]
    lines = (f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    (tmp_path / "own.tiktoken").write_text("".join(lines))
    table = tmp_path / "profiles.toml"
    table.write_text("[vocabularies.own]\nfile = 'own.tiktoken'\npattern = '\\S+|\\s+'\n")
    counted = run("count", "--profiles", str(table), "--encoding", "own", "-", data=b"hello")
    assert counted.stdout.split() == ["tokens", "3", "upper", "bound", "3", "encoding", "own"]
    (tmp_path / "own.tiktoken").unlink()
    missing = run("models", "--profiles", str(table))
    assert missing.returncode == 1
    assert "vocabularies.own.file" in missing.stderr


def test_models() -> None:
    head, *rows = run("models").stdout.splitlines()
    assert head.split() == ["NAME", "FAMILY", "ENCODING", "WINDOW", "FORMAT"]
    profiles = json.loads(run("models", "--json").stdout)
    assert len(rows) == len(profiles) > 3
    assert {"name", "family", "encoding", "window", "format", "accuracy"} <= set(profiles[0])
