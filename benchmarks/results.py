"""What a benchmark found: how it is printed, and how it is kept for later comparison."""

import json
import math
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
DIRECTORY = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    """Rounds in which the sides alternate."""
    calls: int
    """Calls of one side in one round."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Figures of one subject and of its peers, round by round.

    A figure is the median of its rounds, and a ratio the median of the rounds' ratios: the sides of
    one round were measured within a second or so of each other, so that whatever else the machine
    did then slowed both. (Ratios of the least figures were tried: on a busy machine they say which
    side was lucky once.)
    """

    name: str
    unit: str
    rounds: Sequence[float]
    peers: Mapping[str, Sequence[float]]
    """The rounds of those measured in turns with the subject."""
    limit: float = math.inf
    """What the value must not exceed."""
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    """What the ratio to a peer must not exceed."""

    @cached_property
    def value(self) -> float:
        return statistics.median(self.rounds)

    @cached_property
    def medians(self) -> dict[str, float]:
        """The peers' values."""
        return {name: statistics.median(rounds) for name, rounds in self.peers.items()}

    @cached_property
    def ratios(self) -> dict[str, float]:
        """The subject's value as a multiple of each peer's."""
        return {
            name: statistics.median(mine / theirs for mine, theirs in zip(self.rounds, rounds, strict=True))
            for name, rounds in self.peers.items()
        }

    @property
    def met(self) -> bool:
        """Whether the figure is within its limits."""
        ratios = all(self.ratios[peer] <= limit for peer, limit in self.limits.items())
        return ratios and self.value <= self.limit

    def line(self) -> str:
        """The result as it is printed."""
        parts = [f"{self.name:<44}{self.value:>10.4g} {self.unit}"]
        if self.limit < math.inf:
            parts.append(f"[at most {self.limit:g}]")
        for peer, ratio in self.ratios.items():
            limit = f" [at most {self.limits[peer]:g}]" if peer in self.limits else ""
            parts.append(f"{ratio:.3g} of {peer} ({self.medians[peer]:.4g}){limit}")
        return "  ".join(parts) + ("" if self.met else "  MISSED")

    def record(self) -> dict[str, Any]:
        """The result as it is written."""
        return {
            "name": self.name,
            "value": self.value,
            "least": min(self.rounds),
            "unit": self.unit,
            "peers": self.medians,
            "peers_least": {name: min(rounds) for name, rounds in self.peers.items()},
            "ratio": self.ratios,
            "rounds": len(self.rounds),
            "limit": None if self.limit == math.inf else self.limit,
            "limits": self.limits,
            "met": self.met,
        }


def write(path: Path, results: Sequence[Result]) -> None:
    """Writes the results with what it takes to repeat and to judge them."""
    about = {
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "cpus": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [rounded({**result.record(), **about}) for result in results]
    path.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n")


def commit() -> str:
    """The commit that was measured; "-dirty" if files had changed since."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def rounded(value: Any) -> Any:
    """Floats to four digits: more is noise."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [rounded(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
