"""CPU time to count a prompt in process: beside tiktoken on the bare texts, and LiteLLM on the messages.

The peers run in an environment and a process of their own; see `peer.py`. All three count the same
prompts in turns: first prompts that are new to them, then the same ones again.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import peers, prompts
from benchmarks.peers import Peers, Prompts
from benchmarks.results import Effort, Result
from tokencountd import Engine

OVERHEAD = 10
"""Tokens of a message around its text are fewer: more would mean that the texts differ."""


@dataclass(frozen=True)
class Shape:
    """What is counted in a round."""

    messages: int
    size: int
    prompts: int

    def batch(self, number: int) -> Prompts:
        """The prompts of a round, other ones in each."""
        seeds = range(number * self.prompts, (number + 1) * self.prompts)
        return [prompts.messages(self.messages, self.size, seed) for seed in seeds]


SHAPES = (Shape(20, 400, prompts=50), Shape(200, 1000, prompts=5))


def run(effort: Effort) -> Iterator[Result]:
    with Peers() as libraries, Engine() as engine:
        for shape in SHAPES:
            yield from _measure(engine, libraries, shape, effort)


def _measure(engine: Engine, libraries: Peers, shape: Shape, effort: Effort) -> Iterator[Result]:
    figures: dict[tuple[str, str], list[float]] = {}
    # Round 0 warms everybody up and is not kept.
    for number in range(effort.rounds + 1):
        texts = shape.batch(number)
        for state in ("new", "repeated"):
            for counter, seconds in _round(engine, libraries, texts).items():
                figures.setdefault((state, counter), []).append(seconds / shape.prompts * 1e6)
    for state in ("new", "repeated"):
        yield Result(
            name=f"Counting in process, {shape.messages} x {shape.size} B, {state}",
            unit="µs of CPU per prompt",
            rounds=figures[state, "tokencount"][1:],
            peers={peer: figures[state, peer][1:] for peer in peers.NAMES},
        )


def _round(engine: Engine, libraries: Peers, texts: Prompts) -> dict[str, float]:
    """The seconds of CPU that each counter took for all the prompts."""
    seconds, tokens = _count(engine, texts)
    taken = {"tokencount": seconds}
    for peer in peers.NAMES:
        counted = libraries.count(peer, texts)
        taken[peer] = counted.cpu_seconds
        check(peer, tokens, counted.tokens, texts)
    return taken


def check(side: str, tokens: Sequence[int], theirs: Sequence[int], texts: Prompts) -> None:
    """Raises `ValueError` if a side can't have counted the same texts."""
    for mine, other, prompt in zip(tokens, theirs, texts, strict=True):
        if not abs(mine - other) < OVERHEAD * len(prompt):
            raise ValueError(f"{side} counted {other} tokens where tokencount counted {mine}")


def _count(engine: Engine, texts: Prompts) -> tuple[float, list[int]]:
    started = time.process_time()
    tokens = [engine.count(prompts.body(prompt), format="openai_chat").tokens for prompt in texts]
    return time.process_time() - started, tokens
