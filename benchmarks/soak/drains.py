"""Rolling restarts: two servers under load, told in turns to end, and started again on their ports."""

import contextlib
import socket
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import processes
from benchmarks.processes import Server
from benchmarks.results import Result
from benchmarks.soak.client import GoodClient
from benchmarks.soak.figures import failures, progress

PATIENCE = 20.0


_CALLS = "rpc_server_call_duration_seconds_count"


@dataclass(frozen=True)
class Place:
    """The ports that a server always has."""

    port: int
    metrics_port: int

    @classmethod
    def free(cls) -> "Place":
        """Ports that are free now."""
        with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
            return cls(one.getsockname()[1], two.getsockname()[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> contextlib.AbstractContextManager[Server]:
        """Starts a server here."""
        metrics = f"127.0.0.1:{self.metrics_port}"
        return processes.tokencountd("--listen", self.address, "--prometheus-listen", metrics)

    def wait_for_calls(self) -> None:
        """Returns when the client uses the server that was started here. That it is connected is not
        enough: until it is ready, it still counts as broken for the client, and the other one is all
        that the client has.
        """
        end = time.monotonic() + PATIENCE
        while not self._calls():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.address} was started, and the client never came back")
            time.sleep(0.02)

    def _calls(self) -> float:
        page = f"http://127.0.0.1:{self.metrics_port}/metrics"
        with urllib.request.urlopen(page, timeout=PATIENCE) as answer:
            lines: list[str] = answer.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(_CALLS))


def run(drains: int = 100, calls: int = 100_000) -> Iterator[Result]:
    """Restarts servers so often, and goes on until so many calls were made."""
    places = [Place.free(), Place.free()]
    unclean = 0
    with contextlib.ExitStack() as stack:
        lives = [stack.enter_context(contextlib.ExitStack()) for _ in places]
        servers = [life.enter_context(place.start()) for life, place in zip(lives, places, strict=True)]
        addresses = [place.address for place in places]
        client = stack.enter_context(GoodClient(*addresses, streams=False))
        for number in range(drains):
            at = number % len(places)
            for place in places:
                place.wait_for_calls()
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
