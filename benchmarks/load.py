"""`python -m benchmarks.load`: runs every configuration in `ghz/` against a server of its own.

The methods and messages come from the server's reflection. Fails if any call does.
"""

import argparse
import sys
from pathlib import Path

from benchmarks import ghz, processes

CONFIGURATIONS = Path(__file__).parent / "ghz"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000, help="calls of each configuration")
    calls = parser.parse_args().calls
    with processes.tokencountd() as server:
        for path in sorted(CONFIGURATIONS.glob("*.json")):
            try:
                report = ghz.run(server, [f"--config={path}", f"--total={calls}"])
            except ghz.LoadError as error:
                print(f"{path.stem}: {error}", file=sys.stderr)
                return 1
            print(
                f"{path.stem:<24}{report.calls:>7} calls, no error, {report.calls_per_second:.0f}/s, "
                f"p50 {report.p50:.1f} ms, p99 {report.p99:.1f} ms",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
