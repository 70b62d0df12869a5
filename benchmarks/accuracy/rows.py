"""Reads recorded requests and their bills: `*.jsonl` or `*.jsonl.gz` files, a row a line.

A row of a request has `id`, `kind` (the interface, see `FORMATS`), `family`, `group`, `model`,
`request` (the body as it was sent) and `input_tokens` (billed, cache reads and writes included); it may
have `source` (`REPOSITORY:CASSETTE#NUMBER`) and `category` ("main" unless it says otherwise). A row of a
pair has `prev` and `next` (ids of two requests, of which the second extends the first), `prev_input`,
`prev_output` and `next_input`: what was billed.
"""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokencountd.prompt import Format

FORMATS: dict[str, Format] = {
    "oai_chat": "openai_chat",
    "oai_resp": "openai_responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "converse": "bedrock_converse",
}
"""What the service calls the interface of a row's `kind`."""

_VERTEX = "gemini_vertex"
"""The family whose bodies look like Gemini's and are billed by other rules."""

_VERSION_AND_NUMBER = re.compile(r"(@[0-9a-f]{7,40})?#[^#]*$")


class DataError(Exception):
    """The data can't be read; the message says where and why."""


@dataclass(frozen=True)
class Row:
    """One recorded request."""

    id: str
    format: Format
    family: str
    group: str
    model: str
    body: Any
    billed: int
    category: str = "main"
    source: str = ""
    split: str = ""
    """The file that it is from."""

    @property
    def repository(self) -> str:
        """Whose recording this is."""
        return self.source.partition(":")[0]

    @property
    def cassette(self) -> str:
        """The recording that holds the request; versions of one recording are one."""
        return _VERSION_AND_NUMBER.sub("", self.source)


@dataclass(frozen=True)
class Pair:
    """Two requests of one conversation."""

    previous: str
    following: str
    previous_input: int
    previous_output: int
    following_input: int


@dataclass(frozen=True)
class Split:
    """The rows of one file."""

    name: str
    rows: list[Row]
    pairs: list[Pair]
    unread: int
    """Rows of a `kind` that has no interface here."""


def read(directory: Path, only: Sequence[str], excluded: set[str]) -> Iterator[Split]:
    """The files whose stem matches a pattern of `only`, without the rows of the `excluded` ids."""
    if not directory.is_dir():
        raise DataError(f"{directory} is no directory")
    paths: set[Path] = set()
    for name in only:
        found = {*directory.glob(f"{name}.jsonl"), *directory.glob(f"{name}.jsonl.gz")}
        if not found:
            raise DataError(f"{directory} has no {name}.jsonl and no {name}.jsonl.gz")
        paths |= found
    for path in sorted(paths):
        yield _split(path, excluded)


def excluded(path: Path) -> set[str]:
    """The ids in a JSON list of objects with an `id`."""
    try:
        return {str(row["id"]) for row in json.loads(path.read_text())}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path} is no JSON list of objects with an `id`: {error}") from error


def _split(path: Path, excluded: set[str]) -> Split:
    split = Split(path.name.removesuffix(".gz").removesuffix(".jsonl"), [], [], 0)
    unread = 0
    for where, fields in _lines(path):
        try:
            if "prev" in fields:
                split.pairs.append(_pair(fields))
            elif fields["kind"] not in FORMATS:
                unread += 1
            elif str(fields["id"]) not in excluded:
                split.rows.append(_row(split.name, fields))
        except (KeyError, TypeError, ValueError) as error:
            missing = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{where}: {missing}") from error
    return Split(split.name, split.rows, split.pairs, unread)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file, each with its place."""
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    fields = json.loads(line)
                    if not isinstance(fields, dict):
                        raise DataError(f"{path}:{number}: not a JSON object")
                    yield f"{path}:{number}", fields  # pyright: ignore[reportUnknownMemberType]
    except (OSError, EOFError, ValueError) as error:
        raise DataError(f"{path}, after line {number}: {error}") from error


def _row(split: str, fields: dict[str, Any]) -> Row:
    family = str(fields["family"])
    return Row(
        id=str(fields["id"]),
        format="gemini_vertex" if family == _VERTEX else FORMATS[fields["kind"]],
        family=family,
        group=str(fields["group"]),
        model=str(fields.get("model") or ""),
        body=fields["request"],
        billed=_tokens(fields, "input_tokens"),
        category=str(fields.get("category") or "main"),
        source=str(fields.get("source") or ""),
        split=split,
    )


def _pair(fields: dict[str, Any]) -> Pair:
    return Pair(
        previous=str(fields["prev"]),
        following=str(fields["next"]),
        previous_input=_tokens(fields, "prev_input"),
        previous_output=int(fields.get("prev_output") or 0),
        following_input=_tokens(fields, "next_input"),
    )


def _tokens(fields: dict[str, Any], name: str) -> int:
    tokens = fields[name]
    if not isinstance(tokens, int) or tokens < 1:
        raise ValueError(f"`{name}` must be a positive number of tokens, not {tokens!r}")
    return tokens
