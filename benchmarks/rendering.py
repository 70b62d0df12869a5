"""What rendering a prompt as its provider does costs, beside counting its texts alone.

Both sides count the same texts with the same vocabulary, in process; the messages are new in each
round. Tools are either new too, or those that came with every prompt before, as an agent sends them.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import prompts
from benchmarks.results import Effort, Result
from tokencount.v1 import CountMessagesRequest
from tokencountd import Engine

PROMPTS = 20
"""Prompts of a round."""
RAW = "its bare text"


def run(effort: Effort) -> Iterator[Result]:
    yield _result(effort, "Counting 20 x 400 B with 10 tools, new", new_tools=True)
    yield _result(effort, "Counting 20 x 400 B, new, with 10 known tools", new_tools=False)


def _result(effort: Effort, name: str, *, new_tools: bool) -> Result:
    ours: list[float] = []
    raw: list[float] = []
    with Engine() as engine:
        # Round 0 warms both up and is not kept.
        for number in range(effort.rounds + 1):
            seeds = range(number * PROMPTS, (number + 1) * PROMPTS)
            bodies = [_body(seed, seed if new_tools else 0) for seed in seeds]
            # The side that comes second would find the texts' words in the processor's caches.
            order = (_rendered, _bare) if number % 2 else (_bare, _rendered)
            seconds = {side: side(engine, bodies) for side in order}
            ours.append(seconds[_rendered] / PROMPTS * 1e6)
            raw.append(seconds[_bare] / PROMPTS * 1e6)
    return Result(
        name=name,
        unit="µs of CPU per prompt",
        rounds=ours[1:],
        peers={RAW: raw[1:]},
        limits={RAW: 1.5},
    )


def _rendered(engine: Engine, bodies: list[dict[str, Any]]) -> float:
    requests = [
        CountMessagesRequest(provider_request=prompts.of_body(body)).SerializeToString() for body in bodies
    ]
    started = time.process_time()
    for request in requests:
        engine.core.count_messages(request)
    return time.process_time() - started


def _bare(engine: Engine, bodies: list[dict[str, Any]]) -> float:
    """Counts the texts of the messages and the JSON of the tools, as one text a prompt."""
    texts = ["\n".join([*_contents(body), json.dumps(body["tools"])]) for body in bodies]
    lines = [json.dumps({"text": text, "encoding": "o200k_base"}).encode() for text in texts]
    started = time.process_time()
    for line in lines:
        engine.core.count_lines([line], {})
    return time.process_time() - started


def _contents(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"]]


def _body(seed: int, tools_seed: int) -> dict[str, Any]:
    return prompts.body(prompts.messages(20, 400, seed)) | {"tools": prompts.tools(10, tools_seed)}
