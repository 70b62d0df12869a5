"""Counts recorded requests with the engine in process, through its bulk mode."""

import base64
import json
import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from benchmarks.accuracy.rows import Row
from tokencountd import _core

CHUNK = 64
"""Requests that are counted at a time."""


@dataclass(frozen=True)
class Counted:
    """A request, and what was counted for it."""

    row: Row
    tokens: int
    upper_bound: int
    profile_family: str
    peers: Mapping[str, int | None] = field(default_factory=dict[str, int | None])
    """Other counters' numbers; None where one had no answer."""

    @property
    def share_above(self) -> float:
        """How far the bound is above the bill; below 0, the bound was violated."""
        return self.upper_bound / self.row.billed - 1


def chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows, some at a time."""
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def count(engine: _core.Engine, families: Mapping[str, str], rows: Sequence[Row]) -> Iterator[Counted]:
    """Counts rows. What the engine refuses counts as nothing, so that it shows as an underestimate."""
    for row, (answer, _) in zip(rows, engine.count_lines([line(row) for row in rows], {}), strict=True):
        fields = json.loads(answer)
        family = families.get(fields.get("profile", ""), "")
        yield Counted(row, fields.get("tokens", 0), fields.get("upper_bound", 0), family)


def families(engine: _core.Engine) -> dict[str, str]:
    """The family of each profile."""
    return {profile["name"]: profile["family"] for profile in engine.profiles()}


def line(row: Row) -> bytes:
    """The row as a line of bulk mode."""
    fields = {"id": row.id, "format": row.format, "model": row.model, "body": with_images(row.body)}
    return json.dumps(fields).encode()


def with_images(value: Any, key: str = "") -> Any:
    """Puts a picture of the same size where a recording has {mime, bytes, width, height} for one: as wide
    and high, and as many bytes, since a provider may take it for text.
    """
    match value:
        case {"mime": _, "bytes": int(size), "width": int(width), "height": int(height)}:
            header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
            noise = random.Random(size).randbytes(max(0, size - len(header)))
            data = base64.b64encode(header + noise).decode()
            return f"data:image/png;base64,{data}" if key in {"url", "image_url"} else data
        case dict():
            fields = cast("dict[str, Any]", value)
            return {name: with_images(item, name) for name, item in fields.items()}
        case list():
            return [with_images(item, key) for item in cast("list[Any]", value)]
        case _:
            return value
