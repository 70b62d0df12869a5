"""Rolling restarts: two servers under load, told in turns to end, and started again on their ports."""

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import processes
from benchmarks.processes import Server
from benchmarks.results import Result
from benchmarks.soak.client import GoodClient
from benchmarks.soak.figures import failures, progress

PATIENCE = 20.0


_ESTABLISHED = "01"


@dataclass(frozen=True)
class Place:
    """A port that a server always has."""

    port: int

    @classmethod
    def free(cls) -> "Place":
        """One that is free now."""
        with socket.create_server(("127.0.0.1", 0)) as one:
            return cls(one.getsockname()[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> contextlib.AbstractContextManager[Server]:
        """Starts a server here."""
        return processes.tokencountd("--listen", self.address)

    def wait_for_client(self) -> None:
        """Returns when a client has found the server that was started here."""
        end = time.monotonic() + PATIENCE
        while not self._connected():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.address} was started, and the client never came back")
            time.sleep(0.01)

    def _connected(self) -> bool:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return any(row[1].endswith(f":{self.port:04X}") and row[3] == _ESTABLISHED for row in rows)


def run(drains: int = 100, calls: int = 100_000) -> Iterator[Result]:
    """Restarts servers so often, and goes on until so many calls were made."""
    places = [Place.free(), Place.free()]
    unclean = 0
    with contextlib.ExitStack() as stack:
        lives = [stack.enter_context(contextlib.ExitStack()) for _ in places]
        servers = [life.enter_context(place.start()) for life, place in zip(lives, places, strict=True)]
        client = stack.enter_context(GoodClient(*(place.address for place in places)))
        for number in range(drains):
            at = number % len(places)
            for place in places:
                place.wait_for_client()
            unclean += servers[at].stop() != 0
            lives[at].close()
            servers[at] = lives[at].enter_context(places[at].start())
            progress(f"{number + 1} of {drains} drains, {client.calls:,} calls, {client.failed} failed")
        while client.calls < calls:
            time.sleep(0.1)
    yield Result(name=f"{drains} drains under load: calls", unit="calls", rounds=[client.calls], peers={})
    yield failures(f"{drains} drains under load", client)
    name = f"{drains} drains under load: exit status other than 0"
    yield Result(name=name, unit="drains", rounds=[unclean], peers={}, limit=0)
