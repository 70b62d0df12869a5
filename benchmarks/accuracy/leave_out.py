"""Leave-one-out: would a bound that was learned on the other recordings have held on this one?

For every part (a repository, or a cassette) in turn, each cell (file, profile family and group) gets a margin
from the rows of all other parts: `slack`, the most tokens that a bill of fewer than `SHORT` tokens was
above `tokens`, and `share`, the most that a longer one was above it. The bound of a row that was left
out is then `tokens` + the larger of `slack` and `share` x `tokens`. A cell of which no other part has a
row has learned nothing; its rows are told apart.

The rules behind `tokens` are written by hand and don't depend on the part that is left out, so `tokens`
is the same here and there: only margins are learned. Beside them stands the profile's own bound, of
which the margins were chosen with all recordings at hand.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmarks.accuracy import tables
from benchmarks.accuracy.counts import Counted
from benchmarks.accuracy.figures import Figures, grouped, quantile

SHORT = 500
"""Tokens below which a margin is one of tokens: a share of little says little."""

PARTS: dict[str, Callable[[Counted], str]] = {
    "repository": lambda one: one.row.repository,
    "cassette": lambda one: one.row.cassette,
}

Cell = tuple[str, str, str]


@dataclass(frozen=True)
class Margin:
    """What bills were above `tokens` at most."""

    slack: int = 0
    share: float = 0.0

    def widened(self, one: Counted) -> "Margin":
        """The margin that covers this one too."""
        if one.row.billed < SHORT:
            return replace(self, slack=max(self.slack, one.row.billed - one.tokens))
        return replace(self, share=max(self.share, one.row.billed / max(1, one.tokens) - 1))

    def over(self, other: "Margin") -> "Margin":
        """The margin that covers what either covers."""
        return Margin(max(self.slack, other.slack), max(self.share, other.share))

    def bound(self, tokens: int) -> int:
        return tokens + max(self.slack, math.ceil(self.share * tokens))


@dataclass(frozen=True)
class LeftOut:
    """The counts with bounds learned on other parts, and those for which nothing could be learned."""

    learned: list[Counted]
    unlearned: list[Counted]


def leave_out(counts: Sequence[Counted], part: Callable[[Counted], str]) -> LeftOut:
    """Bounds every count by the margin that the other parts' rows of its cell need."""
    needed: dict[Cell, dict[str, Margin]] = {}
    for one in counts:
        parts = needed.setdefault(_cell(one), {})
        parts[part(one)] = parts.get(part(one), Margin()).widened(one)
    left_out = LeftOut([], [])
    margins = {cell: _of_others(parts) for cell, parts in needed.items()}
    for one in counts:
        margin = margins[_cell(one)][part(one)]
        if margin is None:
            left_out.unlearned.append(one)
        else:
            left_out.learned.append(replace(one, upper_bound=margin.bound(one.tokens)))
    return left_out


def _of_others(parts: dict[str, Margin]) -> dict[str, Margin | None]:
    """For each part, the margin of all the others together; None if there are none.

    From the front and from the back, so that thousands of cassettes take no square of that.
    """
    names = list(parts)
    after: list[Margin | None] = [None]
    for name in reversed(names[1:]):
        after.append(_joined(after[-1], parts[name]))
    others: dict[str, Margin | None] = {}
    before: Margin | None = None
    for name, behind in zip(names, reversed(after), strict=True):
        others[name] = behind if before is None else _joined(behind, before)
        before = _joined(before, parts[name])
    return others


def _joined(some: Margin | None, more: Margin) -> Margin:
    return more if some is None else some.over(more)


def _cell(one: Counted) -> Cell:
    return one.row.split, one.profile_family, one.row.group


def groups(counts: Sequence[Counted], left_out: LeftOut) -> tables.Groups:
    """Both bounds of each family, on the rows for which one was learned."""
    both: tables.Groups = {}
    learned = grouped(left_out.learned, lambda one: one.row.family)
    for name, rows in [*sorted(learned.items()), ("all", left_out.learned)]:
        ids = {one.row.id for one in rows}
        if ids:
            both[f"{name}, profile's bound"] = [one for one in counts if one.row.id in ids]
            both[f"{name}, learned"] = rows
    return both


def spread(counts: Sequence[Counted], kind: str) -> str:
    """How evenly the parts are counted: in a sentence, and repositories, which are few, one by one."""
    parts = {name: Figures.of(rows) for name, rows in sorted(grouped(counts, PARTS[kind]).items())}
    errors = [figures.median_error for figures in parts.values()]
    exact = [figures.exact_share for figures in parts.values()]
    violated = sum(figures.violations > 0 for figures in parts.values())
    sentence = (
        f"Of {len(parts)}, {violated} have a row above the profile's bound. Median error of a {kind}: "
        f"median {quantile(errors, 0.5):.1%}, worst {max(errors):.1%}; exact share: median "
        f"{quantile(exact, 0.5):.0%}, least {min(exact):.0%}."
    )
    if kind != "repository":
        return sentence
    lines = [(name, *tables.cells(figures)) for name, figures in parts.items()]
    return f"{sentence}\n\n{tables.table(('profile bound, by repository', *tables.HEAD), lines)}"
