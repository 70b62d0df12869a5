"""`python -m benchmarks.accuracy DATA`: how close counts come to what providers billed.

DATA is a directory of recorded requests (`*.jsonl` or `*.jsonl.gz`, see benchmarks/README.md). For each
file, and for each family and group in it, two tables are printed. The first is about our counts: the
share of `tokens` that were exact, the median and the 95th percentile of |error|; then about
`upper_bound`: how many bills were above it and the worst of them, and how far it was above the bill, at
the median, the 95th percentile and over all tokens. The second has other counters on the same rows:
median error / 95th percentile / share of underestimates. Files of pairs are played as turns.
"""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.accuracy import leave_out, profiles, report, rows, tables, turns
from benchmarks.accuracy.counts import CHUNK, Counted, chunks, count, families
from benchmarks.accuracy.figures import grouped
from benchmarks.accuracy.peers import Peers
from benchmarks.accuracy.progress import shown
from benchmarks.accuracy.rows import DataError, Row, Split
from tokencountd import _core

_EXAMPLES = """examples:
  make accuracy DATA=recordings                 everything, with the chart
  python -m benchmarks.accuracy recordings --no-peers --only images --list 10
  python -m benchmarks.accuracy recordings --leave-out repository --no-peers
  python -m benchmarks.accuracy recordings --no-peers --write-profiles
"""


@dataclass
class Run:
    """What was counted so far."""

    counts: list[Counted] = field(default_factory=list[Counted])
    sections: dict[str, tables.Groups] = field(default_factory=dict[str, tables.Groups])
    """What was printed, in its order."""

    def show(self, name: str, groups: tables.Groups, *, beside: bool) -> None:
        """Prints the tables of a section and keeps it."""
        self.sections[name] = groups
        print(f"\n## {name}\n\n{tables.ours(groups)}", flush=True)
        if beside:
            print(f"\n{tables.beside(groups)}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    flags = _parser().parse_args(arguments)
    try:
        _run(flags)
    except DataError as error:
        print(f"accuracy: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description=__doc__, epilog=_EXAMPLES, formatter_class=raw
    )
    add = parser.add_argument
    add("data", type=Path, metavar="DATA", help="the directory of recordings")
    add(
        "--only",
        action="append",
        metavar="SPLIT",
        help="a file's name, which may hold * and ?; all by default",
    )
    add("--exclude", type=Path, metavar="FILE", help="leave out the ids of this JSON list of {id}")
    add("--no-peers", action="store_true", help="count with ours alone: nothing else needs to be installed")
    add(
        "--leave-out",
        action="append",
        default=[],
        choices=list(leave_out.PARTS),
        help="bound each row of a main family by margins learned on all other repositories (or cassettes)",
    )
    add("--list", type=int, default=0, metavar="N", help="the N worst rows of each file, by id")
    add("--out", type=Path, metavar="FILE", help="write each row's numbers as JSON lines")
    add(
        "--results",
        type=Path,
        metavar="DIR",
        help="write accuracy.json there, and accuracy.svg, the chart, unless --no-peers",
    )
    add("--profiles", action="store_true", help="print the accuracy lines of the profile table")
    add("--write-profiles", action="store_true", help=f"write them into {profiles.TABLE.name}")
    return parser


def _run(flags: argparse.Namespace) -> None:
    excluded: set[str] = rows.excluded(flags.exclude) if flags.exclude else set()
    splits = list(rows.read(flags.data, flags.only or ["*"], excluded))
    run = Run()
    with contextlib.ExitStack() as stack:
        peers = None if flags.no_peers else stack.enter_context(Peers())
        for split in splits:
            _requests(run, split, peers, flags.list)
    if not run.counts:
        raise DataError(f"{flags.data} has no rows to count")
    mains = [one for one in run.counts if one.row.category == "main"]
    if len(run.sections) > 1 and mains:
        run.show("all main families", {"all": mains}, beside=bool(peers))
    for split in splits:
        _turns(run, split, {one.row.id: one.row for one in run.counts})
    for kind in flags.leave_out:
        _left_out(run, mains, kind)
    _keep(run, flags)


def _requests(run: Run, split: Split, peers: Peers | None, listed: int) -> None:
    """Counts and shows the requests of a file."""
    if split.unread:
        print(f"accuracy: {split.name}: {split.unread} rows are of no known kind", file=sys.stderr)
    if not split.rows:
        return
    counts = list(_counted(split.rows, peers, split.name))
    if refused := sum(not one.upper_bound for one in counts):
        print(f"accuracy: {split.name}: the engine refused {refused} rows", file=sys.stderr)
    run.counts += counts
    groups = grouped(counts, lambda one: f"{one.row.family}, {one.row.group}")
    groups = {name: groups[name] for name in sorted(groups)} | {"all": counts}
    run.show(split.name, groups, beside=bool(peers))
    if listed:
        print(f"\n{tables.worst(counts, listed)}", flush=True)


def _counted(requests: Sequence[Row], peers: Peers | None, name: str) -> Iterable[Counted]:
    engine = _core.Engine()
    of_profile = families(engine)
    for chunk in shown(list(chunks(requests)), name, CHUNK):
        ours = list(count(engine, of_profile, chunk))
        if not peers:
            yield from ours
            continue
        for one, theirs in zip(ours, peers.count(chunk), strict=True):
            yield replace(one, peers=theirs)


def _turns(run: Run, split: Split, by_id: dict[str, Row]) -> None:
    """Plays and shows the pairs of a file."""
    if not split.pairs:
        return
    played = turns.play(split.pairs, by_id)
    if played.without_rows:
        left = f"{played.without_rows} of {len(split.pairs)} pairs have a request that is not among the rows"
        print(f"accuracy: {split.name}: {left}", file=sys.stderr)
    for what, counts in (("with the reply", played.with_reply), ("the bill alone", played.bill_alone)):
        if counts:
            groups = grouped(counts, lambda one: one.row.family)
            mains = [one for one in counts if one.row.category == "main"]
            groups = {name: groups[name] for name in sorted(groups)} | {"all": counts}
            run.show(
                f"{split.name}, {what}", groups | ({"main families": mains} if mains else {}), beside=False
            )


def _left_out(run: Run, counts: Sequence[Counted], kind: str) -> None:
    """Learns and shows the bounds of a main family's rows with each part left out."""
    if not counts:
        return
    left_out = leave_out.leave_out(counts, leave_out.PARTS[kind])
    run.show(f"one {kind} left out", leave_out.groups(counts, left_out), beside=False)
    print(f"\n{len(left_out.unlearned)} rows have a profile and group that no other {kind} has.")
    print(leave_out.spread(counts, kind), flush=True)


def _keep(run: Run, flags: argparse.Namespace) -> None:
    """Writes what the flags ask for."""
    if flags.out:
        kept = (
            {"id": one.row.id, "tokens": one.tokens, "upper_bound": one.upper_bound, **one.peers}
            for one in run.counts
        )
        flags.out.write_text("".join(json.dumps(one) + "\n" for one in kept))
    if flags.results:
        report.write(flags.results, run.sections, chart=not flags.no_peers)
    lines = profiles.lines(run.counts)
    if flags.profiles:
        print(f"\n{profiles.toml(lines)}")
    if flags.write_profiles:
        profiles.rewrite(profiles.TABLE, lines)


if __name__ == "__main__":
    sys.exit(main())
