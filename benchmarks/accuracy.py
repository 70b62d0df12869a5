"""`python -m benchmarks.accuracy DIR`: compares counts with what providers billed for recorded requests.

DIR holds `*.jsonl` or `*.jsonl.gz` files with a row for each request: `id`, `kind` (`oai_chat`,
`oai_resp`, `anthropic`, `gemini` or `converse`), `family`, `group`, `model`, `request` (the body as
it was sent) and `input_tokens` (billed, cache reads and writes included). Printed for each family and
group: the share of exact counts, |error| of `tokens`, bills above `upper_bound`, how far the bound is
above the bill, and beside them the common rule of thumb, characters of JSON / 4.
"""

import argparse
import base64
import gzip
import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from tokencountd import _core

FORMATS = {
    "oai_chat": "openai_chat",
    "oai_resp": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "converse": "bedrock_converse",
}
CHUNK = 256


@dataclass(frozen=True)
class Compared:
    """One request: what was billed, and what was counted."""

    id: str
    billed: int
    tokens: int
    upper_bound: int
    rule_of_thumb: int

    def error(self, counted: int) -> float:
        """|counted - billed| / billed."""
        return abs(counted - self.billed) / self.billed


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only the files of this pattern")
    parser.add_argument("--exclude", type=Path, metavar="FILE", help="JSON list of {id} to leave out")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the predictions as JSON lines")
    flags = parser.parse_args()
    left_out: list[dict[str, Any]] = json.loads(flags.exclude.read_text()) if flags.exclude else []
    excluded = {row["id"] for row in left_out}
    groups: dict[tuple[str, str], list[Compared]] = defaultdict(list)
    for path in sorted(flags.directory.glob(f"{flags.only}.jsonl*")):
        for row, compared in compare(rows(path)):
            if compared.id not in excluded:
                groups[row["family"], row["group"]].append(compared)
    if not groups:
        parser.error(f"no rows with `request` and `input_tokens` in {flags.directory}")
    show(groups)
    if flags.out:
        write(flags.out, groups.values())


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file that can be counted and compared."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("kind") in FORMATS and row.get("input_tokens"):
                yield row


def compare(recorded: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], Compared]]:
    """Counts rows through bulk mode."""
    engine = _core.Engine()
    while chunk := list(islice(recorded, CHUNK)):
        answers = engine.count_lines([line(row) for row in chunk], {})
        for row, (answer, _) in zip(chunk, answers, strict=True):
            # What can't be read counts as nothing: the table shows it as an underestimate.
            count = json.loads(answer)
            thumb = len(json.dumps(row["request"])) // 4
            yield (
                row,
                Compared(
                    row["id"], row["input_tokens"], count.get("tokens", 0), count.get("upper_bound", 0), thumb
                ),
            )


def line(row: dict[str, Any]) -> bytes:
    """The row as a line of bulk mode."""
    interface = "gemini_vertex" if row["family"] == "gemini_vertex" else FORMATS[row["kind"]]
    body = with_images(row["request"], "")
    return json.dumps(
        {"id": row["id"], "format": interface, "model": row.get("model", ""), "body": body}
    ).encode()


def with_images(value: Any, key: str) -> Any:
    """Puts a picture of the same size where a recording has {mime, bytes, width, height} for one."""
    match value:
        case {"mime": _, "width": int(width), "height": int(height)}:
            header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)
            data = base64.b64encode(header).decode()
            return f"data:image/png;base64,{data}" if key in {"url", "image_url"} else data
        case dict():
            fields = cast("dict[str, Any]", value)
            return {name: with_images(item, name) for name, item in fields.items()}
        case list():
            return [with_images(item, key) for item in cast("list[Any]", value)]
        case _:
            return value


def show(groups: dict[tuple[str, str], list[Compared]]) -> None:
    """Prints a table with a line for each family and group, and one for all."""
    print(
        f"{'family':<22}{'group':<8}{'rows':>6}{'exact':>7}{'median':>8}{'p95':>7}{'under':>6}{'worst':>7}"
        f"{'bound':>7}{'p95':>7}{'weighted':>9}{'JSON/4':>8}"
    )
    for (family, group), compared in sorted(groups.items()):
        print(f"{family:<22}{group:<8}{figures(compared)}")
    print(f"{'all':<30}{figures([one for group in groups.values() for one in group])}")


def figures(compared: Sequence[Compared]) -> str:
    """Exact share, |error| of tokens, violations and overshoot of the bound, all in percent."""
    errors = [one.error(one.tokens) for one in compared]
    exact = sum(one.tokens == one.billed for one in compared) / len(compared)
    over = [one.upper_bound / one.billed - 1 for one in compared]
    under = [share for share in over if share < 0]
    weighted = sum(one.upper_bound for one in compared) / sum(one.billed for one in compared) - 1
    worst = abs(min(under, default=0.0))
    thumb = quantile([one.error(one.rule_of_thumb) for one in compared], 0.5)
    return (
        f"{len(compared):>6}{exact:>7.1%}{quantile(errors, 0.5):>8.1%}{quantile(errors, 0.95):>7.1%}"
        f"{len(under):>6}{worst:>7.1%}{quantile(over, 0.5):>7.1%}{quantile(over, 0.95):>7.1%}"
        f"{weighted:>9.1%}{thumb:>8.1%}"
    )


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values don't exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, round(share * len(ordered) + 0.5) - 1))]


def write(path: Path, groups: Iterable[list[Compared]]) -> None:
    """Writes `{"id", "tokens", "upper_bound"}` lines."""
    with path.open("w") as out:
        for one in (one for group in groups for one in group):
            counted = {"id": one.id, "tokens": one.tokens, "upper_bound": one.upper_bound}
            out.write(json.dumps(counted) + "\n")


if __name__ == "__main__":
    main()
