"""What a caller might learn or waste: another tenant's keys by the clock, and work after it has left."""

import base64
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc

from benchmarks import processes, prompts
from benchmarks.processes import Server
from benchmarks.results import Result
from benchmarks.soak.client import TIMEOUT, channel
from benchmarks.soak.figures import progress
from tokencount.v1 import CountMessagesRequest, EstimateConversationRequest
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

KEYS = 50
LIMIT_MILLISECONDS = 50.0
LONG_BYTES = 28 << 20
ARRIVED = 0.1
"""CPU seconds of the server after which a long request has arrived and is counted."""
TAIL = 1.0
"""Seconds in which a server that doesn't stop would show it."""


def other_tenants_keys(calls: int = 20_000) -> Iterator[Result]:
    """How well the time of the refusal tells keys that another tenant has from keys that nobody has.

    The figure is the share of pairs of one call each in which the existing key's took longer (the
    Mann-Whitney statistic): 0.5 when time tells nothing. Given is the better of a guess and its opposite.
    """
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "tokens.toml"
        one, other = (_token(tenant, file) for tenant in ("one", "other"))
        with processes.tokencountd("--tokens", str(file)) as server, channel(server.address) as open_channel:
            stub = TokenCounterServiceStub(open_channel)
            existing = [_key(stub, other, seed) for seed in range(KEYS)]
            unknown = [os.urandom(len(key)) for key in existing]
            times: tuple[list[float], list[float]] = ([], [])
            for number in range(calls):
                for keys, taken in zip((existing, unknown), times, strict=True):
                    taken.append(_refusal(stub, one, keys[number % KEYS]))
                if number % 1000 == 0:
                    progress(f"{number:,} of {calls:,} keys of another tenant")
    share = longer(*times)
    guess = max(share, 1 - share)
    name = "Telling another tenant's keys by the time"
    yield Result(name=name, unit="right guesses", rounds=[guess], peers={}, limit=0.52)


def longer(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of pairs in which the first is larger, by the sum of the first's ranks."""
    ranked = sorted([(value, True) for value in one] + [(value, False) for value in other])
    ranks = sum(rank for rank, (_, first) in enumerate(ranked, 1) if first)
    return (ranks - len(one) * (len(one) + 1) / 2) / (len(one) * len(other))


def _token(tenant: str, file: Path) -> tuple[tuple[str, str]]:
    """The metadata of a new token's calls."""
    command = [sys.executable, "-m", "tokencountd", "token", "new", tenant, "--file", str(file)]
    token = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return (("authorization", f"Bearer {token}"),)


def _estimate(seed: int, base: bytes = b"") -> EstimateConversationRequest:
    prompt = prompts.provider_request(prompts.messages(2, 100, seed))
    return EstimateConversationRequest(provider_request=prompt, base=base)


def _key(stub: TokenCounterServiceStub, metadata: tuple[tuple[str, str]], seed: int) -> bytes:
    """A key of the caller's own."""
    answer = stub.EstimateConversation(_estimate(seed), metadata=metadata, timeout=TIMEOUT)
    return answer.count.prefix_key


def _refusal(stub: TokenCounterServiceStub, metadata: tuple[tuple[str, str]], key: bytes) -> float:
    """The seconds that the refusal of a key takes."""
    request = _estimate(KEYS, key)
    started = time.perf_counter()
    try:
        stub.EstimateConversation(request, metadata=metadata, timeout=TIMEOUT)
    except grpc.RpcError as error:
        taken = time.perf_counter() - started
        if error.code() == grpc.StatusCode.FAILED_PRECONDITION:
            return taken
        raise
    raise ValueError("a tenant was given another tenant's prefix")


def abandoned_counts(rounds: int = 5) -> Iterator[Result]:
    """The CPU that the server spends on a long count after its caller has left, or its time is over."""
    with processes.tokencountd() as server, channel(server.address) as open_channel:
        long = _Long(server, open_channel)
        whole = long.whole()
        for what, abandon in (("its caller has left", long.cancel), ("its deadline", long.expire)):
            # The most of the rounds: it must hold in each.
            wasted = max(abandon(whole / 2) for _ in range(rounds))
            yield Result(
                name=f"A count of {whole * 1e3:.0f} ms after {what}",
                unit="ms of server CPU",
                rounds=[wasted * 1e3],
                peers={},
                limit=LIMIT_MILLISECONDS,
            )


class _Long:
    """Counts of a long text, which is another one each time."""

    def __init__(self, server: Server, open_channel: grpc.Channel) -> None:
        self._server = server
        self._stub = TokenCounterServiceStub(open_channel)
        # Nothing in it comes twice, so that every byte is work.
        self._text = base64.b64encode(random.Random(0).randbytes(LONG_BYTES // 4 * 3)).decode()
        self._number = 0

    def _start(self, timeout: float) -> Any:
        """Starts a count, and returns when the server is at work on it."""
        self._number += 1
        text = f"{self._number} {self._text}"
        prompt = prompts.typed([{"role": "user", "content": text}])
        before = self._server.cpu_seconds()
        call = self._stub.CountMessages.future(CountMessagesRequest(typed=prompt), timeout=timeout)
        while self._server.cpu_seconds() - before < ARRIVED and not call.done():
            time.sleep(0.001)
        return call

    def whole(self) -> float:
        """The CPU seconds of a count that is let be."""
        before = self._server.cpu_seconds()
        self._start(TIMEOUT).result()
        return self._server.cpu_seconds() - before

    def cancel(self, after: float) -> float:
        """The CPU seconds that are spent after the caller has left."""
        call = self._start(TIMEOUT)
        time.sleep(after)
        if call.done():
            raise ValueError("the count was over before it was cancelled")
        before = self._server.cpu_seconds()
        call.cancel()
        return self._spent_since(before)

    def expire(self, after: float) -> float:
        """The CPU seconds that are spent after the deadline."""
        call = self._start(after)
        if not isinstance(call.exception(), grpc.RpcError):
            raise ValueError("the count was over before its deadline")
        return self._spent_since(self._server.cpu_seconds())

    def _spent_since(self, before: float) -> float:
        time.sleep(TAIL)
        return self._server.cpu_seconds() - before
