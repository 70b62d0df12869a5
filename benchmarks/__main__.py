"""`python -m benchmarks [NAME ...]`: runs the benchmarks, prints their ratios and writes the results."""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import alternatives, counting, rendering, results, serving, startup, turns
from benchmarks.results import Effort, Result

SUITES: dict[str, Callable[[Effort], Iterator[Result]]] = {
    "serving": serving.run,
    "turns": turns.run,
    "startup": startup.run,
    "counting": counting.run,
    "rendering": rendering.run,
    "alternatives": alternatives.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(SUITES)}; all by default"
    )
    parser.add_argument("--rounds", type=int, default=20, help="rounds in which the sides alternate")
    parser.add_argument("--calls", type=int, default=500, help="calls of one side in one round")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 200 calls, for a first look")
    parser.add_argument("--out", type=Path, default=results.DIRECTORY, help="where the results are written")
    flags = parser.parse_args()
    if unknown := set(flags.names) - set(SUITES):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    effort = Effort(3, 200) if flags.quick else Effort(flags.rounds, flags.calls)
    missed = 0
    for name in flags.names or SUITES:
        done: list[Result] = []
        for result in SUITES[name](effort):
            print(result.line(), flush=True)
            done.append(result)
        results.write(flags.out / f"{name}.json", done)
        missed += sum(not result.met for result in done)
    if missed:
        print(f"{missed} figures are above their limits")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
