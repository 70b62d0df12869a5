"""Keeps the figures: `accuracy.json`, `accuracy.md`, and a chart of them, `accuracy.svg`.

Nothing of the recordings is written: no text, no id, no source.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.accuracy import peers, tables
from benchmarks.accuracy.figures import Figures, PeerFigures
from benchmarks.accuracy.tables import Groups
from benchmarks.results import commit, rounded

_CHART = Path(__file__).parent / "chart.py"


def records(section: str, groups: Groups) -> list[dict[str, Any]]:
    """The figures of each group, the peers' among them."""
    return [
        {
            "section": section,
            "name": name,
            **asdict(Figures.of(counts)),
            "peers": {
                peer: asdict(theirs) for peer in peers.NAMES if (theirs := PeerFigures.of(peer, counts))
            },
        }
        for name, counts in groups.items()
    ]


def write(directory: Path, sections: Mapping[str, Groups], *, chart: bool) -> None:
    """Writes the figures of each section and, if wanted, the chart of the one with most main families."""
    directory.mkdir(parents=True, exist_ok=True)
    about = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "commit": commit()}
    kept = [{**one, **about} for name, groups in sections.items() for one in records(name, groups)]
    # A group a line: short, and a later run differs only where a figure does.
    lines = ",\n".join(json.dumps(rounded(one), ensure_ascii=False) for one in kept)
    figures = directory / "accuracy.json"
    figures.write_text(f"[\n{lines}\n]\n")
    (directory / "accuracy.md").write_text(_document(sections, about))
    if chart:
        charted = max(sections, key=lambda name: _main_rows(sections[name]))
        subprocess.run([peers.PYTHON, _CHART, figures, charted, directory / "accuracy.svg"], check=True)


def _document(sections: Mapping[str, Groups], about: Mapping[str, str]) -> str:
    """The tables as they were printed."""
    parts = [
        f"# Accuracy\n\nMeasured {about['date']} at {about['commit']}; ../README.md says how to read it."
    ]
    for name, groups in sections.items():
        parts.append(f"## {name}\n\n{tables.ours(groups)}")
        if any(one.peers for counts in groups.values() for one in counts):
            parts.append(tables.beside(groups))
    return "\n\n".join(parts) + "\n"


def _main_rows(groups: Groups) -> int:
    """How many rows of main families a chart of the groups would show beside peers; a sum alone is none."""
    counts = groups.get("all", []) if len(groups) > 1 else []
    return sum(one.row.category == "main" and bool(one.peers) for one in counts)
