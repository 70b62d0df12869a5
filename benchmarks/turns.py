"""What one turn by `base` costs after 10,000 messages, beside the same turn after 10.

The new message of the turn was counted before, so that nothing hides the cost of the prefix.
"""

import tempfile
import time
from collections.abc import Iterator

from benchmarks import ghz, processes, prompts
from benchmarks.results import Effort, Result
from tokencount import Client
from tokencount.v1 import EstimateConversationRequest
from tokencountd import Engine, Usage

LIMIT = 1.3
SHORT, LONG = 10, 10_000
SIZE = 400


def run(effort: Effort) -> Iterator[Result]:
    yield _in_process(effort)
    yield _served(effort)


def _in_process(effort: Effort) -> Result:
    rounds: dict[int, list[float]] = {SHORT: [], LONG: []}
    with tempfile.TemporaryDirectory() as data, Engine(data) as engine:
        requests = {count: _turn(_billed(engine, count)).SerializeToString() for count in rounds}
        for _ in range(effort.rounds):
            for count, request in requests.items():
                started = time.thread_time()
                for _ in range(effort.calls):
                    engine.core.estimate_conversation(request)
                rounds[count].append((time.thread_time() - started) / effort.calls * 1e6)
    return _result("in process", "µs of the caller's CPU", rounds)


def _billed(engine: Engine, count: int) -> bytes:
    """The prefix key of a conversation whose cost was recorded."""
    estimate = engine.estimate(prompts.body(prompts.messages(count, SIZE)), format="openai_chat")
    return engine.record(base=estimate.prefix_key, usage=Usage(estimate.tokens)).prefix_key


def _served(effort: Effort) -> Result:
    rounds: dict[int, list[float]] = {SHORT: [], LONG: []}
    with processes.tokencountd() as server:
        with Client(server.address) as client:
            requests = {count: _turn(_billed_by(client, count)) for count in rounds}
        for _ in range(effort.rounds):
            for count, request in requests.items():
                load = ghz.Load("EstimateConversation", [request], effort.calls)
                rounds[count].append(load.send(server)[0].server_cpu)
    return _result("served", "µs of server CPU", rounds)


def _billed_by(client: Client, count: int) -> bytes:
    """The same through a server."""
    estimate = client.estimate(prompts.body(prompts.messages(count, SIZE)), "openai_chat", timeout=60)
    return client.record(base=estimate.prefix_key, usage={"prompt_tokens": estimate.tokens}).prefix_key


def _turn(base: bytes) -> EstimateConversationRequest:
    """The next turn: one more message."""
    new = prompts.provider_request(prompts.messages(1, SIZE, seed=1))
    return EstimateConversationRequest(base=base, provider_request=new)


def _result(where: str, unit: str, rounds: dict[int, list[float]]) -> Result:
    peer = f"after {SHORT}"
    name = f"A turn after {LONG:,} messages, {where}"
    return Result(
        name=name, unit=unit, rounds=rounds[LONG], peers={peer: rounds[SHORT]}, limits={peer: LIMIT}
    )
