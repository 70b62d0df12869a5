"""The figures of a set of counts: errors of `tokens`, violations and overshoot of `upper_bound`.

An error is |counted - billed| / billed. Quantiles are by nearest rank: a value that occurs.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from benchmarks.accuracy.counts import Counted

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Figures:
    """Ours. Shares are of 1; overshoot is upper_bound / billed - 1."""

    rows: int
    exact_share: float
    median_error: float
    p95_error: float
    violations: int
    worst_tokens: int
    """How far the bill of the worst violation was above the bound; the worst is by share."""
    worst_share: float
    median_overshoot: float
    p95_overshoot: float
    weighted_overshoot: float
    """Of all tokens together: what budgeting on the bound costs."""

    @classmethod
    def of(cls, counts: Sequence[Counted]) -> Self:
        """The figures of at least one count."""
        errors = [error(one.tokens, one.row.billed) for one in counts]
        above = [one.share_above for one in counts]
        worst = min(counts, key=lambda one: one.share_above)
        billed = sum(one.row.billed for one in counts)
        return cls(
            rows=len(counts),
            exact_share=sum(one.tokens == one.row.billed for one in counts) / len(counts),
            median_error=quantile(errors, 0.5),
            p95_error=quantile(errors, 0.95),
            violations=sum(share < 0 for share in above),
            worst_tokens=max(0, worst.row.billed - worst.upper_bound),
            worst_share=max(0.0, -worst.share_above),
            median_overshoot=quantile(above, 0.5),
            p95_overshoot=quantile(above, 0.95),
            weighted_overshoot=sum(one.upper_bound for one in counts) / billed - 1,
        )


@dataclass(frozen=True)
class PeerFigures:
    """Another counter's. It gives one number, so that is also what one would budget on."""

    answered: int
    median_error: float
    p95_error: float
    under_share: float
    """The share of requests that were billed more than it said."""

    @classmethod
    def of(cls, peer: str, counts: Sequence[Counted]) -> Self | None:
        """The figures over the requests that it answered; None if it answered none."""
        answers = [(tokens, one.row.billed) for one in counts if (tokens := one.peers.get(peer)) is not None]
        if not answers:
            return None
        errors = [error(tokens, billed) for tokens, billed in answers]
        under = sum(tokens < billed for tokens, billed in answers)
        return cls(len(answers), quantile(errors, 0.5), quantile(errors, 0.95), under / len(answers))


def error(counted: int, billed: int) -> float:
    """|counted - billed| / billed."""
    return abs(counted - billed) / billed


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that at least `share` of the values don't exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """The items by key, in the order of their first ones."""
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
