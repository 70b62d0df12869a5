"""CPU time to count a prompt in process: beside tiktoken on the bare texts, and LiteLLM on the messages.

The peers run in an environment and a process of their own; see `peer.py`. All three count the same
prompts in turns: first prompts that are new to them, then the same ones again.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import prompts
from benchmarks.results import ROOT, Effort, Result
from tokencountd import Engine

PEERS = ("tiktoken", "litellm")
OVERHEAD = 10
"""Tokens of a message around its text are fewer: more would mean that the texts differ."""


@dataclass(frozen=True)
class Shape:
    """What is counted in a round."""

    messages: int
    size: int
    prompts: int


SHAPES = (Shape(20, 400, prompts=50), Shape(200, 1000, prompts=5))

Prompts = list[list[dict[str, str]]]
_PYTHON = ROOT / ".work" / "peers" / "bin" / "python"


class Peers:
    """The process with the peers."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [_PYTHON, ROOT / "benchmarks" / "peer.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        )

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def count(self, counter: str, batch: Prompts) -> tuple[float, list[int]]:
        """The seconds of CPU that the counter took, and the tokens of each prompt."""
        assert self._process.stdin
        assert self._process.stdout
        order = {"counter": counter, "model": prompts.MODEL, "prompts": batch}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer["seconds"], answer["tokens"]


def run(effort: Effort) -> Iterator[Result]:
    with Peers() as peers, Engine() as engine:
        for shape in SHAPES:
            yield from _measure(engine, peers, shape, effort)


def _measure(engine: Engine, peers: Peers, shape: Shape, effort: Effort) -> Iterator[Result]:
    figures: dict[tuple[str, str], list[float]] = {}
    # Round 0 warms everybody up and is not kept.
    for number in range(effort.rounds + 1):
        seeds = range(number * shape.prompts, (number + 1) * shape.prompts)
        texts = [prompts.messages(shape.messages, shape.size, seed) for seed in seeds]
        for state in ("new", "repeated"):
            for counter, seconds in _round(engine, peers, texts).items():
                figures.setdefault((state, counter), []).append(seconds / shape.prompts * 1e6)
    for state in ("new", "repeated"):
        yield Result(
            name=f"Counting in process, {shape.messages} x {shape.size} B, {state}",
            unit="µs of CPU per prompt",
            rounds=figures[state, "tokencount"][1:],
            peers={peer: figures[state, peer][1:] for peer in PEERS},
        )


def _round(engine: Engine, peers: Peers, texts: Prompts) -> dict[str, float]:
    """The seconds of CPU that each counter took for all the prompts."""
    seconds, tokens = _count(engine, texts)
    taken = {"tokencount": seconds}
    for peer in PEERS:
        taken[peer], theirs = peers.count(peer, texts)
        for mine, other, prompt in zip(tokens, theirs, texts, strict=True):
            if not abs(mine - other) < OVERHEAD * len(prompt):
                raise ValueError(f"{peer} counted {other} tokens where tokencount counted {mine}")
    return taken


def _count(engine: Engine, texts: Prompts) -> tuple[float, list[int]]:
    started = time.process_time()
    tokens = [engine.count(prompts.body(prompt), format="openai_chat").tokens for prompt in texts]
    return time.process_time() - started, tokens
