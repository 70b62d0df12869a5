"""The `accuracy` lines of the profile table, which the service's answers carry.

A family's line is made from the rows that its profiles counted. If any of them went to the provider
itself (category "main"), those alone: what a gateway adds is not the family's. The rules don't depend on
the recordings one by one, so leaving a repository out would give the same figures; margins, which do,
are no part of them.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.accuracy.counts import Counted
from benchmarks.accuracy.figures import Figures, grouped
from benchmarks.results import ROOT

TABLE = ROOT / "rust_core" / "src" / "profile" / "profiles.toml"

FEWEST = 10
"""Rows that a family needs: quantiles of fewer say nothing."""

_HEADER = re.compile(r'\[families\.(?:"(?P<quoted>[^"]+)"|(?P<bare>[\w-]+))\]')


def lines(counts: Sequence[Counted]) -> dict[str, str]:
    """The line of each family that has enough rows."""
    return {
        family: _line(Figures.of(rows))
        for family, of_family in sorted(grouped(counts, lambda one: one.profile_family).items())
        if family and len(rows := _of_provider(of_family)) >= FEWEST
    }


def _of_provider(counts: list[Counted]) -> list[Counted]:
    return [one for one in counts if one.row.category == "main"] or counts


def _line(figures: Figures) -> str:
    return (
        f"accuracy = {{ rows = {figures.rows}, exact_share = {figures.exact_share:.2f}, "
        f"median_error = {figures.median_error:.3f}, p95_error = {figures.p95_error:.3f} }}"
    )


def toml(lines: Mapping[str, str]) -> str:
    """The lines as they are printed."""
    return "\n".join(f'[families."{family}"]\n{line}' for family, line in lines.items())


def rewrite(path: Path, lines: Mapping[str, str]) -> None:
    """Puts each family's line after its margins, in place of the one that was there."""
    written: list[str] = []
    line = None
    for text in path.read_text().splitlines():
        if text.startswith("["):
            header = _HEADER.match(text)
            line = lines.get(header["quoted"] or header["bare"]) if header else None
        if line and text.startswith("accuracy = "):
            continue
        written.append(text)
        if line and text.startswith("margins = "):
            written.append(line)
    path.write_text("\n".join(written) + "\n")
