"""What carrying and answering a call costs the server, beside servers that only carry it.

A repeated prompt was counted before: what is left is to carry it, to read it and to look it up. A new
one has texts that the server never saw.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from google.protobuf.message import Message

from benchmarks import prompts
from benchmarks.ghz import Load, Report
from benchmarks.results import Effort, Result
from benchmarks.servers import NAMES, Servers, all_servers
from tokencount import Client
from tokencount.v1 import (
    STATUS_SUCCEEDED,
    CountMessagesRequest,
    EstimateConversationRequest,
    RecordActualRequest,
    Usage,
)

CPU, RATE = "µs of server CPU per call", "calls per second"
WARM_UP_CALLS = 300
NEW_BYTES = 8 << 20
"""Bytes of new text in a round, at most."""
SHAPES = ((2, 100), (20, 400), (200, 1000))
REPEATED = {"tonic echo": 2.0}
SMALL = {"tonic echo": 2.0, "grpcio": 1 / 8}
"""Small calls are where a transport weighs most."""
BY_BASE = {"tonic echo": 1.5}

Messages = Callable[[int], Sequence[Message]]
"""The messages of a round with that many calls."""


@dataclass(frozen=True)
class Case:
    """Calls that are measured together."""

    name: str
    messages: Messages
    method: str = "CountMessages"
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the native server's CPU must not exceed as a multiple of the others'."""
    most_calls: int = 1 << 30
    latency: bool = False
    """Whether to measure it at half of the highest rate too."""
    grpcio_limit: float | None = None
    """What the grpcio server's CPU must not exceed as a multiple of its echo's."""


def run(effort: Effort) -> Iterator[Result]:
    with all_servers() as servers:
        for case in _cases(servers):
            yield from _measure(case, servers, effort)


def _measure(case: Case, servers: Servers, effort: Effort) -> Iterator[Result]:
    calls = min(effort.calls, case.most_calls)
    _load(case, min(WARM_UP_CALLS, calls)).send(*servers)
    rounds = [_load(case, calls).send(*servers) for _ in range(effort.rounds)]
    yield _result(case.name, CPU, rounds, lambda report: report.server_cpu, case.limits)
    rates = _result(case.name, RATE, rounds, lambda report: report.calls_per_second)
    yield rates
    if case.grpcio_limit:
        yield _grpcio(case, rounds, case.grpcio_limit)
    if case.latency:
        halves = [figure / 2 for figure in (rates.value, *rates.medians.values())]
        yield from _latency(case, servers, effort, halves)


def _grpcio(case: Case, rounds: Sequence[Sequence[Report]], limit: float) -> Result:
    """Our other transport beside its own echo."""
    ours, echo = NAMES.index("grpcio"), NAMES.index("grpcio echo")
    return Result(
        name=f"{case.name}, grpcio",
        unit=CPU,
        rounds=[reports[ours].server_cpu for reports in rounds],
        peers={"grpcio echo": [reports[echo].server_cpu for reports in rounds]},
        limits={"grpcio echo": limit},
    )


def _latency(case: Case, servers: Servers, effort: Effort, rates: Sequence[float]) -> Iterator[Result]:
    """Latency at these rates, one for each server."""
    rounds: list[list[Report]] = []
    for _ in range(effort.rounds):
        sides = zip(servers, rates, strict=True)
        rounds.append([_load(case, effort.calls, rate).send(server)[0] for server, rate in sides])
    name = f"{case.name}, at half of the highest rate"
    yield _result(name, "ms, p50", rounds, lambda report: report.p50)
    yield _result(name, "ms, p99", rounds, lambda report: report.p99)


def _load(case: Case, calls: int, rate: float = 0) -> Load:
    return Load(case.method, case.messages(calls), calls, rate=rate)


def _result(
    name: str,
    unit: str,
    rounds: Sequence[Sequence[Report]],
    figure: Callable[[Report], float],
    limits: Mapping[str, float] | None = None,
) -> Result:
    """The native server's figure beside those of the others."""
    columns = [[figure(report) for report in column] for column in zip(*rounds, strict=True)]
    native, *others = columns
    peers = dict(zip(NAMES[1:], others, strict=True))
    return Result(name=name, unit=unit, rounds=native, peers=peers, limits=limits or {})


def _cases(servers: Servers) -> Iterator[Case]:
    for messages, size in SHAPES:
        name = f"CountMessages, {messages} x {size} B"
        most = max(1, NEW_BYTES // (messages * size))
        limits = SMALL if (messages, size) == SHAPES[0] else REPEATED
        for suffix, request in (("", _body), (", typed", _typed)):
            make = _make(request, messages, size)
            grpcio_limit = 1.4 if (messages, size, suffix) == (20, 400, "") else None
            repeated = _repeated(make(0))
            yield Case(name + suffix, repeated, limits=limits, latency=not suffix, grpcio_limit=grpcio_limit)
            yield Case(f"{name}{suffix}, new", _new(make), most_calls=most)
    base = _base(servers)
    new = prompts.provider_request(prompts.messages(1, 400, seed=1))
    estimate = EstimateConversationRequest(base=base, provider_request=new)
    name = "EstimateConversation, base + 400 B"
    yield Case(name, _repeated(estimate), "EstimateConversation", BY_BASE, latency=True)
    usage = Usage(input_tokens=2000, output_tokens=80)
    record = RecordActualRequest(base=base, status=STATUS_SUCCEEDED, usage=usage)
    yield Case("RecordActual, base", _repeated(record), "RecordActual")


def _make(
    request: Callable[[list[dict[str, str]]], Message], messages: int, size: int
) -> Callable[[int], Message]:
    return lambda seed: request(prompts.messages(messages, size, seed))


def _body(turns: list[dict[str, str]]) -> Message:
    return CountMessagesRequest(provider_request=prompts.provider_request(turns))


def _typed(turns: list[dict[str, str]]) -> Message:
    return CountMessagesRequest(typed=prompts.typed(turns))


def _repeated(message: Message) -> Messages:
    return lambda _: [message]


_SEEDS = count(1)


def _new(make: Callable[[int], Message]) -> Messages:
    """Other messages in every round and case."""
    return lambda calls: [make(next(_SEEDS)) for _ in range(calls)]


def _base(servers: Servers) -> bytes:
    """The prefix key of 20 messages of 400 B, known to both of ours."""
    prompt = prompts.body(prompts.messages(20, 400))
    keys: set[bytes] = set()
    for server in (servers.native, servers.grpcio):
        with Client(server.address) as client:
            keys.add(client.estimate(prompt, "openai_chat").prefix_key)
    (key,) = keys
    return key
