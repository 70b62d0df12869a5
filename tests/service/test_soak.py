"""A short form of `make soak`: nothing fails, nothing grows. What depends on the clock is left out."""

import time
from collections.abc import Iterator

import pytest
from benchmarks.results import Result
from benchmarks.soak import abuse, drains, mixed
from benchmarks.soak.client import GoodClient

from benchmarks import processes


def test_restarts_under_load() -> None:
    met(drains.run(drains=4, calls=1000), figures=3)


def test_connections_that_only_open_a_call() -> None:
    with (
        processes.tokencountd() as server,
        abuse.idle(server, connections=200),
        GoodClient(server.address, threads=2) as client,
    ):
        time.sleep(1)
    assert client.calls > 0
    assert not client.failures


def test_rapid_resets() -> None:
    met(abuse.rapid_resets(4000), figures=2)


def test_bombs() -> None:
    met(abuse.bombs(), figures=5)


def test_nonsense() -> None:
    results = list(mixed.run(minutes=0.05))
    *others, memory = results
    met(iter(others), figures=5)
    assert memory.value < 300


def met(results: Iterator[Result], figures: int) -> None:
    """Every figure is within its limit, and none is missing."""
    lines = [(result.line(), result.met) for result in results]
    assert len(lines) == figures
    if missed := [line for line, within in lines if not within]:
        pytest.fail("\n".join(missed))
