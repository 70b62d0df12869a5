"""Shows on a terminal how far a long work is."""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_EVERY = 0.2


def shown(items: Sequence[T], what: str, each: int = 1) -> Iterator[T]:
    """The items, with a line on stderr that says how many are done. An item stands for `each`."""
    last = 0.0
    for done, item in enumerate(items):
        if sys.stderr.isatty() and time.monotonic() - last >= _EVERY:
            last = time.monotonic()
            print(f"\r{what}: {done * each:,} of {len(items) * each:,}\x1b[K", end="", file=sys.stderr)
        yield item
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
