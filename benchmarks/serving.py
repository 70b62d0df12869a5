"""CPU that the server spends on a call, beside a raw echo of the same bytes through the same transport."""

from collections.abc import Iterator
from dataclasses import dataclass

from google.protobuf.message import Message

from benchmarks import ghz, processes, prompts
from benchmarks.processes import Server
from benchmarks.results import Effort, Result
from tokencount import Client
from tokencount.v1 import (
    STATUS_SUCCEEDED,
    CountMessagesRequest,
    EstimateConversationRequest,
    Prompt,
    RecordActualRequest,
    Role,
    Usage,
)
from tokencount.v1 import Message as Turn
from tokencount.v1.prompt_pb2 import Part

UNIT = "µs of server CPU per call"
WARM_UP_CALLS = 300


@dataclass(frozen=True)
class Case:
    """A call that is repeated."""

    name: str
    method: str
    request: Message
    limit: float | None = None


def run(effort: Effort) -> Iterator[Result]:
    with processes.tokencountd() as ours, processes.echo() as echo:
        for case in _cases(ours):
            yield _measure(case, ours, echo, effort)


def _measure(case: Case, ours: Server, echo: Server, effort: Effort) -> Result:
    rounds: dict[Server, list[float]] = {ours: [], echo: []}
    for server in rounds:
        ghz.cpu_per_call(server, case.method, case.request, WARM_UP_CALLS)
    for _ in range(effort.rounds):
        for server, figures in rounds.items():
            figures.append(ghz.cpu_per_call(server, case.method, case.request, effort.calls))
    peers = {"grpcio echo": rounds[echo]}
    return Result(name=case.name, unit=UNIT, rounds=rounds[ours], peers=peers, limit=case.limit)


def _cases(server: Server) -> Iterator[Case]:
    for count, size, limit in ((20, 400, 1.4), (2, 100, None), (200, 1000, None)):
        request = CountMessagesRequest(
            provider_request=prompts.provider_request(prompts.messages(count, size))
        )
        yield Case(f"CountMessages, {count} x {size} B", "CountMessages", request, limit)
    typed = CountMessagesRequest(typed=_typed(prompts.messages(20, 400)))
    yield Case("CountMessages, 20 x 400 B, typed", "CountMessages", typed)
    base = _base(server)
    new = prompts.provider_request(prompts.messages(1, 400, seed=2))
    estimate = EstimateConversationRequest(base=base, provider_request=new)
    yield Case("EstimateConversation, base + 400 B", "EstimateConversation", estimate)
    usage = Usage(input_tokens=2000, output_tokens=80)
    record = RecordActualRequest(base=base, status=STATUS_SUCCEEDED, usage=usage)
    yield Case("RecordActual, base", "RecordActual", record)


def _base(server: Server) -> bytes:
    """The prefix key of 20 messages of 400 B."""
    with Client(server.address) as client:
        return client.estimate(prompts.body(prompts.messages(20, 400, seed=1)), "openai_chat").prefix_key


def _typed(turns: list[dict[str, str]]) -> Prompt:
    roles = {"user": Role.ROLE_USER, "assistant": Role.ROLE_ASSISTANT}
    messages = [Turn(role=roles[turn["role"]], parts=[Part(text=turn["content"])]) for turn in turns]
    return Prompt(model=prompts.MODEL, messages=messages)
