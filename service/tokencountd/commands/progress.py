"""A progress bar on stderr, when that is a terminal.

Written here since it is a few lines: tqdm is under the MPL, rich brings three packages.
"""

import os
import stat
import sys
import time
from typing import BinaryIO

_EVERY = 0.1
_WIDTH = 30


class Progress:
    """How far a file is read, how many lines were answered, how fast. A pipe has no bar."""

    def __init__(self, source: BinaryIO) -> None:
        self._shown = sys.stderr.isatty()
        self._source = source
        self._size = _size(source)
        self._start = self._last = time.monotonic()
        self._lines = self._failed = 0

    def add(self, lines: int, failed: int) -> None:
        """`lines` more were answered, `failed` of them with an error."""
        self._lines += lines
        self._failed += failed
        if self._shown and time.monotonic() - self._last >= _EVERY:
            self._draw()

    def close(self) -> None:
        """Draws the last state and leaves the line."""
        if self._shown:
            self._draw()
            print(file=sys.stderr)

    def _draw(self) -> None:
        self._last = time.monotonic()
        rate = self._lines / max(self._last - self._start, 1e-3)
        bar = ""
        if self._size:
            share = min(1.0, self._source.tell() / self._size)
            bar = f"[{'#' * round(share * _WIDTH):<{_WIDTH}}] {share:4.0%} "
        text = f"\r{bar}{self._lines:,} lines, {self._failed:,} failed, {rate:,.0f}/s\x1b[K"
        print(text, end="", file=sys.stderr, flush=True)


def _size(source: BinaryIO) -> int:
    status = os.fstat(source.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
