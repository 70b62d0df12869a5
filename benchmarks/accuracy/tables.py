"""Prints figures as tables, which are Markdown as well."""

from collections.abc import Sequence

from benchmarks.accuracy import peers
from benchmarks.accuracy.counts import Counted
from benchmarks.accuracy.figures import Figures, PeerFigures

Groups = dict[str, list[Counted]]
"""Counts by what a line of a table is about."""

HEAD = ("rows", "exact", "median", "p95", "violations", "worst", "over", "over p95", "weighted")


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table with its first column to the left and the others to the right."""
    widths = [max(len(line[at]) for line in [head, *lines]) for at in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(_line(cells, widths) for cells in [head, rule, *lines])


def ours(groups: Groups) -> str:
    """`tokens`: exact share, median and p95 of |error|. `upper_bound`: violations, the worst of them, how
    far it is above the bill at the median, the p95, and over all tokens.
    """
    lines = [(name, *cells(Figures.of(counts))) for name, counts in groups.items()]
    return table(("", *HEAD), lines)


def cells(figures: Figures) -> tuple[str, ...]:
    """The figures as they are printed."""
    worst = f"{figures.worst_tokens} = {figures.worst_share:.1%}" if figures.violations else ""
    return (
        str(figures.rows),
        *(f"{share:.1%}" for share in (figures.exact_share, figures.median_error, figures.p95_error)),
        str(figures.violations),
        worst,
        f"{figures.median_overshoot:.1%}",
        f"{figures.p95_overshoot:.1%}",
        f"{figures.weighted_overshoot:.1%}",
    )


def beside(groups: Groups) -> str:
    """Other counters on the same rows, as median |error|, p95 and the share of underestimates; ours is
    the error of `tokens` and the share that was billed above `upper_bound`.
    """
    lines: list[list[str]] = []
    for name, counts in groups.items():
        mine = Figures.of(counts)
        under = mine.violations / mine.rows
        line = [name, str(mine.rows), _triple(mine.median_error, mine.p95_error, under)]
        for peer in peers.NAMES:
            theirs = PeerFigures.of(peer, counts)
            line.append(_triple(theirs.median_error, theirs.p95_error, theirs.under_share) if theirs else "")
        lines.append(line)
    return table(("median / p95 / under", "rows", "tokencount", *peers.NAMES), lines)


def worst(counts: Sequence[Counted], most: int) -> str:
    """The rows whose bound was violated most, or that were most wrong, by id."""
    violated = sorted((one for one in counts if one.share_above < 0), key=lambda one: one.share_above)
    wrong = sorted(counts, key=lambda one: -abs(one.tokens / one.row.billed - 1))
    lines = [("above the bound", *_row(one)) for one in violated[:most]]
    lines += [("error", *_row(one)) for one in wrong[:most]]
    return table(("worst", "id", "family", "group", "model", "billed", "tokens", "upper_bound"), lines)


def _row(one: Counted) -> tuple[str, ...]:
    row = one.row
    return row.id, row.family, row.group, row.model, str(row.billed), str(one.tokens), str(one.upper_bound)


def _triple(median: float, p95: float, under: float) -> str:
    return (
        f"{median:.1%} / {p95:.0%} / {under:.0%}" if p95 >= 0.1 else f"{median:.1%} / {p95:.1%} / {under:.0%}"
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]
    return f"| {' | '.join(padded)} |"
