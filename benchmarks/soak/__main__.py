"""`python -m benchmarks.soak [NAME ...]`: the checks, each figure with its limit."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import results
from benchmarks.results import Result
from benchmarks.soak import abuse, drains, mixed, probes

CHECKS: dict[str, Callable[[float], Iterator[Result]]] = {
    "drains": lambda share: drains.run(_part(100, share), _part(100_000, share)),
    "idle": lambda share: abuse.idle_streams(rounds=_part(9, share)),
    "resets": lambda share: abuse.rapid_resets(_part(100_000, share)),
    "bombs": lambda _: abuse.bombs(),
    "tenants": lambda share: probes.other_tenants_keys(_part(20_000, share)),
    "abandoned": lambda share: probes.abandoned_counts(_part(5, share)),
    "mixed": lambda share: mixed.run(10 * share),
}


def _part(whole: int, share: float) -> int:
    return max(1, round(whole * share))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    names = f"any of {', '.join(CHECKS)}; all by default"
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--share", type=float, default=1, help="how much of it: 0.1 is a tenth")
    parser.add_argument("--out", type=Path, default=results.DIRECTORY, help="where results go")
    flags = parser.parse_args()
    if unknown := set(flags.names) - set(CHECKS):
        parser.error(f"no check is called {', '.join(sorted(unknown))}")
    done: list[Result] = []
    for name in flags.names or CHECKS:
        for result in CHECKS[name](flags.share):
            done.append(result)
            print(result.line(), flush=True)
    results.write(flags.out / "soak.json", done)
    missed = sum(not result.met for result in done)
    if missed:
        print(f"{missed} figures are above their limits")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
