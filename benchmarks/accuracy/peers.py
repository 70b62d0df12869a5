"""Other counters on the same requests, in processes and with packages of their own.

LiteLLM's `token_counter` and the cookbook's formula run in the environment of `benchmarks/peers.txt`,
ai-tokenizer in Node with the packages of `ai_tokenizer/package-lock.json`; a common rule of thumb,
the characters of the body's JSON / 4, needs neither.
"""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from benchmarks.accuracy.chat import chat
from benchmarks.accuracy.counts import with_images
from benchmarks.accuracy.rows import DataError, Row
from benchmarks.peers import PYTHON, environ

RULE_OF_THUMB = "JSON / 4"
NAMES = ("LiteLLM", "ai-tokenizer", "cookbook", RULE_OF_THUMB)

_HERE = Path(__file__).parent
_NODE = _HERE / "ai_tokenizer"

Counts = dict[str, int | None]


def installed() -> bool:
    """Whether the other counters can be asked on this machine."""
    return PYTHON.exists() and (_NODE / "node_modules").exists() and shutil.which("node") is not None


class Peers:
    """The processes with the other counters."""

    def __init__(self) -> None:
        if not installed():
            raise DataError("the other counters are not installed: run `make accuracy`, or give --no-peers")
        self._processes = [
            _start(PYTHON, _HERE / "python_peers.py"),
            _start("node", _NODE / "count.js"),
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def count(self, rows: Sequence[Row]) -> list[Counts]:
        """Each counter's tokens for each row. So few rows that their answers fit into a pipe."""
        lines = "".join(json.dumps(_chat(row)) + "\n" for row in rows)
        for process in self._processes:
            assert process.stdin
            # One that has ended is noticed when its answers are read.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(lines)
                process.stdin.flush()
        return [{**self._answer(), RULE_OF_THUMB: rule_of_thumb(row)} for row in rows]

    def _answer(self) -> Counts:
        """The next line of every process."""
        counts: Counts = {}
        for process in self._processes:
            assert process.stdout
            line = process.stdout.readline()
            if not line:
                raise DataError(f"{process.args} ended with status {process.wait()}")
            counts |= json.loads(line)
        return counts


def rule_of_thumb(row: Row) -> int:
    """The characters of the body's JSON / 4."""
    return len(json.dumps(row.body, ensure_ascii=False)) // 4


def _chat(row: Row) -> dict[str, Any]:
    """The chat form; of a body that it can't be made from, an empty one that no counter can count."""
    try:
        return chat(row.format, row.model, with_images(row.body))
    except (AttributeError, KeyError, TypeError, ValueError):
        return {"model": None}


def _start(*command: str | Path) -> subprocess.Popen[str]:
    """A process of its own group, so that an interrupt reaches only us."""
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        process_group=0,
        env={**environ(), "HF_HUB_OFFLINE": "1"},
    )
