"""Bulk mode: lines in, lines out, in order, in memory that doesn't grow with the file.

A thread reads what is there and cuts it into lines; a pool counts the pieces side by side, since
the engine releases the interpreter lock; the main thread writes the answers as they become due.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING

from tokencountd.commands.progress import Progress
from tokencountd.settings import Settings

if TYPE_CHECKING:
    from tokencountd import _core

_PIECE = 256 << 10

Answers = list[tuple[bytes, bool]]


def run(core: "_core.Engine", source: BufferedReader, defaults: Mapping[str, str], values: Settings) -> int:
    """Answers every line. Returns the exit status: 1 if any line couldn't be counted."""
    pool = ThreadPoolExecutor(values.threads)
    due: Queue[Future[Answers] | BaseException | None] = Queue(2 * values.threads)

    def read() -> None:
        try:
            for lines in pieces(source, values.max_message_bytes):
                due.put(pool.submit(_count, core, lines, defaults, values.max_message_bytes))
            due.put(None)
        except BaseException as error:  # noqa: BLE001  (raised again by the writer)
            due.put(error)

    Thread(target=read, daemon=True).start()
    progress = Progress(source)
    failed = 0
    while (piece := due.get()) is not None:
        if isinstance(piece, BaseException):
            raise piece
        answers = piece.result()
        sys.stdout.buffer.write(b"".join(line + b"\n" for line, _ in answers))
        sys.stdout.buffer.flush()
        wrong = sum(not counted for _, counted in answers)
        failed += wrong
        progress.add(len(answers), wrong)
    progress.close()
    pool.shutdown()
    return 1 if failed else 0


def pieces(source: BufferedReader, limit: int) -> Iterator[list[bytes]]:
    """The lines in pieces, each piece as soon as it is there. A line above `limit` bytes comes cut
    at one byte more, the rest of it is skipped.
    """
    tail = bytearray()
    while data := source.read1(_PIECE):
        first, *rest = data.split(b"\n")
        tail += first[: limit + 1 - len(tail)]
        if rest:
            yield [bytes(tail), *rest[:-1]]
            tail = bytearray(rest[-1][: limit + 1])
    if tail:
        yield [bytes(tail)]


def _count(core: "_core.Engine", lines: list[bytes], defaults: Mapping[str, str], limit: int) -> Answers:
    fitting = [line for line in lines if len(line) <= limit and line.strip()]
    answers = iter(core.count_lines(fitting, defaults))
    return [
        (_too_large(limit), False) if len(line) > limit else next(answers) for line in lines if line.strip()
    ]


def _too_large(limit: int) -> bytes:
    error = {"reason": "TOO_LARGE", "message": f"the line is longer than {limit} bytes"}
    return json.dumps({"id": None, "error": error}).encode()
