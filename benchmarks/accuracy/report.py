"""Keeps the figures: `accuracy.json`, and a chart of them, `accuracy.svg`.

Nothing of the recordings is written: no text, no id, no source.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.accuracy import peers
from benchmarks.accuracy.figures import Figures, PeerFigures
from benchmarks.accuracy.tables import Groups
from benchmarks.results import commit, rounded

_CHART = Path(__file__).parent / "chart.py"


def records(groups: Groups) -> list[dict[str, Any]]:
    """The figures of each group, the peers' among them."""
    return [
        {
            "name": name,
            **asdict(Figures.of(counts)),
            "peers": {
                peer: asdict(theirs) for peer in peers.NAMES if (theirs := PeerFigures.of(peer, counts))
            },
        }
        for name, counts in groups.items()
    ]


def write(directory: Path, sections: Mapping[str, Groups]) -> None:
    """Writes the figures of each section, and the chart of that with most of the main families."""
    directory.mkdir(parents=True, exist_ok=True)
    figures = directory / "accuracy.json"
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "sections": {name: records(groups) for name, groups in sections.items()},
    }
    figures.write_text(json.dumps(rounded(record), indent=1, ensure_ascii=False) + "\n")
    charted = max(sections, key=lambda name: _main_rows(sections[name]))
    if peers.PYTHON.exists():
        subprocess.run([peers.PYTHON, _CHART, figures, charted, directory / "accuracy.svg"], check=True)


def _main_rows(groups: Groups) -> int:
    """How much a chart of the groups would show; a sum alone is none."""
    rows = next(iter(groups.values())) if len(groups) == 1 else groups["all"]
    return sum(one.row.category == "main" for one in rows) if len(groups) > 1 else 0
