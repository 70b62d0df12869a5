"""Bulk mode: lines in, lines out, in order, in memory that doesn't grow with the file.

A thread reads what is there and cuts it into lines; a pool counts the pieces side by side, in
process (the engine releases the interpreter lock) or on a server; the main thread writes the answers
as they become due.
"""

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BufferedReader
from queue import Queue
from threading import Thread

from tokencountd.commands.progress import Progress
from tokencountd.settings import Settings

_PIECE = 256 << 10

Answers = list[tuple[bytes, bool]]
"""The output line of every line, without its end, and whether it is a count."""


def run(count: Callable[[list[bytes]], Answers], source: BufferedReader, values: Settings) -> int:
    """Answers every line by `count`. Returns the exit status: 1 if any line couldn't be counted."""
    pool = ThreadPoolExecutor(values.threads)
    due: Queue[Future[Answers] | BaseException | None] = Queue(2 * values.threads)

    def read() -> None:
        try:
            for lines in pieces(source, values.max_message_bytes):
                due.put(pool.submit(_answers, count, lines, values.max_message_bytes))
            due.put(None)
        except BaseException as error:  # noqa: BLE001  (raised again by the writer)
            due.put(error)

    Thread(target=read, daemon=True).start()
    progress = Progress(source)
    failed = 0
    try:
        while (piece := due.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            answers = piece.result()
            sys.stdout.buffer.write(b"".join(line + b"\n" for line, _ in answers))
            sys.stdout.buffer.flush()
            wrong = sum(not counted for _, counted in answers)
            failed += wrong
            progress.add(len(answers), wrong)
    finally:
        progress.close()
        pool.shutdown(wait=False, cancel_futures=True)
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


def _answers(count: Callable[[list[bytes]], Answers], lines: list[bytes], limit: int) -> Answers:
    answers = iter(count([line for line in lines if len(line) <= limit and line.strip()]))
    return [
        (_too_large(limit), False) if len(line) > limit else next(answers) for line in lines if line.strip()
    ]


def _too_large(limit: int) -> bytes:
    error = {"reason": "TOO_LARGE", "message": f"the line is longer than {limit} bytes"}
    return json.dumps({"id": None, "error": error}).encode()
