"""How long a caller waits for a count: from a server of ours, and from what it would use instead.

One call at a time, nothing else at work. Ours is asked by the load generator, which adds little of its
own, and by the Python client; the libraries count in the caller's process.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks import peers, processes, prompts
from benchmarks.counting import SHAPES, Shape, check
from benchmarks.ghz import Load
from benchmarks.peers import Peers, Prompts, Proxy
from benchmarks.processes import Server
from benchmarks.results import Effort, Result
from tokencount import Client
from tokencount.v1 import CountMessagesRequest

OURS, PYTHON, PROXY = "native", "native, by the Python client", "litellm proxy"
STATES = ("new", "repeated")


def run(effort: Effort) -> Iterator[Result]:
    with (
        processes.tokencountd() as server,
        # One of its own, so that what is new is new to both.
        processes.tokencountd() as other,
        Client(other.address) as client,
        peers.proxy() as proxy,
        Peers() as libraries,
    ):
        sides = _Sides(server, client, proxy, libraries)
        for shape in SHAPES:
            yield from _measure(sides, shape, effort)


class _Sides:
    """Everybody who counts. Their figures are the median of the milliseconds a prompt took."""

    def __init__(self, server: Server, client: Client, proxy: Proxy, libraries: Peers) -> None:
        self._server = server
        self._client = client
        self._proxy = proxy
        self._libraries = libraries

    def count(self, batch: Prompts) -> dict[str, float]:
        """Has every side count the batch."""
        figures = {OURS: self._native(batch)}
        asked = {PYTHON: self._ask, PROXY: self._proxy.count}
        tokens: list[int] = []
        for side, count in asked.items():
            figures[side], counted = _timed(count, batch)
            tokens = tokens or counted
            check(side, tokens, counted, batch)
        for side in peers.NAMES:
            counted = self._libraries.count(side, batch)
            figures[side] = statistics.median(counted.seconds) * 1e3
            check(side, tokens, counted.tokens, batch)
        return figures

    def _native(self, batch: Prompts) -> float:
        requests = [
            CountMessagesRequest(provider_request=prompts.provider_request(prompt)) for prompt in batch
        ]
        load = Load("CountMessages", requests, len(requests), concurrency=1)
        return load.send(self._server)[0].p50

    def _ask(self, turns: list[dict[str, str]]) -> int:
        return self._client.count(prompts.body(turns), "openai_chat").tokens


def _timed(count: Callable[[list[dict[str, str]]], int], batch: Prompts) -> tuple[float, list[int]]:
    seconds: list[float] = []
    tokens: list[int] = []
    for prompt in batch:
        started = time.perf_counter()
        tokens.append(count(prompt))
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds) * 1e3, tokens


def _measure(sides: _Sides, shape: Shape, effort: Effort) -> Iterator[Result]:
    rounds: dict[str, list[dict[str, float]]] = {state: [] for state in STATES}
    # Round 0 warms everybody up and is not kept.
    for number in range(effort.rounds + 1):
        batch = shape.batch(number)
        for state in STATES:
            rounds[state].append(sides.count(batch))
    for state in STATES:
        yield _result(f"A count of {shape.messages} x {shape.size} B, {state}", rounds[state][1:])


def _result(name: str, rounds: Sequence[dict[str, float]]) -> Result:
    ours, *others = rounds[0]
    figures = {side: [figures[side] for figures in rounds] for side in others}
    mine = [figures[ours] for figures in rounds]
    return Result(name=name, unit="ms, p50", rounds=mine, peers=figures, limits={"litellm": 1})
