"""Time from starting the daemon to its line with the address, and its memory after some work."""

import time
from collections.abc import Iterator

from benchmarks import ghz, processes, prompts
from benchmarks.results import Effort, Result
from tokencount.v1 import CountMessagesRequest

MODELS = ("gpt-4", "gpt-4o")
"""One of each encoding."""
STARTS = 5
LIMIT_SECONDS = 1.0
LIMIT_MEGABYTES = 250.0


def run(effort: Effort) -> Iterator[Result]:
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    megabytes: list[float] = []
    for number in range(STARTS):
        started = time.perf_counter()
        with processes.tokencountd() as server:
            seconds.append(time.perf_counter() - started)
            cpu_seconds.append(server.cpu_seconds())
            for model in MODELS:
                prompt = prompts.provider_request(prompts.messages(20, 400, seed=number), model)
                request = CountMessagesRequest(provider_request=prompt)
                ghz.Load("CountMessages", [request], effort.calls).send(server)
            megabytes.append(server.resident_bytes() / 1e6)
    yield Result(name="Start to serving", unit="s", rounds=seconds, peers={}, limit=LIMIT_SECONDS)
    yield Result(name="Start to serving, CPU", unit="s", rounds=cpu_seconds, peers={})
    name = "Resident memory, both encodings"
    # The most of the rounds: here the least would flatter.
    yield Result(name=name, unit="MB", rounds=[max(megabytes)], peers={}, limit=LIMIT_MEGABYTES)
