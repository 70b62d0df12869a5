"""What the checks have in common: how they tell progress, and the figures that several have."""

import contextlib
import sys
import threading
from collections.abc import Generator

from benchmarks.processes import Server
from benchmarks.results import Result
from benchmarks.soak.client import GoodClient

MEGABYTE = 1e6
_EVERY = 0.02


def progress(text: str) -> None:
    """Shows how far a check is, in place of what was shown before; nothing if nobody watches."""
    if sys.stderr.isatty():
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)


def failures(name: str, client: GoodClient) -> Result:
    """A good client's failed calls, of which there may be none. Tells the commonest on stderr."""
    for failure, times in client.failures.most_common(3):
        print(f"{times} x {failure}", file=sys.stderr)
    return Result(name=f"{name}: failed calls", unit="calls", rounds=[client.failed], peers={}, limit=0)


class Memory:
    """The most memory that a server had above what it had at first, in bytes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._first = server.resident_bytes()
        self.growth = 0

    def look(self) -> None:
        """Takes note of the memory as it is now."""
        self.growth = max(self.growth, self._server.resident_bytes() - self._first)

    def result(self, name: str, limit: float) -> Result:
        """The growth; the limit is in megabytes."""
        growth = self.growth / MEGABYTE
        return Result(name=f"{name}: memory above before", unit="MB", rounds=[growth], peers={}, limit=limit)


@contextlib.contextmanager
def watched(server: Server) -> Generator[Memory]:
    """Looks at the server's memory all the time."""
    memory = Memory(server)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_EVERY):
            memory.look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        ended.set()
        thread.join()
        memory.look()
